public import Configuration

/// Reads the `zones` of a listener file.
public struct ZoneSection: Sendable {
    /// The zones, in the order of the file.
    public let rules: [ZoneRule]
    /// The problems of the zones, in the order of the file.
    public let problems: [FileProblem]

    /// - Parameters:
    ///   - node: The JSON list of zones; `nil` if the file has none.
    ///   - beacons: The beacons of the file, to check the names and tags in the zones; `nil` if the beacons could not
    ///     be read. Names and tags are then not checked.
    public init(_ node: JSONNode?, beacons: [ZoneBeacon]?) {
        var reader = ZoneReader(beacons: beacons)
        let nodes = node.flatMap { ZoneKeys.zones.type.read(&reader.decoder, $0) } ?? []
        rules = nodes.compactMap { reader.zone($0) }
        problems = reader.decoder.problems
    }
}

private struct ZoneReader {
    var decoder = ConfigurationDecoder()
    let beacons: [ZoneBeacon]?
    private var names: [String: JSONPath] = [:]

    init(beacons: [ZoneBeacon]?) { self.beacons = beacons }

    /// - Parameter object: The JSON object of a zone, whose keys were already checked.
    mutating func zone(_ object: JSONNode) -> ZoneRule? {
        let name = ownName(object)
        let members = members(object)
        let scope = decoder.read(ZoneKeys.per, in: object)
        let bound = bound(object)
        guard let name, let members else { return nil }
        var rule = ZoneRule(name: name, members: members, scope: scope, bound: bound)
        rule.reports = decoder.read(ZoneKeys.reports, in: object) ?? rule.reports
        rule.window = decoder.read(ZoneKeys.window, in: object).map { $0 * 1000 }
        rule.leaveAfter = decoder.read(ZoneKeys.leaveAfter, in: object).map { $0 * 1000 } ?? rule.leaveAfter
        rule.silentAfter = decoder.read(ZoneKeys.silentAfter, in: object).map { $0 * 1000 }
        rule.dwellSeconds = dwells(object)
        rule.exclusive = decoder.read(ZoneKeys.exclusive, in: object)
        rule.exclusiveDecibels = decoder.read(ZoneKeys.exclusiveMargin, in: object) ?? rule.exclusiveDecibels
        rule.proof = decoder.read(ZoneKeys.proof, in: object) ?? .none
        rule.onEnter = content(ZoneKeys.onEnter, object, rule)
        rule.onExit = content(ZoneKeys.onExit, object, rule)
        return rule
    }

    /// Returns the name of the zone. Reports an error if an earlier zone has the same name.
    private mutating func ownName(_ object: JSONNode) -> String? {
        guard let name = decoder.read(ZoneKeys.name, in: object), let node = object["name"] else { return nil }
        if let other = names.updateValue(node.path, forKey: name) {
            decoder.error("\(other) has the same name", at: node)
        }
        return name
    }

    // MARK: The beacons

    private mutating func members(_ object: JSONNode) -> ZoneRule.Members? {
        if let node = object["tag"] {
            guard let tag = decoder.read(ZoneKeys.tag, in: object) else { return nil }
            if let beacons, !beacons.contains(where: { $0.tags.contains(tag) }) {
                reportUnknown("tag", tag, among: Array(Set(beacons.flatMap(\.tags))).sorted(), at: node)
            }
            return .tag(tag)
        }
        var names: [String] = []
        for node in decoder.read(ZoneKeys.beacons, in: object) ?? [] {
            guard let name = node.string else { continue }
            if names.contains(name) {
                decoder.error("the beacon \(ProblemText.quoted(name)) is in the list twice", at: node)
            } else if let beacons, !beacons.contains(where: { $0.name == name }) {
                reportUnknown("beacon", name, among: beacons.map(\.name), at: node)
            }
            names.append(name)
        }
        return names.isEmpty ? nil : .beacons(names)
    }

    /// Reports the error that no beacon has this tag or name.
    ///
    /// - Parameter kind: `tag` or `beacon`.
    private mutating func reportUnknown(_ kind: String, _ word: String, among words: [String], at node: JSONNode) {
        let advice: String
        if let nearest = NearestWord.find(word, among: words) {
            advice = "did you mean \(ProblemText.quoted(nearest))?"
        } else if words.isEmpty {
            advice = kind == "tag" ? "give beacons of \"known\" a list of \"tags\"" : "\"known\" names no beacon"
        } else {
            advice =
                "known here: " + words.prefix(5).map { ProblemText.quoted($0) }.joined(separator: ", ")
                + (words.count > 5 ? ", …" : "")
        }
        decoder.error(
            "no beacon \(kind == "tag" ? "has the tag" : "is called") \(ProblemText.quoted(word)); \(advice)", at: node)
    }

    // MARK: Bounds and texts

    private mutating func bound(_ object: JSONNode) -> ZoneRule.Bound? {
        if object["aboveDbm"] != nil {
            let level = decoder.read(ZoneKeys.above, in: object)
            let below = decoder.read(ZoneKeys.leaveBelow, in: object)
            guard let level else { return nil }
            if let below, below > level, let node = object["leaveBelowDbm"] {
                decoder.error(
                    "\(below) dBm is above the \(level) dBm of aboveDbm: a beacon would leave as soon as it enters",
                    at: node)
            }
            return below.map { .level(above: level, leaveBelow: $0) } ?? .above(level)
        }
        let within = decoder.read(ZoneKeys.within, in: object)
        let beyond = decoder.read(ZoneKeys.leaveBeyond, in: object)
        guard let within else { return nil }
        if let beyond, beyond < within, let node = object["leaveBeyondM"] {
            decoder.error("this is less than withinM: a beacon would leave as soon as it enters", at: node)
        }
        return beyond.map { .distance(within: within, leaveBeyond: $0) } ?? .within(within)
    }

    private mutating func dwells(_ object: JSONNode) -> [Int] {
        let dwells = decoder.read(ZoneKeys.dwell, in: object) ?? []
        if let node = object["dwellS"] {
            for (index, (last, next)) in zip(dwells, dwells.dropFirst()).enumerated() where next <= last {
                decoder.error(
                    "\(next) s comes after \(last) s: list the times in ascending order", at: node[index + 1] ?? node)
                break
            }
        }
        return dwells
    }

    private mutating func content(
        _ key: Key<JSONNode>, _ zone: JSONNode, _ rule: ZoneRule
    ) -> ZoneRule.Content? {
        guard let object = decoder.read(key, in: zone) else { return nil }
        let content = ZoneRule.Content(
            title: decoder.read(ContentKeys.title, in: object), body: decoder.read(ContentKeys.body, in: object))
        for key in content.keys {
            let beaconsWithout = members(of: rule).filter { beacon in !beacon.attachments.contains { $0.key == key } }
            guard let first = beaconsWithout.first else { continue }
            let others = beaconsWithout.count > 1 ? " and \(beaconsWithout.count - 1) more have" : " has"
            decoder.warning(
                "\(first.name)\(others) no attachment \(ProblemText.quoted(key)): an empty text is used instead",
                at: object)
        }
        return content
    }

    private func members(of rule: ZoneRule) -> [ZoneBeacon] {
        guard let beacons else { return [] }
        switch rule.members {
        case .tag(let tag): return beacons.filter { $0.tags.contains(tag) }
        case .beacons(let names): return beacons.filter { names.contains($0.name) }
        }
    }
}
