internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity

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
            "minor numbers start again in each \(minor.within.rawValue), and all of a \(major.per.rawValue) have the "
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
