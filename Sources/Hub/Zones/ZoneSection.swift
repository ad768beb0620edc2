public import Configuration

/// Reads the `zones` of a listener file.
public struct ZoneSection: Sendable {
    /// In the order of the file.
    public let rules: [ZoneRule]
    /// In the order of the file.
    public let problems: [FileProblem]

    /// - Parameters:
    ///   - node: The list; `nil` where the file has none.
    ///   - beacons: Everybody whom the file knows, for names and tags; `nil` where that could not be read, and only the
    ///     form is checked.
    public init(_ node: JSONNode?, beacons: [ZoneBeacon]?) {
        var reader = ZoneReader(beacons: beacons)
        rules = (reader.decoder.list(node, of: "zones") ?? []).compactMap { reader.zone($0) }
        problems = reader.decoder.problems
    }

    /// Every key of a zone.
    static let keys = [
        "name", "tag", "beacons", "per", "withinM", "leaveBeyondM", "aboveDbm", "leaveBelowDbm", "reports", "windowS",
        "leaveAfterS", "silentAfterS", "dwellS", "exclusive", "proof", "onEnter", "onExit",
    ]
    static let contentKeys = ["title", "body"]
    /// In thousandths of a metre.
    static let distances = 10...1_000_000
    /// In dBm.
    static let levels = -120...20
    static let reports = 1...LevelWindow.capacity
    /// In thousandths of a second.
    static let windows = 100...3_600_000
    static let leaveTimes = 0...3_600_000
    static let silences = 1000...86_400_000
    /// In seconds: ten days.
    static let dwells = 1...864_000
    /// In characters.
    static let textLimits = (title: 200, body: 1000)
    static let automatic = "auto"
}

private struct ZoneReader {
    var decoder = ConfigurationDecoder()
    let beacons: [ZoneBeacon]?
    private var names: [String: JSONPath] = [:]

    init(beacons: [ZoneBeacon]?) { self.beacons = beacons }

    mutating func zone(_ node: JSONNode) -> ZoneRule? {
        guard let object = decoder.object(node, keys: ZoneSection.keys) else { return nil }
        let name = ownName(decoder.required("name", in: object, "what the zone is called, such as \"desk-peter\""))
        let members = members(object)
        let per = decoder.word(object["per"], of: ZoneRule.Per.self)
        let bound = bound(object)
        guard let name, let members else { return nil }
        var rule = ZoneRule(name: name, members: members, per: per, bound: bound)
        rule.reports = decoder.integer(object["reports"], in: ZoneSection.reports) ?? rule.reports
        rule.window = seconds(object["windowS"], ZoneSection.windows, isAutomatic: true)
        rule.leaveAfter = seconds(object["leaveAfterS"], ZoneSection.leaveTimes) ?? rule.leaveAfter
        rule.silentAfter = seconds(object["silentAfterS"], ZoneSection.silences, isAutomatic: true)
        rule.dwellSeconds = dwells(object["dwellS"])
        rule.exclusive = decoder.name(object["exclusive"])
        rule.proof = decoder.word(object["proof"], of: ZoneRule.Proof.self) ?? .none
        rule.onEnter = content(object["onEnter"], rule)
        rule.onExit = content(object["onExit"], rule)
        return rule
    }

    private mutating func ownName(_ node: JSONNode?) -> String? {
        guard let node, let name = decoder.name(node) else { return nil }
        if let other = names.updateValue(node.path, forKey: name) {
            decoder.error("\(other) is this name already", at: node)
        }
        return name
    }

    // MARK: Who belongs to it

    private mutating func members(_ object: JSONNode) -> ZoneRule.Members? {
        switch (object["tag"], object["beacons"]) {
        case (nil, nil):
            decoder.error(
                "nothing is in this zone: give the \"tag\" of its beacons, or \"beacons\" by their names", at: object)
            return nil
        case (_?, let node?):
            decoder.error("a zone is built around \"tag\" or \"beacons\", not both", at: node)
            return nil
        case (let node?, nil):
            guard let tag = decoder.label(node) else { return nil }
            if let beacons, !beacons.contains(where: { $0.tags.contains(tag) }) {
                unknown("tag", tag, among: Array(Set(beacons.flatMap(\.tags))).sorted(), at: node)
            }
            return .tag(tag)
        case (nil, let node?):
            guard let elements = decoder.list(node, of: "beacons") else { return nil }
            var names: [String] = []
            for element in elements {
                guard let name = decoder.text(element) else { continue }
                if names.contains(name) {
                    decoder.error("the beacon \(ProblemText.quoted(name)) stands here twice", at: element)
                } else if let beacons, !beacons.contains(where: { $0.name == name }) {
                    unknown("beacon", name, among: beacons.map(\.name), at: element)
                }
                names.append(name)
            }
            return names.isEmpty ? nil : .beacons(names)
        }
    }

