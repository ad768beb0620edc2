internal import Airtime
internal import Configuration

/// The two long parts of a map's file, its statistics and its vectors, read from the octets: a tree of their millions of
/// values takes many times as long, and as much memory.
///
/// It says yes to the plain form only, as ``SignalMap/text`` has it: everything else, and every map with a problem, is
/// looked at by those who know all of JSON.
struct PlainMap {
    /// What was heard at each place; `nil` where the part is not of the plain form.
    private(set) var statistics: [[PlaceStatistics]]?
    private(set) var prints: [SignalMap.Print] = []
    private(set) var table = VectorTable()
    /// The file with ``mark`` where a part was.
    private(set) var rest: [UInt8] = []
    /// One more than the largest number of a place and of a beacon.
    private var places = 0
    private var beacons = 0
    private var hasVectors = false

    /// No value that a map has there.
    static let mark = "taken out"

    /// `nil` where there is nothing in plain form.
    init?(_ octets: [UInt8]) {
        var scanner = PlainScanner(octets)
        var start = 0
        // A line's end is never within a string, so that these are keys; of what, the marks tell.
        if scanner.skip(behind: "\n  \"statistics\":") {
            let from = scanner.index
            statistics = readStatistics(&scanner)
            take(octets, &start, from, scanner.index, isPlain: statistics != nil)
            if statistics == nil { scanner.index = from }
        }
        if scanner.skip(behind: "\n  \"vectors\":") {
            let from = scanner.index
            hasVectors = readVectors(&scanner)
            take(octets, &start, from, scanner.index, isPlain: hasVectors)
        }
        guard start > 0 else { return nil }
        rest += octets[start...]
        if !hasVectors { (table, prints) = (VectorTable(), []) }
    }

    private mutating func take(_ octets: [UInt8], _ start: inout Int, _ from: Int, _ end: Int, isPlain: Bool) {
        guard isPlain else { return }
        rest += octets[start..<from] + Array("\"\(Self.mark)\"".utf8)
        start = end
    }

    /// Whether the parts are those of the file's own object, for its places and its beacons.
    func belongs(to root: JSONNode, places: Int, beacons: Int) -> Bool {
        (root["statistics"]?.string == Self.mark) == (statistics != nil)
            && (root["vectors"]?.string == Self.mark) == hasVectors && statistics.map { $0.count == places } ?? true
            && self.places <= places && self.beacons <= beacons
    }

    // MARK: Statistics

    private mutating func readStatistics(_ scanner: inout PlainScanner) -> [[PlaceStatistics]]? {
        var statistics: [[PlaceStatistics]] = []
        guard
            scanner.list({ scanner in
                var place: [PlaceStatistics] = []
                guard
                    scanner.list({ scanner in
                        guard let found = readStatistic(&scanner), place.last.map({ $0.beacon < found.beacon }) ?? true
                        else {
                            return false
                        }
                        place.append(found)
                        return true
                    })
                else { return false }
                statistics.append(place)
                return true
            })
        else { return nil }
        return statistics
    }

    private mutating func readStatistic(_ scanner: inout PlainScanner) -> PlaceStatistics? {
        guard scanner.take("{"), scanner.take("\"beacon\":"), let beacon = scanner.integer(), beacon >= 0,
            scanner.take(","), scanner.take("\"heard\":"), let seconds = scanner.integer(), seconds > 0,
            let mean = level(&scanner, "\"mean\":"), let median = level(&scanner, "\"median\":"),
            let minimum = level(&scanner, "\"minimum\":"), let maximum = level(&scanner, "\"maximum\":"),
            scanner.take(","), scanner.take("\"standardDeviation\":"),
            let deviation = scanner.take("null") ? 0 : scanner.number(),
            scanner.take(","), scanner.take("\"histogram\":")
        else { return nil }
        var bins: [PlaceStatistics.Bin] = []
        guard
            scanner.list({ scanner in
                guard scanner.take("["), let level = scanner.integer(), abs(level) < 1000, scanner.take(","),
                    let count = scanner.integer(), count > 0, count <= seconds, scanner.take("]")
                else { return false }
                bins.append(.init(level: level, seconds: count))
                return true
            }), scanner.take("}")
        else { return nil }
        beacons = max(beacons, beacon + 1)
        return PlaceStatistics(
            beacon: beacon, histogram: bins, seconds: seconds, mean: mean, median: median, minimum: minimum,
            maximum: maximum, squares: deviation * deviation * Double(seconds - 1))
    }

