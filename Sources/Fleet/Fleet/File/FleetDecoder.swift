internal import BluetoothTypes
public import Configuration

extension Fleet {
    /// The contents of a table that a fleet file names.
    public enum TableFile: Sendable {
        case octets([UInt8])
        /// The reason why the table cannot be read, such as `there is no such file`.
        case unreadable(String)
    }

    /// Reads a fleet file and its tables.
    ///
    /// - Parameters:
    ///   - file: The file's name, for messages.
    ///   - table: Returns the contents of a table. `name` is the name of its file in the fleet file.
    /// - Returns: The fleet, and every problem of all files, in the order of the files. The fleet is `nil` if the file
    ///   cannot be decoded. If there are errors, use the fleet only to find more errors.
    public static func decode(
        _ octets: [UInt8], file: String, table: (_ name: String) -> TableFile
    ) -> (fleet: Fleet?, problems: [FileProblem]) {
        var problems = ProblemList()
        if CSVTable.isTable(octets) {
            let message =
                octets.starts(with: FleetManifest.csvStart.utf8)
                ? "this is the table of a generated fleet: name its directory or the manifest.json in this directory"
                : "this is a table, not a fleet file; "
                    + "`pharos fleet init --from \(file)` makes a fleet file for it"
            problems.add(FileProblem(message, at: .init(line: 1, column: 1), kind: .malformed, in: file))
            return (nil, problems.sorted)
        }
        let (root, faults) = JSONDocument.parse(octets)
        problems.add(faults, in: file)
        guard let root else { return (nil, problems.sorted) }
        var decoder = FleetDecoder(file: file, problems: problems)
        let fleet = decoder.fleet(root, table: table)
        decoder.problems.add(decoder.decoder.problems, in: file)
        return (fleet, decoder.problems.sorted)
    }

    /// The text of `profiles/schema/fleet.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String { FleetFormat.section.schemaFile(title: "Pharos fleet") }

    /// The largest distance of a position from the origin of its site along one axis, in m.
    static let extent = 100_000
}

