internal import BluetoothTypes
package import Configuration

// Decodes and checks the pattern of intervals of an advertisement.

extension ValueType<AdvertisingPattern> {
    /// A list of 2...16 parts. Each part is an interval and the time for which it is used.
    static var pattern: ValueType {
        ValueType<[JSONNode]>.list(
            "parts", AdvertisingPattern.countRange, of: .section(PatternKeys.section), isWhole: true
        )
        .map { decoder, node, parts in decoder.pattern(node, parts) }
        .defined(as: "pattern")
    }
}

extension ConfigurationDecoder {
    fileprivate mutating func pattern(_ node: JSONNode, _ nodes: [JSONNode]) -> AdvertisingPattern? {
        let parts = nodes.map { part($0) }
        let validParts = parts.compactMap(\.self)
        guard validParts.count == parts.count, let pattern = AdvertisingPattern(validParts) else { return nil }
        guard pattern.shortestInterval < pattern.longestInterval else {
            error(
                "all parts have the interval \(pattern.shortestInterval): write "
                    + "\"intervalMs\": \(validParts[0].interval.milliseconds) instead of the pattern", at: node)
            return nil
        }
        return pattern
    }

    private mutating func part(_ node: JSONNode) -> AdvertisingPattern.Part? {
        let requested = read(PatternKeys.interval, in: node)
        let duration = read(PatternKeys.duration, in: node)
        guard let requested, let duration, let interval = AdvertisingInterval(microseconds: requested) else {
            return nil
        }
        let part = AdvertisingPattern.Part(
            interval: RequestedInterval(interval, microseconds: requested), durationMicroseconds: duration * 1000)
        guard part.durationMicroseconds >= interval.microseconds else {
            error(
                "\(part.seconds) s is shorter than the interval of \(interval), so this part would send only one event: "
                    + "give it at least \(DecimalText.thousandths((interval.microseconds + 999) / 1000)) s",
                at: node[PatternKeys.duration.name] ?? node)
            return nil
        }
        return part
    }
}

// MARK: Warnings

extension ConfigurationDecoder {
    /// Warns of parts that some controllers refuse, of consecutive parts with the same interval, and of more than 60
    /// changes of the interval per minute.
    mutating func checkPattern(
        _ pattern: AdvertisingPattern, pdu: AdvertisingPDU, phy: ExtendedPHY?, in node: JSONNode
    ) {
        let limit = AdvertisingInterval.legacyRange.upperBound
        for (index, part) in pattern.parts.enumerated() {
            let place = node[index]?[PatternKeys.interval.name] ?? node
            let interval = part.interval.interval
            if phy == nil { checkInterval(interval, pdu: pdu, at: place) }
            if phy == nil, interval > limit {
                warning(
                    "\(interval) is refused by controllers without extended advertising, whose longest interval is "
                        + "\(limit)", at: place)
            }
            let nextPart = pattern.parts[(index + 1) % pattern.parts.count]
            if nextPart.interval.interval == interval {
                warning(
                    "the next part has the same interval; write both as one part",
                    at: node[index] ?? node)
            }
        }
        let changesPerMinute = 60_000_000 * pattern.parts.count / pattern.cycleMicroseconds
        if changesPerMinute > Self.maximumChangesPerMinute {
            warning(
                "the interval changes \(changesPerMinute) times a minute, and each change wakes up the machine and "
                    + "takes the advertisement off the air for some milliseconds: make all parts longer in the "
                    + "same proportion",
                at: node)
        }
    }

    /// The largest number of changes of the interval per minute that causes no warning.
    private static var maximumChangesPerMinute: Int { 60 }

    /// Warns of a pattern in a profile with several advertisements, because controllers with only one advertising set
    /// refuse this profile.
    mutating func checkSets(_ advertisements: [ProfileAdvertisement?], in root: JSONNode) {
        guard advertisements.count > 1, let index = advertisements.firstIndex(where: { $0?.pattern != nil }),
            let node = root["advertisements"]?[index]
        else { return }
        warning(
            "a pattern needs an advertising set of its own: controllers with one set, which means all without extended "
                + "advertising, refuse this profile with its \(advertisements.count) advertisements",
            at: node[AdvertisementFormat.pattern.name] ?? node)
    }
}

extension AdvertisingPattern {
    /// The value of the key `pattern`.
    package var json: JSONValue {
        .array(
            parts.map { part in
                .record([
                    (PatternKeys.interval.name, .decimal(part.interval.milliseconds)),
                    (PatternKeys.duration.name, .decimal(part.seconds)),
                ])
            })
    }

    /// Reads what ``json`` writes, without reporting problems; `nil` for any other JSON.
    package init?(json node: JSONNode?) {
        let range = AdvertisingPattern.durationRange
        let millisecondRange = range.lowerBound / 1000...range.upperBound / 1000
        let parts = (node?.elements ?? []).map { element -> Part? in
            guard let requested = element[PatternKeys.interval.name]?.thousandths,
                let interval = AdvertisingInterval(microseconds: requested),
                let duration = element[PatternKeys.duration.name]?.thousandths,
                millisecondRange.contains(duration)
            else { return nil }
            return Part(
                interval: RequestedInterval(interval, microseconds: requested), durationMicroseconds: duration * 1000)
        }
        let validParts = parts.compactMap(\.self)
        guard validParts.count == parts.count, AdvertisingPattern.countRange.contains(validParts.count) else {
            return nil
        }
        self.init(validParts)
    }
}
