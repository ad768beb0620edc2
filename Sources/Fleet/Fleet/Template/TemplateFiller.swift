internal import BluetoothTypes
internal import Configuration

/// Fills the template for one beacon.
struct TemplateFiller {
    /// The reason why a value cannot be filled.
    struct Fault {
        var message: String
        var origin: ValueOrigin
    }

    /// The values of the template's slots.
    private(set) var values: [JSONValue] = []
    /// The origin of each value.
    private(set) var origins: [ValueOrigin] = []
    private(set) var faults: [Fault] = []
    /// The tags of the beacon, each once.
    private(set) var tags: [String] = []
    private(set) var attachments: [BeaconAttachment] = []

    private let fleet: Fleet
    private let beacon: Fleet.Beacon
    private let group: Fleet.Group
    private let identity: FleetAllocation.Identity
    /// The values of the variables that were already resolved, so that each variable is resolved once.
    private var resolvedVariables: [String: Resolved] = [:]

    /// The maximum length of a chain of variables that refer to each other.
    private static let depthLimit = 64
    /// The maximum length of a text with variables, in bytes. No profile accepts a longer text.
    private static let sizeLimit = 4096

    private struct Resolved {
        var value: JSONValue
        /// `true` if the value is a single cell: its JSON type depends on the place that it fills.
        var isCell = false
        var origin: ValueOrigin
    }

    /// - Parameters:
    ///   - index: The position of the beacon in the fleet.
    ///   - beacon: A copy of the beacon with changed cells, for which the template is filled; `nil` for the beacon of
    ///     the fleet.
    init(_ fleet: Fleet, _ index: Int, _ identity: FleetAllocation.Identity, as beacon: Fleet.Beacon? = nil) {
        self.fleet = fleet
        self.identity = identity
        self.beacon = beacon ?? fleet.beacons[index]
        group = fleet.groups[self.beacon.group]
        values.reserveCapacity(fleet.template.slots.count)
        for slot in fleet.template.slots {
            let resolved = resolve(slot.expression, at: .node(slot.node ?? fleet.template.node), path: [])
            var value = resolved.value
            if resolved.isCell, case .string(let text) = value {
                let cell = slot.type == .string ? text : self.beacon.row?.table.table.withDecimalPoint(text) ?? text
                value = slot.type.value(ofCell: cell)
            }
            if slot.type == .string, case .number(let number) = value { value = .string(number.text) }
            values.append(value)
            origins.append(resolved.origin)
        }
        for note in fleet.notes { fill(note) }
    }

    /// Fills a tag or an attachment. It is left out if one of its variables has no value for this beacon.
    private mutating func fill(_ note: NoteTemplate) {
        let hasValues = note.expression.variables.allSatisfy { name in
            name == "title" || builtIn(name) != nil || variable(name) != nil
        }
        guard hasValues else { return }
        let resolved = resolve(note.expression, at: .node(note.node), path: [])
        let text: String
        switch resolved.value {
        case .string(let string): text = string
        case .number(let number): text = number.text
        default: return fail("a tag or an attachment must be a text, but this value is not", resolved.origin)
        }
        let count = text.unicodeScalars.count
        guard count <= note.limit else {
            return fail("\(count) characters are more than the maximum of \(note.limit)", resolved.origin)
        }
        if let key = note.key {
            attachments.append(.init(key: key, text: text))
        } else if !text.isEmpty, !tags.contains(text) {
            tags.append(text)
        }
    }

    /// The origin of the value at a path of the profile.
    func origin(of path: JSONPath) -> ValueOrigin {
        fleet.template.slot(at: path).map { origins[$0] } ?? .node(fleet.template.node(at: path))
    }

    /// The place in the template of the key at `path` of the profile.
    func originOfKey(at path: JSONPath) -> ValueOrigin { .node(fleet.template.key(at: path)) }

    private mutating func resolve(_ expression: Expression, at origin: ValueOrigin, path: [String]) -> Resolved {
        if let name = expression.wholeVariable { return resolve(name, at: origin, path: path) }
        var text = ""
        var result = Resolved(value: "", origin: origin)
        for part in expression.parts {
            switch part {
            case .literal(let literal): text += literal
            case .variable(let name):
                let resolved = resolve(name, at: origin, path: path)
                switch resolved.value {
                case .string(let string): text += string
                case .number(let number): text += number.text
                default:
                    fail(
                        "the variable \"\(name)\" is neither a string nor a number, so it cannot be part of a text",
                        resolved.origin)
                }
                guard text.utf8.count <= Self.sizeLimit else {
                    fail("with the variable \"\(name)\" this value has more than \(Self.sizeLimit) bytes", origin)
                    return result
                }
                // A problem is reported at the most specific value, because this is the value that the user must
                // change.
                if resolved.origin.isCloser(than: result.origin) { result.origin = resolved.origin }
            }
        }
        result.value = .string(text)
        return result
    }