/// Decodes a fleet file and its tables, from the outermost object to the innermost.
struct FleetDecoder {
    let file: String
    var decoder = ConfigurationDecoder()
    var problems: ProblemList
    var groups: [Fleet.Group] = [Fleet.Group()]
    /// The position of each group in ``groups``, by its parent and its name. The fleet itself has an empty name.
    var groupIndices = [GroupKey(parent: 0, name: ""): 0]
    /// The positions of the groups whose subgroups are listed in the fleet file. Tables may not add groups to these
    /// groups.
    var groupsWithDeclaredChildren: Set<Int> = []
    var beacons: [Fleet.Beacon] = []
    /// The position of each beacon in ``beacons``, by its name.
    var beaconIndices: [String: Int] = [:]
    /// The names of all variables that strings of the file use.
    var usedVariables: Set<String> = []
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
        guard decoder.expect(.fleet, node), let root = decoder.open(FleetFormat.section, node) else { return nil }
        collectVariables(root)
        _ = decoder.read(FileHeader.schema, in: root)
        _ = decoder.read(FileHeader.version, in: root)
        let name = decoder.read(FleetFormat.name, in: root)
        let listeners = decoder.read(FleetFormat.listeners, in: root) ?? []
        let keysFolder = decoder.read(FleetFormat.keys, in: root)
        if let object = decoder.read(FleetFormat.identities, in: root) { rules = identities(object) }
        let template = decoder.read(FleetFormat.template, in: root)
        let notes =
            (decoder.read(FleetFormat.tags, in: root) ?? [])
            + (decoder.read(FleetFormat.attachments, in: root) ?? [])
        groups[0].node = root
        if let defaults = decoder.read(FleetFormat.defaults, in: root) { readDefaults(defaults, into: 0) }
        addGroups(decoder.read(FleetFormat.groups, in: root) ?? [], in: 0)
        // This loop visits only the groups of the fleet file. Tables add further groups during the loop, but those have
        // no `beacons` in the fleet file.
        for index in groups.indices {
            if let node = groups[index].node?["beacons"] { beacons(node, in: index, table: table) }
        }
        checkVariables(of: notes)
        guard let name, let template else { return nil }
        return Fleet(
            name: name, file: file, listeners: listeners, keysFolder: keysFolder, keysNode: root["keys"],
            listenersNode: root["listeners"], template: template, notes: notes, rules: rules, groups: groups,
            beacons: beacons,
            beaconIndices: beaconIndices)
    }

    /// Reports variables of tags and attachments that no beacon has. It is not an error if only some beacons have a
    /// variable.
    private mutating func checkVariables(of notes: [NoteTemplate]) {
        guard !notes.isEmpty else { return }
        var names = Set(Variable.reserved + Variable.allocated.filter { rules.isAllocated($0) } + ["title"])
        for group in groups { names.formUnion(group.variables.keys) }
        for beacon in beacons {
            names.formUnion(beacon.variables.keys)
            if let columns = beacon.row?.table.columns.variables { names.formUnion(columns.keys) }
        }
        for note in notes {
            for name in note.expression.variables where !names.contains(name) {
                let advice =
                    NearestWord.find(name, among: names.sorted()).map { "did you mean \"${\($0)}\"?" }
                    ?? "\"defaults\", groups, beacons and the columns of tables can set it"
                decoder.error("no beacon has the variable \"\(name)\"; \(advice)", at: note.node)
            }
        }
    }

    /// Finds the variables that the strings of the file use.
    private mutating func collectVariables(_ node: JSONNode) {
        switch node.value {
        case .string(let text) where text.contains("${"):
            if let expression = try? Expression(text) { usedVariables.formUnion(expression.variables) }
        case .array(let elements): for element in elements { collectVariables(element) }
        case .object(let members): for member in members { collectVariables(member.value) }
        default: break
        }
    }

    /// Reads the variables of an object, and reports invalid names and values.
    mutating func variables(_ node: JSONNode?) -> [String: Variable] {
        guard case .object(let members) = node?.value else { return [:] }
        var variables: [String: Variable] = [:]
        for member in members {
            if let fault = nameFault(ofVariable: member.key) {
                decoder.error(fault, at: member)
                continue
            }
            guard case .string(let text) = member.value.value else {
                variables[member.key] = Variable(value: .json(JSONValue(member.value)), origin: .node(member.value))
                continue
            }
            do throws(Expression.Fault) {
                variables[member.key] = Variable(value: .text(try Expression(text)), origin: .node(member.value))
            } catch {
                decoder.error(error.description, at: member.value)
            }
        }
        return variables
    }

    /// Reads the controller, the variables and the spread of intervals of `defaults` or of a group.
    private mutating func readDefaults(_ object: JSONNode, into group: Int) {
        groups[group].controller = decoder.read(DefaultsKeys.controller, in: object)
        groups[group].variables = variables(decoder.read(DefaultsKeys.variables, in: object))
        guard let spread = object["intervalSpread"] else { return }
        if let fault = nameFault(ofVariable: Variable.spreadName) {
            decoder.error("\"intervalSpread\" sets \"${\(Variable.spreadName)}\", but \(fault)", at: spread)
        } else if groups[group].variables[Variable.spreadName] != nil {
            decoder.error(
                "\"intervalSpread\" sets the variable \"\(Variable.spreadName)\", which \"variables\" sets as well: "
                    + "remove one of the two", at: spread)
        }
        // If the spread has an error, the variable is set all the same, so that it is not reported as missing.
        let intervals = decoder.read(DefaultsKeys.spread, in: object) ?? AdvertisingInterval.legacyRange
        groups[group].variables[Variable.spreadName] = Variable(value: .spread(intervals), origin: .node(spread))
    }

    /// Returns the reason why a variable may not have this name, or may not be set; `nil` for a valid name.
    func nameFault(ofVariable name: String) -> String? {
        if Variable.reserved.contains(name) {
            return "the variable \"\(name)\" takes its value from the beacon itself and cannot be set"
        }
        if rules.isAllocated(name) {
            return "\"\(name)\" is allocated by \"identities\" and set here as well: remove one of the two"
        }
        if !Expression.isName(name) {
            return "\(ProblemText.quoted(name)) is not a name for a variable: use letters, digits and \"_\", starting "
                + "with a letter or \"_\""
        }
        if !usedVariables.contains(name) {
            let nearest = NearestWord.find(name, among: usedVariables.sorted()).map { "; did you mean \"\($0)\"?" }
            return "nothing uses the variable \"\(name)\"" + (nearest ?? "")
        }
        return nil
    }

    private mutating func identities(_ object: JSONNode) -> AllocationRules {
        var rules = AllocationRules()
        for key in IdentityKeys.section.keys { rules.nodes[key.name] = object[key.name] }
        if let major = decoder.read(IdentityKeys.major, in: object) {
            let per = decoder.read(IdentityKeys.per, in: major)
            rules.major = .init(per: per ?? .site, first: decoder.read(IdentityKeys.firstMajor, in: major) ?? 1)
        }
        if let minor = decoder.read(IdentityKeys.minor, in: object) {
            let within = decoder.read(IdentityKeys.within, in: minor)
            rules.minor = .init(within: within ?? .site, first: decoder.read(IdentityKeys.firstMinor, in: minor) ?? 1)
        }
        if let namespace = decoder.read(IdentityKeys.namespace, in: object) {
            let domain = decoder.read(IdentityKeys.domain, in: namespace)
            rules.namespace = domain ?? decoder.read(IdentityKeys.uuid, in: namespace)
        }
        if let instance = decoder.read(IdentityKeys.instance, in: object) {
            let from = decoder.read(IdentityKeys.from, in: instance)
            let first = decoder.read(IdentityKeys.firstInstance, in: instance)
            rules.instance = from == .serial ? .serial : .counter(first: first ?? 1)
        }
        rules.eidEpoch = decoder.read(IdentityKeys.epoch, in: object)
        checkThatNumbersDiffer(rules, object)
        return rules
    }

    /// Reports an error if two beacons would have the same identity, because minor numbers start again in parts of the
    /// fleet that share a major number.
    private mutating func checkThatNumbersDiffer(_ rules: AllocationRules, _ object: JSONNode) {
        guard let major = rules.major, let minor = rules.minor, major.per.depth < minor.within.depth else { return }
        decoder.error(
            "minor numbers start again in each \(minor.within.rawValue), but all beacons of a \(major.per.rawValue) "
                + "have "
                + "the same major: two beacons would have the same identity; count the minor numbers within "
                + "\"\(major.per.rawValue)\"",
            at: object["minor"]?["within"] ?? object)
    }
}

