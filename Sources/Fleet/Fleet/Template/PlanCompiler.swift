internal import BluetoothTypes
internal import Configuration

/// Follows variables to what they stand for.
struct PlanCompiler {
    let fleet: Fleet
    let group: Int
    /// Which columns of the table have something in them; `nil` for a beacon of a list.
    var filledColumns: [(name: String, column: Int)] = []
    /// All columns for variables, the empty ones too.
    var allColumns: [(name: String, column: Int)] = []
    var listed: Fleet.ListedBeacon?
    private var faults: [BeaconPlan.Fault] = []
    /// What was found for variables that somebody sets, so that each is followed once.
    private var known: [String: Resolved] = [:]
    /// So many variables may need one another in a row.
    private static let depthLimit = 64
    /// So many pieces and octets may a value have: no profile takes a longer one.
    private static let sizeLimit = 4096

    init(_ fleet: Fleet, group: Int) {
        self.fleet = fleet
        self.group = group
    }

    private struct Resolved {
        var atoms: [BeaconPlan.Atom]
        var type: BeaconPlan.ValueType
        /// A cell that stands alone: its type depends on the place that it fills.
        var isCell = false
        var origin: BeaconPlan.Origin
        /// Octets of literals; what beacons put in counts for one.
        var size = 1
    }

    mutating func compile() -> BeaconPlan {
        let slots = fleet.template.slots.map { slot in
            let origin = BeaconPlan.Origin.node(slot.node ?? fleet.template.node)
            let value = resolve(slot.expression, at: origin, path: [])
            var type = value.type
            if slot.kind.takesStringsOnly, type == .number { type = .string }
            if value.isCell {
                type = slot.kind.takesNumbers ? .numberCell : slot.kind == .boolean ? .booleanCell : .string
            }
            return BeaconPlan.Slot(atoms: Self.joined(value.atoms), type: type, origin: value.origin)
        }
        return BeaconPlan(slots: slots, faults: faults)
    }

    /// Literals that follow each other become one.
    private static func joined(_ atoms: [BeaconPlan.Atom]) -> [BeaconPlan.Atom] {
        var result: [BeaconPlan.Atom] = []
        for atom in atoms {
            if case .literal(let more) = atom, case .literal(let text) = result.last {
                result[result.count - 1] = .literal(text + more)
            } else {
                result.append(atom)
            }
        }
        return result
    }

    private mutating func resolve(
        _ expression: Expression, at origin: BeaconPlan.Origin, path: [String]
    ) -> Resolved {
        if let whole = expression.wholeVariable { return resolve(whole, at: origin, path: path) }
        var result = Resolved(atoms: [], type: .string, origin: origin)
        for part in expression.parts {
            switch part {
            case .literal(let text):
                result.atoms.append(.literal(Array(text.utf8)))
                result.size += text.utf8.count
            case .variable(let name):
                let value = resolve(name, at: origin, path: path)
                if value.type == .json {
                    faults.append(
                        .init(
                            message: "the variable \"\(name)\" is neither a string nor a number, so it cannot stand "
                                + "within a text", origin: value.origin))
                }
                result.atoms += value.atoms
                result.size += value.size
                guard result.size <= Self.sizeLimit else {
                    faults.append(
                        .init(
                            message: "with the variable \"\(name)\" this value has more than \(Self.sizeLimit) octets",
                            origin: origin))
                    return Resolved(atoms: [], type: .string, origin: origin)
                }
                // What this beacon has and others have not is what somebody would have to change.
                if value.origin.isCloser(than: result.origin) { result.origin = value.origin }
            }
        }
        return result
    }

    private mutating func resolve(_ name: String, at origin: BeaconPlan.Origin, path: [String]) -> Resolved {
        if path.contains(name) {
            let loop = (path + [name]).drop { $0 != name }.joined(separator: " → ")
            faults.append(.init(message: "the variables need each other: \(loop)", origin: origin))
            return Resolved(atoms: [], type: .string, origin: origin)
        }
        guard path.count < Self.depthLimit else {
            let start = path.prefix(3).joined(separator: " → ")
            faults.append(
                .init(
                    message: "more than \(Self.depthLimit) variables need one another in a row: \(start) → …",
                    origin: origin))
            return Resolved(atoms: [], type: .string, origin: origin)
        }
        if let value = builtIn(name, origin) { return value }
        if let column = filledColumns.first(where: { $0.name == name })?.column {
            return Resolved(atoms: [.column(column)], type: .string, isCell: true, origin: .column(column))
        }
        if let value = known[name] { return value }
        if let variable = listed?.variables[name] { return remembered(name, resolve(variable, path: path + [name])) }
        var number = group
        while true {
            if let variable = fleet.groups[number].variables[name] {
                return remembered(name, resolve(variable, path: path + [name]))
            }
            if number == 0 { break }
            number = fleet.groups[number].parent
        }
        fail(name, origin)
        return Resolved(atoms: [], type: .string, origin: origin)
    }

    private mutating func remembered(_ name: String, _ value: Resolved) -> Resolved {
        known[name] = value
        return value
    }

