internal import BluetoothTypes
public import Configuration
internal import Profiles

extension Fleet {
    /// The contents of a table that a fleet file names.
    public enum TableFile: Sendable {
        case octets([UInt8])
        /// The reason why it cannot be read, such as `there is no such file`.
        case unreadable(String)
    }

    /// Reads a fleet file and its tables.
    ///
    /// - Parameters:
    ///   - file: The file's name, for messages.
    ///   - table: Returns the contents of a table by the name that the fleet file has for it.
    /// - Returns: The fleet, and every problem of all files in their order. The fleet is `nil` when the file cannot be
    ///   decoded. A fleet with errors is only good for finding more errors.
    public static func decode(
        _ octets: [UInt8], file: String, table: (_ name: String) -> TableFile
    ) -> (fleet: Fleet?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        var problems = ProblemList()
        problems.add(faults, in: file)
        guard let root else { return (nil, problems.sorted) }
        var decoder = FleetDecoder(file: file, problems: problems)
        let fleet = decoder.fleet(root, table: table)
        decoder.problems.add(decoder.decoder.problems, in: file)
        return (fleet, decoder.problems.sorted)
    }

    /// Every key of a fleet file.
    static let keys = [
        "$schema", "version", "name", "listeners", "keys", "template", "defaults", "identities", "groups", "beacons",
    ]
    static let defaultKeys = ["controller", "intervalSpread", "variables"]
    static let groupKeys = ["name", "was", "controller", "intervalSpread", "variables", "groups", "beacons"]
    static let spreadKeys = ["fromMs", "toMs"]
    static let beaconKeys = ["name", "group", "was", "host", "serial", "controller", "position", "variables"]
    static let tableKeys = ["csv", "columns"]
    static let identityKeys = ["major", "minor", "namespace", "instance", "eidEpoch"]
    static let positionKeys = ["latitude", "longitude"]
    /// Meters from a site's origin.
    static let extent = 100_000.0
}

/// Reads a fleet file from its outermost object inwards.
struct FleetDecoder {
    let file: String
    var decoder = ConfigurationDecoder()
    var problems: ProblemList
    var groups: [Fleet.Group] = [Fleet.Group()]
    /// Groups by their parents and names; the fleet itself is nobody's.
    var groupNumbers = [GroupKey(parent: 0, name: ""): 0]
    /// Groups in which the fleet file names others: there, no table adds to them.
    var hasDeclaredChildren: Set<Int> = []
    var beacons: [Fleet.Beacon] = []
    /// The number of each beacon by its name.
    var numbers: [String: Int] = [:]
    /// Every variable that something uses.
    var used: Set<String> = []
    var rules = AllocationRules()

    struct GroupKey: Hashable {
        var parent: Int
        var name: String
    }

    init(file: String, problems: ProblemList) {
        self.file = file
        self.problems = problems
    }

    mutating func fleet(_ node: JSONNode, table: (String) -> Fleet.TableFile) -> Fleet? {
        guard decoder.expect(.fleet, node) else { return nil }
        guard let root = decoder.object(node, keys: Fleet.keys, hint: Self.hint) else { return nil }
        collectVariables(root)
        _ = decoder.text(root["$schema"])
        decoder.version(decoder.required("version", in: root, "\(Fleet.version) for this format"))
        let name = name(decoder.required("name", in: root, "what this fleet is called, such as \"museum\""))
        let listeners = listeners(root["listeners"])
        let keysFolder = decoder.text(root["keys"])
        rules = identities(root["identities"])
        let templateNode = decoder.required("template", in: root, "the profile that all beacons are made from")
        let template = templateNode.flatMap { self.template($0) }
        groups[0].node = root
        if let defaults = decoder.object(root["defaults"], keys: Fleet.defaultKeys) {
            groups[0].variables = variables(defaults["variables"], spread: defaults["intervalSpread"])
            groups[0].controller = decoder.word(defaults["controller"], of: ControllerKind.self)
        }
        declare(root["groups"], in: 0)
        if root["beacons"] == nil, root["groups"] == nil {
            decoder.error("there are no beacons: give \"beacons\", here or in \"groups\"", at: root)
        }
        beacons(root["beacons"], in: 0, table: table)
        nestedBeacons(root["groups"], in: 0, table: table)
        guard let name, let template else { return nil }
        return Fleet(
            name: name, file: file, listeners: listeners, keysFolder: keysFolder, keysNode: root["keys"],
            listenersNode: root["listeners"], template: template, rules: rules, groups: groups, beacons: beacons,
            numbers: numbers)
    }

    private static func hint(_ key: String) -> String? {
        switch key {
        case "advertisements", "calibration", "scanResponse", "adapter": "it belongs in \"template\""
        case "variables", "controller", "intervalMs", "intervalSpread": "it belongs in \"defaults\""
        case "csv": "a table is named as \"beacons\": { \"csv\": \"beacons.csv\" }"
        default: nil
        }
    }

    /// Every variable that stands anywhere in the file.
    private mutating func collectVariables(_ node: JSONNode) {
        switch node.value {
        case .string(let text) where text.contains("${"):
            if let expression = try? Expression(text) { used.formUnion(expression.variables) }
        case .array(let elements): for element in elements { collectVariables(element) }
        case .object(let members): for member in members { collectVariables(member.value) }
        default: break
        }
    }

