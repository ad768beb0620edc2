/// Finds what somebody meant who mistyped a word.
package enum NearestWord {
    /// The one of `words` with the fewest typing errors, else the shortest that contains the word; `nil` when all are
    /// too far off to be meant.
    package static func find(_ word: String, among words: [String]) -> String? {
        guard word.utf8.count <= 40 else { return nil }
        let limit = max(2, word.utf8.count / 3)
        let given = word.lowercased()
        let nearest = words.map { (word: $0, distance: distance(given, $0.lowercased())) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }
        if let nearest { return nearest.word }
        guard given.utf8.count > 2 else { return nil }
        return words.filter { $0.lowercased().contains(given) }.min { $0.utf8.count < $1.utf8.count }
    }

    /// Octets inserted, removed, replaced or swapped with their neighbor (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, octet) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (octet == other ? 0 : 1))
                if row > 0, column > 0, octet == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