    private mutating func fail(_ name: String, _ origin: BeaconPlan.Origin) {
        if let column = allColumns.first(where: { $0.name == name })?.column {
            faults.append(
                .init(
                    message: "the variable \"\(name)\" is not set: this cell is empty, and neither a group nor "
                        + "\"defaults\" has it", origin: .column(column)))
            return
        }
        switch name {
        case "host", "serial":
            faults.append(
                .init(message: "this beacon has no \"\(name)\", which \"${\(name)}\" needs", origin: ownOrigin(origin)))
        case "site", "floor", "room":
            faults.append(
                .init(
                    message: "this beacon is in no \(name), which \"${\(name)}\" needs", origin: ownOrigin(origin)))
        default:
            var known = Set(
                Variable.reserved + filledColumns.map(\.name) + (listed.map { Array($0.variables.keys) } ?? []))
            var number = group
            while true {
                known.formUnion(fleet.groups[number].variables.keys)
                if number == 0 { break }
                number = fleet.groups[number].parent
            }
            known.formUnion(FleetTemplate.allocatedNames.filter { fleet.rules.isAllocated($0) })
            let nearest = NearestWord.find(name, among: known.sorted()).map { "did you mean \"${\($0)}\"?" }
            let rule = FleetTemplate.allocatedNames.contains(name) ? "\"identities\" has no rule for it, and " : ""
            faults.append(
                .init(
                    message: "the variable \"\(name)\" is not set; "
                        + (nearest ?? rule
                            + "\"defaults\", groups, beacons and the columns of tables can set it"),
                    origin: origin))
        }
    }

    private func ownOrigin(_ origin: BeaconPlan.Origin) -> BeaconPlan.Origin {
        listed.map { .node($0.node) } ?? origin
    }

    private mutating func resolve(_ variable: Variable, path: [String]) -> Resolved {
        let origin = BeaconPlan.Origin.node(variable.node)
        switch variable.value {
        case .text(let expression): return resolve(expression, at: origin, path: path)
        case .json(let value):
            let type: BeaconPlan.ValueType = if case .number = value { .number } else { .json }
            return Resolved(atoms: [.literal(Array(value.line.utf8))], type: type, origin: origin)
        case .spread(let intervals): return Resolved(atoms: [.interval(intervals)], type: .number, origin: origin)
        }
    }

    /// What beacons have without anybody setting it.
    private func builtIn(_ name: String, _ origin: BeaconPlan.Origin) -> Resolved? {
        func value(_ atom: BeaconPlan.Atom, _ type: BeaconPlan.ValueType = .string) -> Resolved {
            Resolved(atoms: [atom], type: type, origin: origin)
        }
        func text(_ text: String?) -> Resolved? { text.map { value(.literal(Array($0.utf8))) } }
        let path = fleet.groups[group].path
        switch name {
        case "name": return value(.name)
        case "group": return text(path.joined(separator: "/"))
        case "site", "floor", "room":
            guard let level = Fleet.levelNames.firstIndex(of: name), level < path.count else { return nil }
            return text(path[level])
        case "host": return text(listed?.host)
        case "serial": return text(listed?.serial)
        case "address": return fleet.template.hasAddress ? value(.address) : nil
        case "eidEpoch": return fleet.template.hasEpoch ? value(.epoch) : nil
        case "major" where fleet.rules.major != nil: return value(.major, .number)
        case "minor" where fleet.rules.minor != nil: return value(.minor, .number)
        case "instance" where fleet.rules.instance != nil: return value(.instance)
        case "namespace": return fleet.rules.namespace.flatMap { text($0.description) }
        default: return nil
        }
    }
}

/// How the slots of the template are filled for beacons of one group that set the same variables.
struct BeaconPlan: Sendable {
    /// A piece of a value.
    enum Atom: Hashable, Sendable {
        case literal([UInt8])
        /// A cell of the table.
        case column(Int)
        case name
        case major
        case minor
        case instance
        case address
        case epoch
        /// The beacon's own interval of a spread, in ms.
        case interval(ClosedRange<AdvertisingInterval>)
    }

    /// What a value is in JSON.
    enum ValueType: UInt8, Hashable, Sendable {
        case string
        case number
        /// `true`, `false`, `null`, a list or an object, as JSON text.
        case json
        /// A number where the cell's text is one, else a string.
        case numberCell
        /// A boolean where the cell's text is one, else a string.
        case booleanCell
    }

    /// Where a value comes from, for messages.
    enum Origin: Sendable {
        case node(JSONNode)
        case column(Int)

        /// How near to one beacon it stands: the template and "defaults" are for all, a group for some, a beacon's own
        /// variable or cell for itself.
        var closeness: Int {
            guard case .node(let node) = self else { return 3 }
            if node.path.components.contains(.key("beacons")) { return 2 }
            return node.path.components.first == .key("groups") ? 1 : 0
        }

        func isCloser(than other: Origin) -> Bool { closeness > other.closeness }
    }

    struct Slot: Sendable {
        var atoms: [Atom]
        var type: ValueType
        var origin: Origin
    }

    struct Fault: Sendable {
        var message: String
        var origin: Origin
    }

    var slots: [Slot]
    var faults: [Fault]
}

/// The plans that were made, so that beacons of one group share theirs.
struct PlanCache: Sendable {
    struct Key: Hashable, Sendable {
        var group: UInt32
        var source: UInt32
        /// Which columns of the table have something in them.
        var filled: UInt64
    }

    /// More are not kept: those of a fleet with a room for every beacon would fill the memory.
    private static let limit = 16_384

    private var plans: [Key: BeaconPlan] = [:]

    func find(_ key: Key) -> BeaconPlan? { plans[key] }

    mutating func insert(_ plan: BeaconPlan, _ key: Key) {
        if plans.count >= Self.limit { plans.removeAll() }
        plans[key] = plan
    }
}