extension FleetDecoder {
    /// Adds the groups of a list and their subgroups.
    private mutating func addGroups(_ nodes: [JSONNode], in parent: Int) {
        guard !nodes.isEmpty else { return }
        groupsWithDeclaredChildren.insert(parent)
        for object in nodes {
            let level = Fleet.levelNames[groups[parent].path.count]
            guard let name = decoder.read(GroupKeys.name, in: object) else { continue }
            if let first = groupIndices[.init(parent: parent, name: name)] {
                let firstPlace = groups[first].node.map { ", first at \($0.position)" } ?? ""
                decoder.error(
                    "the \(level) \"\(name)\" appears twice\(firstPlace): combine the two",
                    at: object["name"] ?? object)
                continue
            }
            let index = add(group: name, in: parent, node: object)
            groups[index].was = decoder.read(GroupKeys.was, in: object)
            readDefaults(object, into: index)
            switch groups[index].path.count {
            case 1: addGroups(decoder.read(GroupKeys.floors, in: object) ?? [], in: index)
            case 2: addGroups(decoder.read(GroupKeys.rooms, in: object) ?? [], in: index)
            default: break
            }
        }
    }

    private mutating func add(group name: String, in parent: Int, node: JSONNode?) -> Int {
        groupIndices[.init(parent: parent, name: name)] = groups.count
        groups.append(
            Fleet.Group(name: name, parent: parent, path: groups[parent].path + [name], node: node))
        return groups.count - 1
    }