    private func level(_ scanner: inout PlainScanner, _ key: StaticString) -> Double? {
        guard scanner.take(","), scanner.take(key), let value = scanner.number() else { return nil }
        return ReceivedLevel.level(value, acceptsZero: true)
    }

    // MARK: Vectors

    private mutating func readVectors(_ scanner: inout PlainScanner) -> Bool {
        scanner.list { scanner in
            guard scanner.take("["), let place = scanner.integer(), place >= 0, scanner.take(","),
                let stay = scanner.integer(), scanner.take(","), let visit = scanner.integer(), scanner.take(","),
                let seconds = scanner.number(), scanner.take(",")
            else { return false }
            var readings: [SignalVector.Reading] = []
            guard
                scanner.list({ scanner in
                    guard let beacon = scanner.integer(), beacon >= 0, scanner.take(","), let value = scanner.number(),
                        let level = ReceivedLevel.level(value, acceptsZero: true)
                    else { return false }
                    beacons = max(beacons, beacon + 1)
                    readings.append(.init(beacon: beacon, level: level))
                    return true
                }), scanner.take("]")
            else { return false }
            places = max(places, place + 1)
            table.append(SignalVector(seconds: seconds, readings: readings))
            prints.append(.init(vector: table.count - 1, place: place, stay: stay, visit: visit))
            return true
        }
    }
}

/// Passes over JSON whose form is known.
private struct PlainScanner {
    private let octets: [UInt8]
    var index = 0

    init(_ octets: [UInt8]) { self.octets = octets }

    /// Goes on behind the next place where a text stands that begins with a line's end; `false` where there is none.
    mutating func skip(behind text: StaticString) -> Bool {
        while index < octets.count {
            guard let start = octets[index...].firstIndex(of: UInt8(ascii: "\n")) else { return false }
            index = start
            if takeHere(text) { return true }
            index = start + 1
        }
        return false
    }

    /// A text, behind white space or none.
    mutating func take(_ text: StaticString) -> Bool {
        skipSpace()
        return takeHere(text)
    }

    private mutating func takeHere(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard index + count <= octets.count else { return false }
        let start = index
        let isThere = text.withUTF8Buffer { buffer in
            for place in 0..<count where unsafe buffer[place] != octets[start + place] { return false }
            return true
        }
        if isThere { index += count }
        return isThere
    }

    private mutating func skipSpace() {
        while index < octets.count, octets[index] == 0x20 || octets[index] == 0x0A { index += 1 }
    }

    /// A list of elements that `element` reads; `false` where one is not as expected.
    mutating func list(_ element: (inout PlainScanner) -> Bool) -> Bool {
        guard take("[") else { return false }
        if take("]") { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(",")
        return take("]")
    }

    /// At most nine digits, without leading zeros.
    mutating func integer() -> Int? {
        skipSpace()
        let isNegative = takeHere("-")
        let start = index
        let number = digits()
        guard index > start, index - start <= 9, index == start + 1 || octets[start] != UInt8(ascii: "0"),
            !(isNegative && number == 0)
        else { return nil }
        return isNegative ? -number : number
    }

    /// A number without an exponent: up to 15 digits are exact as a quotient.
    mutating func number() -> Double? {
        skipSpace()
        let from = index
        let isNegative = takeHere("-")
        let start = index
        var number = digits()
        guard index > start, index == start + 1 || octets[start] != UInt8(ascii: "0") else { return nil }
        var count = index - start
        var scale = 1.0
        if takeHere(".") {
            let first = index
            number = digits(behind: number)
            guard index > first else { return nil }
            count += index - first
            guard count <= 15 else { return Double(String(decoding: octets[from..<index], as: UTF8.self)) }
            for _ in first..<index { scale *= 10 }
        }
        guard count <= 15 else { return nil }
        let value = Double(number) / scale
        return isNegative ? -value : value
    }

    /// What digits say; anything where there are too many.
    private mutating func digits(behind known: Int = 0) -> Int {
        var number = known
        while index < octets.count, octets[index] &- UInt8(ascii: "0") < 10 {
            number = number &* 10 &+ Int(octets[index] &- UInt8(ascii: "0"))
            index += 1
        }
        return number
    }
}
