internal import Advertiser
internal import BeaconFrames
public import BluetoothTypes
internal import Configuration
public import Profiles

/// The text of a beacon profile with a new interval for some of its advertisements. All other bytes are unchanged.
public struct ProfileRevision: Sendable {
    /// The new text.
    public let text: [UInt8]
    /// The changes in the order of the file.
    public let changes: [Change]
    /// A warning if controllers with one advertising set may refuse the new profile.
    public let caution: String?

    /// One advertisement with its interval before and after.
    public struct Change: Sendable, CustomStringConvertible {
        /// The number of the advertisement in the profile, counted from 1.
        public let number: Int
        /// The type as in profiles, such as `ibeacon`.
        public let type: String
        public let before: AdvertisingInterval
        public let after: AdvertisingInterval

        public var description: String { "advertisement \(number) (\(type)) from \(before) to \(after)" }
    }

    /// - Parameters:
    ///   - text: The text of `profile`.
    ///   - numbers: The numbers of the advertisements to change, from 1; empty to change only the most frequent
    ///     advertisement.
    /// Throws for numbers that the profile does not have, for an advertisement with a pattern, and for intervals that a
    /// controller with one advertising set cannot combine.
    public init(
        of text: [UInt8], profile: BeaconProfile, interval: AdvertisingInterval, advertisements numbers: [Int] = []
    ) throws(PlanError) {
        let advertisements = profile.advertisements
        for number in numbers where !advertisements.indices.contains(number - 1) {
            throw PlanError(
                .question, "--advertisement \(number): the profile has advertisements 1...\(advertisements.count)")
        }
        let fastest = advertisements.indices.min { advertisements[$0].interval < advertisements[$1].interval }
        let chosenIndices = numbers.isEmpty ? [fastest].compactMap(\.self) : Set(numbers.map { $0 - 1 }).sorted()
        if let index = chosenIndices.first(where: { advertisements[$0].pattern != nil }) {
            let type = advertisements[index].content.typeName
            throw PlanError(
                .configuration,
                "advertisement \(index + 1) (\(type)) has a pattern of intervals, which one interval "
                    + "would replace: write \"intervalMs\" instead of \"pattern\" first, or name another "
                    + "advertisement with --advertisement. Nothing was changed")
        }
        var intervals = advertisements.map(\.interval)
        for index in chosenIndices { intervals[index] = interval }
        caution = try Self.check(intervals)
        let changedIndices = chosenIndices.filter {
            advertisements[$0].requestedMicroseconds != interval.microseconds
        }
        changes = changedIndices.map { index in
            Change(
                number: index + 1, type: advertisements[index].content.typeName,
                before: advertisements[index].interval, after: interval)
        }
        self.text = try Self.text(text, setting: interval, of: changes.map { $0.number - 1 })
    }

    /// The changes and the warning as sentences.
    public func sentences(about file: String) -> [String] {
        let list = changes.map { "\($0)" }.joined(separator: ", ")
        let what =
            changes.isEmpty ? "the advertisements already have this interval" : "\(list); nothing else was changed"
        return ["\(file): \(what)."] + (caution.map { ["\(file): \($0)."] } ?? [])
    }

    /// Throws if a single advertising set cannot send all advertisements in turn: the set must send as many events as
    /// all advertisements need together, but its interval cannot be below 20 ms. Returns a warning if old controllers
    /// refuse the interval of the set.
    private static func check(_ intervals: [AdvertisingInterval]) throws(PlanError) -> String? {
        guard intervals.count > 1 else { return nil }
        let pace = SharedPace(intervals).interval
        guard let pace, pace >= AdvertisingInterval.legacyRange.lowerBound else {
            throw PlanError(
                .configuration,
                "\(intervals.count) advertisements at these intervals need more than one event every "
                    + "\(AdvertisingInterval.legacyRange.lowerBound), which no controller that sends them in turn supports; "
                    + "name fewer advertisements with --advertisement, or send the others less often. "
                    + "Nothing was changed")
        }
        // Controllers before Bluetooth 5 support non-connectable advertising from 100 ms on.
        guard pace < AdvertisingInterval(rawValue: 0xA0) else { return nil }
        return
            "a controller that sends the advertisements in turn must send one every \(pace); controllers before "
            + "Bluetooth 5 require at least 100 ms and refuse this profile"
    }

    /// Returns the text with the numbers after `intervalMs` replaced in the advertisements at these indices.
    private static func text(
        _ text: [UInt8], setting interval: AdvertisingInterval, of indices: [Int]
    ) throws(PlanError) -> [UInt8] {
        let positions = JSONDocument.parse(text).root.map { root in
            indices.compactMap { root["advertisements"]?[$0]?["intervalMs"]?.position }
        }
        guard let positions, positions.count == indices.count else {
            throw PlanError(.data, "some of these advertisements have no \"intervalMs\" in the profile")
        }
        var result: [UInt8] = []
        var rest = text[...]
        let number = Array(DecimalText.thousandths(interval.microseconds).utf8)
        for offset in Self.offsets(of: positions.sorted(), in: text) {
            result += rest[..<offset]
            result += number
            rest = rest[offset...].drop { Self.numberOctets.contains($0) }
        }
        return result + rest
    }

    private static let numberOctets = Set("-+.eE0123456789".utf8)

    /// Returns the byte offsets of these positions, where new values replace the old values. Lines end with LF, CR LF
    /// or CR. Columns count Unicode scalars.
    static func offsets(of positions: [JSONPosition], in text: [UInt8]) -> [Int] {
        var offsets: [Int] = []
        var position = JSONPosition(line: 1, column: 1)
        var remaining = positions[...]
        for (offset, octet) in text.enumerated() {
            // A continuation byte of UTF-8 does not start a scalar.
            if octet & 0xC0 == 0x80 { continue }
            if position == remaining.first {
                offsets.append(offset)
                remaining.removeFirst()
            }
            let isLineEnd = octet == 0x0A || (octet == 0x0D && text[safe: offset + 1] != 0x0A)
            if isLineEnd {
                position = JSONPosition(line: position.line + 1, column: 1)
            } else if octet != 0x0D {
                position.column += 1
            }
        }
        return offsets
    }
}

extension Array {
    /// The element at `index`; nil if the index is out of range.
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