    /// The reason why a group does not exist.
    struct GroupFault: Error {
        let description: String
        /// The position of the wrong name in the path.
        let index: Int
    }

    /// Returns the position of the group with the path `names` inside the group `start`. If a group of the path does
    /// not exist, it is added. Throws an error instead if the fleet file lists the subgroups of its parent.
    mutating func group(_ names: [String], from start: Int) throws(GroupFault) -> Int {
        var group = start
        for (index, name) in names.enumerated() {
            if let child = groupIndices[.init(parent: group, name: name)] {
                group = child
                continue
            }
            if let fault = NameRule.fault(name) { throw GroupFault(description: fault, index: index) }
            let depth = groups[group].path.count
            guard depth < Fleet.depthLimit else {
                throw GroupFault(
                    description: "groups are sites, floors and rooms: use at most three names", index: index)
            }
            if groupsWithDeclaredChildren.contains(group) {
                let siblings = groups.filter { $0.parent == group && $0.path.count == depth + 1 }.map(\.name)
                let nearest = NearestWord.find(name, among: siblings).map { "did you mean \"\($0)\"?" }
                throw GroupFault(
                    description:
                        "the \(Fleet.levelNames[depth]) \(ProblemText.quoted(name)) is not among the groups of the fleet "
                        + "file; " + (nearest ?? "add it there"),
                    index: index)
            }
            group = add(group: name, in: group, node: nil)
        }
        return group
    }
}

extension FleetDecoder {
    /// Adds the beacons of a list or of a table.
    private mutating func beacons(_ node: JSONNode, in group: Int, table: (String) -> Fleet.TableFile) {
        switch node.value {
        case .array: list(node, in: group)
        case .object: self.table(node, in: group, read: table)
        default: decoder.wrongKind(node, expected: "a list of beacons, or { \"csv\": FILE },")
        }
    }

    private mutating func list(_ node: JSONNode, in group: Int) {
        for element in decoder.list(node, of: "beacons") ?? [] {
            guard let object = decoder.open(BeaconKeys.section, element) else { continue }
            let name = decoder.read(BeaconKeys.name, in: object)
            var beaconGroup = group
            if let path = object["group"], let text = decoder.read(BeaconKeys.group, in: object) {
                let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                do throws(GroupFault) {
                    beaconGroup = try self.group(names, from: group)
                } catch {
                    decoder.error(error.description, at: path)
                }
            }
            let beacon = Fleet.Beacon(
                name: name ?? "", title: decoder.read(BeaconKeys.title, in: object), group: beaconGroup, node: object,
                host: decoder.read(BeaconKeys.host, in: object),
                serial: decoder.read(BeaconKeys.serial, in: object), was: decoder.read(BeaconKeys.was, in: object),
                controller: decoder.read(BeaconKeys.controller, in: object),
                position: decoder.read(BeaconKeys.position, in: object),
                variables: variables(decoder.read(BeaconKeys.variables, in: object)))
            if name != nil, let fault = add(beacon) { decoder.error(fault, at: object["name"] ?? object) }
        }
    }

    /// Adds a beacon to the fleet.
    ///
    /// - Returns: `nil` if the beacon was added. If its name is not unique, it is not added, and the result is a
    ///   message about this.
    mutating func add(_ beacon: Fleet.Beacon) -> String? {
        if let first = beaconIndices[beacon.name].map({ beacons[$0] }) {
            let firstPlace =
                if let row = first.row { "\(row.table.table.file):\(row.line)" } else {
                    first.node.map { "\($0.position)" } ?? ""
                }
            return "the name \"\(beacon.name)\" appears twice, first at \(firstPlace)"
        }
        beaconIndices[beacon.name] = beacons.count
        beacons.append(beacon)
        return nil
    }
}