    private mutating func unknown(_ what: String, _ word: String, among words: [String], at node: JSONNode) {
        let advice: String
        if let nearest = NearestWord.find(word, among: words) {
            advice = "did you mean \(ProblemText.quoted(nearest))?"
        } else if words.isEmpty {
            advice = what == "tag" ? "give beacons of \"known\" a list of \"tags\"" : "\"known\" names none"
        } else {
            advice =
                "known here: " + words.prefix(5).map { ProblemText.quoted($0) }.joined(separator: ", ")
                + (words.count > 5 ? ", …" : "")
        }
        decoder.error(
            "no beacon \(what == "tag" ? "has the tag" : "is called") \(ProblemText.quoted(word)); \(advice)", at: node)
    }

    // MARK: How near, and how long

    private mutating func bound(_ object: JSONNode) -> ZoneRule.Bound? {
        let within = object["withinM"]
        let above = object["aboveDbm"]
        if within != nil, let above {
            decoder.error("a zone is bounded by \"withinM\" or \"aboveDbm\", not both", at: above)
            return nil
        }
        if let above {
            let level = decoder.integer(above, in: ZoneSection.levels, unit: "dBm")
            let below = decoder.integer(object["leaveBelowDbm"], in: ZoneSection.levels, unit: "dBm")
            misplaced("leaveBeyondM", "withinM", in: object)
            guard let level else { return nil }
            if let below, below > level, let node = object["leaveBelowDbm"] {
                decoder.error("\(below) dBm is above the \(level) dBm of entering: it would be left at once", at: node)
            }
            return below.map { .level(above: level, leaveBelow: $0) } ?? .above(level)
        }
        misplaced("leaveBelowDbm", "aboveDbm", in: object)
        let distance = decoder.thousandths(within, in: ZoneSection.distances, unit: "m")
        let beyond = decoder.thousandths(object["leaveBeyondM"], in: ZoneSection.distances, unit: "m")
        guard within == nil || distance != nil else { return nil }
        let inner = distance ?? ZoneRule.defaultDistance
        if let beyond, beyond < inner, let node = object["leaveBeyondM"] {
            decoder.error("it lies within the distance of entering: the zone would be left at once", at: node)
        }
        return beyond.map { .distance(within: inner, leaveBeyond: $0) } ?? .within(inner)
    }

    private mutating func misplaced(_ key: String, _ partner: String, in object: JSONNode) {
        guard let node = object[key] else { return }
        decoder.error("this goes with \"\(partner)\", which this zone does not have", at: node)
    }

    /// In microseconds; `nil` for `auto`.
    private mutating func seconds(
        _ node: JSONNode?, _ range: ClosedRange<Int>, isAutomatic: Bool = false
    ) -> Int? {
        guard let node else { return nil }
        if case .string(let text) = node.value, isAutomatic {
            if text != ZoneSection.automatic { decoder.notAWord(text, [ZoneSection.automatic], at: node) }
            return nil
        }
        return decoder.thousandths(node, in: range, unit: "s").map { $0 * 1000 }
    }

    private mutating func dwells(_ node: JSONNode?) -> [Int] {
        var dwells: [Int] = []
        for element in decoder.list(node, of: "seconds") ?? [] {
            guard let seconds = decoder.integer(element, in: ZoneSection.dwells, unit: "s") else { continue }
            if let last = dwells.last, seconds <= last {
                decoder.error("\(seconds) s comes after \(last) s: they stand in their order, each once", at: element)
            } else {
                dwells.append(seconds)
            }
        }
        return dwells
    }

    // MARK: What is said

    private mutating func content(_ node: JSONNode?, _ rule: ZoneRule) -> ZoneRule.Content? {
        guard let node, let object = decoder.object(node, keys: ZoneSection.contentKeys) else { return nil }
        let content = ZoneRule.Content(
            title: decoder.label(object["title"], limit: ZoneSection.textLimits.title, isEmptyGood: true),
            body: decoder.label(object["body"], limit: ZoneSection.textLimits.body, isEmptyGood: true))
        for key in content.keys {
            let lacking = members(of: rule).filter { beacon in !beacon.attachments.contains { $0.key == key } }
            guard let first = lacking.first else { continue }
            let others = lacking.count > 1 ? " and \(lacking.count - 1) more have" : " has"
            decoder.warning(
                "\(first.name)\(others) no attachment \(ProblemText.quoted(key)): nothing stands in its place", at: node
            )
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