    private mutating func resolve(_ name: String, at origin: ValueOrigin, path: [String]) -> Resolved {
        if path.contains(name) {
            let loop = (path + [name]).drop { $0 != name }.joined(separator: " → ")
            fail("the variables depend on each other in a loop: \(loop)", origin)
            return Resolved(value: "", origin: origin)
        }
        guard path.count < Self.depthLimit else {
            let start = path.prefix(3).joined(separator: " → ")
            fail("a chain of variables is longer than \(Self.depthLimit): \(start) → …", origin)
            return Resolved(value: "", origin: origin)
        }
        if let value = builtIn(name) { return Resolved(value: value, origin: origin) }
        if let resolved = resolvedVariables[name] { return resolved }
        guard let variable = variable(name) else {
            if name == "title" { return Resolved(value: .string(beacon.title ?? beacon.name), origin: origin) }
            failUnset(name, origin)
            return Resolved(value: "", origin: origin)
        }
        let resolved = resolve(variable, path: path + [name])
        resolvedVariables[name] = resolved
        return resolved
    }

    private mutating func resolve(_ variable: Variable, path: [String]) -> Resolved {
        switch variable.value {
        case .text(let expression): return resolve(expression, at: variable.origin, path: path)
        case .json(let value): return Resolved(value: value, origin: variable.origin)
        case .cell(let text): return Resolved(value: .string(text), isCell: true, origin: variable.origin)
        case .spread(let intervals):
            let interval = AdvertisingInterval.spread(beacon.name, over: intervals)
            return Resolved(
                value: .number(JSONNumber(thousandths: interval.microseconds)), origin: variable.origin)
        }
    }

    /// The variable of the beacon, or of the innermost group that sets it.
    private func variable(_ name: String) -> Variable? {
        if let variable = beacon.variables[name] { return variable }
        for group in fleet.groups(around: beacon.group) {
            if let variable = group.variables[name] { return variable }
        }
        return nil
    }

    /// The value of a variable that the fleet file does not set.
    private func builtIn(_ name: String) -> JSONValue? {
        switch name {
        case "name": return .string(beacon.name)
        case "group": return .string(group.pathText)
        case "site", "floor", "room":
            guard let level = Fleet.levelNames.firstIndex(of: name), level < group.path.count else { return nil }
            return .string(group.path[level])
        // For a row of a table, these values are cells, and problems are reported at the cell.
        case "host": return beacon.row == nil ? beacon.host.map(JSONValue.string) : nil
        case "serial": return beacon.row == nil ? beacon.serial.map(JSONValue.string) : nil
        case "address": return identity.address.map { .string($0.description) }
        case "eidEpoch": return identity.epoch.map { .string($0.description) }
        case "major" where fleet.rules.major != nil: return .integer(identity.major ?? 0)
        case "minor" where fleet.rules.minor != nil: return .integer(identity.minor ?? 0)
        case "instance" where fleet.rules.instance != nil:
            return .string(FleetLock.instanceText(identity.instance ?? 0))
        case "namespace": return fleet.rules.namespace.map { .string($0.description) }
        default: return nil
        }
    }

    private mutating func fail(_ message: String, _ origin: ValueOrigin) {
        faults.append(Fault(message: message, origin: origin))
    }

    private mutating func failUnset(_ name: String, _ origin: ValueOrigin) {
        let ownOrigin = beacon.node.map { ValueOrigin.node($0) } ?? origin
        if let column = beacon.row?.table.columns.variables[name] {
            fail(
                "the variable \"\(name)\" is not set: this cell is empty, and neither a group nor \"defaults\" has it",
                .column(column))
            return
        }
        switch name {
        case "host", "serial": fail("this beacon has no \"\(name)\", which \"${\(name)}\" needs", ownOrigin)
        case "site", "floor", "room": fail("this beacon is in no \(name), which \"${\(name)}\" needs", ownOrigin)
        default:
            var names = Set(Variable.reserved + beacon.variables.keys)
            for group in fleet.groups(around: beacon.group) { names.formUnion(group.variables.keys) }
            names.formUnion(Variable.allocated.filter { fleet.rules.isAllocated($0) })
            let nearest = NearestWord.find(name, among: names.sorted()).map { "did you mean \"${\($0)}\"?" }
            let rule = Variable.allocated.contains(name) ? "\"identities\" has no rule for it, and " : ""
            fail(
                "the variable \"\(name)\" is not set; "
                    + (nearest ?? rule + "\"defaults\", groups, beacons and the columns of tables can set it"), origin)
        }
    }
}