    mutating func name(_ node: JSONNode?) -> String? {
        guard let node, let name = decoder.text(node) else { return nil }
        guard let fault = NameRule.fault(name) else { return name }
        decoder.error(fault, at: node)
        return nil
    }

    private mutating func listeners(_ node: JSONNode?) -> Set<FleetListener> {
        var found: Set<FleetListener> = []
        for element in decoder.list(node, of: "listeners") ?? [] {
            guard let listener = decoder.word(element, of: FleetListener.self) else { continue }
            if !found.insert(listener).inserted { decoder.error("this listener stands in the list twice", at: element) }
        }
        return found
    }

    private mutating func template(_ node: JSONNode) -> FleetTemplate? {
        guard let object = decoder.object(node, keys: FleetTemplate.keys, hint: Self.templateHint) else { return nil }
        decoder.version(object["version"])
        if let name = object["name"], name.string != "${name}" {
            decoder.error("a profile has its beacon's name: write \"${name}\", or take it out", at: name)
        }
        guard decoder.required("advertisements", in: object, "what to send") != nil else { return nil }
        return FleetTemplate(object, &decoder)
    }

    private static func templateHint(_ key: String) -> String? {
        switch key {
        case "eidEpoch": "it is allocated: \"identities\": { \"eidEpoch\": … } says from when"
        case "$schema": "it belongs to the fleet file itself"
        case "uuid", "major", "minor", "namespace", "instance", "url", "intervalMs", "type":
            "it belongs in one of the advertisements"
        default: nil
        }
    }

    /// An object of variables.
    mutating func variables(_ node: JSONNode?) -> [String: Variable] {
        guard let node else { return [:] }
        guard case .object(let members) = node.value else {
            decoder.wrongKind(node, expected: "an object from variables to their values")
            return [:]
        }
        var found: [String: Variable] = [:]
        for member in members {
            if let fault = nameFault(ofVariable: member.key) {
                decoder.error(fault, at: member)
                continue
            }
            guard case .string(let text) = member.value.value else {
                found[member.key] = Variable(value: .json(JSONValue(member.value)), origin: .node(member.value))
                continue
            }
            do throws(Expression.Fault) {
                found[member.key] = Variable(value: .text(try Expression(text)), origin: .node(member.value))
            } catch {
                decoder.error(error.description, at: member.value)
            }
        }
        return found
    }

    /// The variables of "defaults" or a group, with the one that its spread of intervals sets.
    mutating func variables(_ node: JSONNode?, spread: JSONNode?) -> [String: Variable] {
        var found = variables(node)
        guard let spread else { return found }
        if let fault = nameFault(ofVariable: Variable.spreadName) {
            decoder.error("\"intervalSpread\" sets \"${\(Variable.spreadName)}\", but \(fault)", at: spread)
        } else if found[Variable.spreadName] != nil {
            decoder.error(
                "\"intervalSpread\" sets the variable \"\(Variable.spreadName)\", which is set here as well: take one of "
                    + "the two out", at: spread)
        }
        // What is wrong with it has been said; that the variable is missing shall not be said too.
        let intervals = intervals(spread) ?? AdvertisingInterval.legacyRange
        found[Variable.spreadName] = Variable(value: .spread(intervals), origin: .node(spread))
        return found
    }

    /// The intervals between `fromMs` and `toMs` that a controller knows.
    private mutating func intervals(_ node: JSONNode) -> ClosedRange<AdvertisingInterval>? {
        guard let object = decoder.object(node, keys: Fleet.spreadKeys) else { return nil }
        let shortest = decoder.interval(decoder.required("fromMs", in: object, "the shortest interval in milliseconds"))
        let longest = decoder.interval(decoder.required("toMs", in: object, "the longest interval in milliseconds"))
        guard let shortest, let longest else { return nil }
        let unit = AdvertisingInterval(rawValue: 1).microseconds
        let (low, high) = ((shortest + unit - 1) / unit, longest / unit)
        guard low < high else {
            decoder.error(
                "there are no two intervals in this spread: \"fromMs\" comes before \"toMs\", and intervals have steps of "
                    + "\(DecimalText.thousandths(unit)) ms", at: object["toMs"] ?? object)
            return nil
        }
        return AdvertisingInterval(
            rawValue: UInt32(truncatingIfNeeded: low))...AdvertisingInterval(rawValue: UInt32(truncatingIfNeeded: high))
    }

    /// Why a variable cannot be called so, or may not be set.
    func nameFault(ofVariable name: String) -> String? {
        if Variable.reserved.contains(name) {
            return "the variable \"\(name)\" has its value from the beacon itself and cannot be set"
        }
        if rules.isAllocated(name) {
            return "\"\(name)\" is allocated by \"identities\" and set here as well: take one of the two out"
        }
        if !Expression.isName(name) {
            return "\(ProblemText.quoted(name)) is no name for a variable: letters, digits and \"_\", with a letter or "
                + "\"_\" first"
        }
        if !used.contains(name) {
            let nearest = NearestWord.find(name, among: used.sorted()).map { "; did you mean \"\($0)\"?" }
            return "nothing uses the variable \"\(name)\"" + (nearest ?? "")
        }
        return nil
    }
}
