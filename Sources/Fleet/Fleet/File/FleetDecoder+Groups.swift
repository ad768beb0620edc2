internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity

extension FleetDecoder {
    /// The groups of a list, and those in them.
    mutating func declare(_ node: JSONNode?, in parent: Int) {
        guard let node, let elements = decoder.list(node, of: "groups") else { return }
        guard groups[parent].path.count < Fleet.depthLimit else {
            decoder.error("groups are sites, floors and rooms; a room has no groups in it", at: node)
            return
        }
        hasDeclaredChildren.insert(parent)
        for element in elements {
            guard let object = decoder.object(element, keys: Fleet.groupKeys, hint: Self.groupHint) else { continue }
            let level = Fleet.levelNames[groups[parent].path.count]
            guard let name = name(decoder.required("name", in: object, "what this \(level) is called")) else {
                continue
            }
            if let first = groupNumbers[.init(parent: parent, name: name)] {
                let place = groups[first].node.map { ", first at \($0.position)" } ?? ""
                decoder.error(
                    "the \(level) \"\(name)\" is there twice\(place): put them together", at: object["name"] ?? object)
                continue
            }
            let number = add(group: name, in: parent, node: object)
            groups[number].was = self.name(object["was"])
            groups[number].variables = variables(object["variables"], spread: object["intervalSpread"])
            groups[number].controller = decoder.word(object["controller"], of: ControllerKind.self)
            declare(object["groups"], in: number)
        }
    }

    private static func groupHint(_ key: String) -> String? {
        switch key {
        case "rooms", "floors", "sites": "groups in a group are \"groups\""
        case "intervalMs", "url", "radioPowerDbm": "what differs between groups stands in \"variables\""
        default: nil
        }
    }

    /// The beacons of groups, in the order of the file.
    mutating func nestedBeacons(_ node: JSONNode?, in parent: Int, table: (String) -> Fleet.TableFile) {
        guard case .array(let elements) = node?.value else { return }
        for element in elements {
            guard let name = element["name"]?.string, let number = groupNumbers[.init(parent: parent, name: name)],
                groups[number].node?.position == element.position
            else { continue }
            beacons(element["beacons"], in: number, table: table)
            nestedBeacons(element["groups"], in: number, table: table)
        }
    }

    private mutating func add(group name: String, in parent: Int, node: JSONNode?) -> Int {
        groupNumbers[.init(parent: parent, name: name)] = groups.count
        groups.append(
            Fleet.Group(name: name, parent: parent, path: groups[parent].path + [name], node: node))
        return groups.count - 1
    }

    /// Why there is no such group.
    enum GroupFault: Error {
        case name(String)
        case tooDeep
        case unknown(String)

        var description: String {
            switch self {
            case .name(let fault), .unknown(let fault): fault
            case .tooDeep: "groups are sites, floors and rooms: no more than three names behind each other"
            }
        }
    }

    /// The group with these names below `start`, a new one where a table may add one.
    mutating func group(_ names: [String], from start: Int) throws(GroupFault) -> Int {
        var number = start
        for name in names {
            if let known = groupNumbers[.init(parent: number, name: name)] {
                number = known
                continue
            }
            if let fault = NameRule.fault(name) { throw .name(fault) }
            let depth = groups[number].path.count
            guard depth < Fleet.depthLimit else { throw .tooDeep }
            if hasDeclaredChildren.contains(number) {
                let known = groups.filter { $0.parent == number && $0.path.count == depth + 1 }.map(\.name)
                let nearest = NearestWord.find(name, among: known).map { "did you mean \"\($0)\"?" }
                throw .unknown(
                    "the \(Fleet.levelNames[depth]) \(ProblemText.quoted(name)) is not among the groups of the fleet "
                        + "file; " + (nearest ?? "add it there"))
            }
            number = add(group: name, in: number, node: nil)
        }
        return number
    }
}

extension FleetDecoder {
    private static let majorKeys = ["per", "first"]
    private static let minorKeys = ["within", "first"]
    private static let namespaceKeys = ["domain", "uuid"]
    private static let instanceKeys = ["from", "first"]

    /// What `from` may say of an instance.
    enum InstanceSource: String, CaseIterable {
        case counter
        case serial
    }

    mutating func identities(_ node: JSONNode?) -> AllocationRules {
        var rules = AllocationRules()
        guard let object = decoder.object(node, keys: Fleet.identityKeys) else { return rules }
        for key in Fleet.identityKeys { rules.nodes[key] = object[key] }
        if let major = decoder.object(object["major"], keys: Self.majorKeys) {
            let per = decoder.word(
                decoder.required("per", in: major, "site, floor or room: each has a number of its own"),
                of: AllocationRules.Level.self)
            let first = decoder.integer(major["first"], in: AllocationRules.numberRange)
            rules.major = .init(per: per ?? .site, first: first ?? 1)
        }
        if let minor = decoder.object(object["minor"], keys: Self.minorKeys) {
            let within = decoder.word(
                decoder.required("within", in: minor, "fleet, site, floor or room: in which beacons are counted"),
                of: AllocationRules.Level.self)
            let first = decoder.integer(minor["first"], in: AllocationRules.numberRange)
            rules.minor = .init(within: within ?? .site, first: first ?? 1)
        }
        rules.namespace = namespace(object["namespace"])
        if let instance = decoder.object(object["instance"], keys: Self.instanceKeys) {
            let from = decoder.word(
                decoder.required("from", in: instance, "counter, or serial for the box's serial number"),
                of: InstanceSource.self)
            let first = decoder.integer(instance["first"], in: 0...Int(AllocationRules.instanceLimit))
            if from == .serial, let node = instance["first"] {
                decoder.error("serial numbers are not counted, so there is no first one", at: node)
            }
            rules.instance = from == .serial ? .serial : .counter(first: first ?? 1)
        }
        if let epoch = object["eidEpoch"], let text = decoder.text(epoch) {
            rules.eidEpoch = RFC3339Time(text)
            if rules.eidEpoch == nil {
                decoder.error(
                    "\(ProblemText.quoted(text)) is no time such as \"2026-03-01T12:00:00Z\" (RFC 3339)", at: epoch)
            }
        }
        checkDistinct(rules, object)
        return rules
    }

    /// Whether numbers that are counted in parts can meet.
    private mutating func checkDistinct(_ rules: AllocationRules, _ object: JSONNode) {
        guard let major = rules.major, let minor = rules.minor, major.per.depth < minor.within.depth else { return }
        decoder.error(
            "minor numbers begin anew in each \(minor.within.rawValue), and all of a \(major.per.rawValue) have the "
                + "same major: two beacons would be the same; count them within \"\(major.per.rawValue)\"",
            at: object["minor"]?["within"] ?? object)
    }

    private mutating func namespace(_ node: JSONNode?) -> FixedOctets<10>? {
        guard let node, let object = decoder.object(node, keys: Self.namespaceKeys) else { return nil }
        let (domain, uuid) = (object["domain"], object["uuid"])
        guard (domain == nil) != (uuid == nil) else {
            decoder.error("give either \"domain\", a name of yours, or \"uuid\"", at: node)
            return nil
        }
        do throws(NamespaceError) {
            if let domain, let text = decoder.text(domain) { return try EddystoneUID.namespace(fromDomain: text) }
            if let octets = decoder.octets(uuid, count: 16).flatMap({ FixedOctets<16>($0) }) {
                return try EddystoneUID.namespace(fromUUID: octets)
            }
        } catch {
            decoder.error(error.description, at: domain ?? uuid ?? node)
        }
        return nil
    }
}
