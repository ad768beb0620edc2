/// Masses of events over consecutive steps: working memory of the recursion, kept from use to use.
struct EventStretch: Sendable {
    /// The step of the first value.
    private(set) var start = 0
    private(set) var values: [Double] = []
    /// The values after the three taps of a period's kernel, with zeros as wide as its box before and after them.
    private(set) var tapped: [Double] = []

    var isEmpty: Bool { values.isEmpty }
    var count: Int { values.count }
    var range: Range<Int> { start..<start + values.count }

    mutating func clear() {
        values.removeAll(keepingCapacity: true)
    }

    mutating func set(_ slice: ArraySlice<Double>, at first: Int) {
        start = first
        values.removeAll(keepingCapacity: true)
        values.append(contentsOf: slice)
    }

    mutating func setZero(_ range: Range<Int>) {
        start = range.lowerBound
        values.removeAll(keepingCapacity: true)
        values.append(contentsOf: repeatElement(0, count: range.count))
    }

    /// Access by index from the first value.
    subscript(index: Int) -> Double {
        get { values[index] }
        set { values[index] = newValue }
    }

    /// Adds `other`, which lies within this stretch.
    mutating func add(_ other: EventStretch) {
        Self.add(other.values, to: &values, at: other.start - start)
    }

    /// Takes the covered shares of the events of `steps` out of `source`. `shares` begin at the step `origin`.
    mutating func move(_ steps: Range<Int>, from source: inout EventStretch, shares: [Double], origin: Int) {
        start = steps.lowerBound
        Self.move(
            from: &source.values, at: start - source.start, shares: shares, at: start - origin, count: steps.count,
            to: &values)
    }

    mutating func scale(by factor: Double) {
        for index in values.indices { values[index] *= factor }
    }

    mutating func tap(_ taps: (Double, Double, Double), box: Int) {
        Self.tap(values, taps, box: box, into: &tapped)
    }

    // The loops stand apart from the stored properties: only then are they free of checks for shared storage.

    private static func add(_ source: [Double], to target: inout [Double], at offset: Int) {
        for index in source.indices { target[offset + index] += source[index] }
    }

    private static func move(
        from source: inout [Double], at first: Int, shares: [Double], at firstShare: Int, count: Int,
        to target: inout [Double]
    ) {
        target.removeAll(keepingCapacity: true)
        target.reserveCapacity(count)
        for index in 0..<count {
            let inside = source[first + index] * shares[firstShare + index]
            source[first + index] -= inside
            target.append(inside)
        }
    }

    private static func tap(
        _ source: [Double], _ taps: (Double, Double, Double), box: Int, into target: inout [Double]
    ) {
        target.removeAll(keepingCapacity: true)
        target.append(contentsOf: repeatElement(0, count: box))
        var last = 0.0
        var beforeLast = 0.0
        for value in source {
            target.append(taps.0 * value + taps.1 * last + taps.2 * beforeLast)
            beforeLast = last
            last = value
        }
        target.append(taps.1 * last + taps.2 * beforeLast)
        target.append(taps.2 * last)
        target.append(contentsOf: repeatElement(0, count: box))
    }
}
