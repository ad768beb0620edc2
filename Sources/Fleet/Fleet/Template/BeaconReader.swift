internal import Airtime
internal import BluetoothTypes
internal import Configuration

/// Goes from beacon to beacon and fills the slots of the template for each.
final class BeaconReader {
    let fleet: Fleet
    private(set) var row = CSVRow()
    /// The beacon whose ``row`` is read, and the table that it is in; `nil` for one of a list.
    private var loaded = -1
    private var source: TableSource?
    private var plans = PlanCache()
    /// The plan of the beacon that was filled last.
    private(set) var plan = BeaconPlan(slots: [], faults: [])
    /// By what other beacons have the same plan; `nil` where the beacon has one of its own.
    private(set) var planKey: PlanCache.Key?

    /// The values of all slots behind each other, where each ends, and what each is.
    private(set) var values: [UInt8] = []
    private(set) var ends: [Int] = []
    private(set) var types: [BeaconPlan.ValueType] = []

    init(_ fleet: Fleet) {
        self.fleet = fleet
    }

    func load(_ number: Int) -> TableSource? {
        if loaded == number { return source }
        let beacon = fleet.beacons[number]
        loaded = number
        source = nil
        if case .table(let table) = fleet.sources[Int(beacon.source)] {
            source = table
            table.table.row(at: Int(beacon.place), line: Int(beacon.line), &row)
        }
        return source
    }

    func listed(_ number: Int) -> Fleet.ListedBeacon? {
        let beacon = fleet.beacons[number]
        guard case .list(let listed) = fleet.sources[Int(beacon.source)], Int(beacon.place) < listed.count else {
            return nil
        }
        return listed[Int(beacon.place)]
    }

    private func cell(_ number: Int, _ column: (TableColumns) -> Int?) -> ArraySlice<UInt8>? {
        guard let source = load(number), let place = column(source.columns), place < row.cells.count,
            !row.cells[place].isEmpty
        else { return nil }
        let cell = row.cells[place]
        return cell.hasEscapes ? cell.octets(in: source.table.octets)[...] : source.table.octets[cell.range]
    }

    /// The box's serial number.
    func serial(_ number: Int) -> ArraySlice<UInt8>? {
        let beacon = fleet.beacons[number]
        // The table says where, without a look at the row.
        guard case .table(let source) = fleet.sources[Int(beacon.source)] else {
            return listed(number)?.serial.map { Array($0.utf8)[...] }
        }
        guard beacon.serialCount > 0 else { return nil }
        let start = Int(beacon.serialStart)
        return source.table.octets[start..<start + Int(beacon.serialCount)]
    }

    func host(_ number: Int) -> ArraySlice<UInt8>? {
        cell(number) { $0.host } ?? listed(number)?.host.map { Array($0.utf8)[...] }
    }

    func formerName(_ number: Int) -> String? {
        cell(number) { $0.was }.map { String(decoding: $0, as: UTF8.self) } ?? listed(number)?.was
    }

    func controller(_ number: Int) -> ControllerKind? {
        if let text = cell(number, { $0.controller }) {
            return ControllerKind(rawValue: String(decoding: text, as: UTF8.self))
        }
        if let own = listed(number)?.controller { return own }
        var group = Int(fleet.beacons[number].group)
        while true {
            if let controller = fleet.groups[group].controller { return controller }
            if group == 0 { return nil }
            group = fleet.groups[group].parent
        }
    }

    /// Whether the beacon says where it is.
    func hasPosition(_ number: Int) -> Bool {
        if let source = load(number) {
            return source.columns.coordinates.contains { place in
                place.map { $0 < row.cells.count && !row.cells[$0].isEmpty } ?? false
            }
        }
        return listed(number)?.position != nil
    }

    /// The coordinates as they are written; `nil` where the beacon has none.
    func coordinate(_ number: Int, _ index: Int) -> ArraySlice<UInt8>? {
        if let text = cell(number, { $0.coordinates[index] }) { return text }
        switch (listed(number)?.position, index) {
        case (.plan(let x, _, _), 0): return Array(x.text.utf8)[...]
        case (.plan(_, let y, _), 1): return Array(y.text.utf8)[...]
        case (.plan(_, _, .some(let z)), 2): return Array(z.text.utf8)[...]
        case (.globe(let latitude, _), 3): return Array(latitude.text.utf8)[...]
        case (.globe(_, let longitude), 4): return Array(longitude.text.utf8)[...]
        default: return nil
        }
    }

    /// Fills all slots for a beacon.
    func fill(_ number: Int, _ allocation: FleetAllocation) {
        let beacon = fleet.beacons[number]
        choosePlan(number, beacon)
        // Taken out while they are filled: a class' variables are checked at every access, locals are not.
        var (text, ends, types) = (values, self.ends, self.types)
        (values, self.ends, self.types) = ([], [], [])
        text.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        let octets = load(number)?.table.octets ?? []
        let entry = allocation.lock.entries[Int(allocation.entries[number])]
        let cells = row.cells
        for slot in plan.slots {
            let start = text.count
            for atom in slot.atoms {
                switch atom {
                case .literal(let literal): text.append(contentsOf: literal)
                case .column(let column): cells[column].append(to: &text, from: octets)
                case .name: fleet.names.append(number, to: &text)
                case .major: text.append(decimal: Int(allocation.groupMajors[Int(beacon.group)]))
                case .minor: text.append(decimal: Int(entry.minor))
                case .instance: text.append(hexadecimal: entry.instance, octets: 6)
                case .address: text.append(address: entry.address)
                case .epoch:
                    let time = RFC3339Time(secondsSince1970: entry.epoch == FleetLock.noEpoch ? 0 : Int(entry.epoch))
                    text.append(contentsOf: time.description.utf8)
                case .interval(let intervals):
                    let name = fleet.names.text[fleet.names.range(number)]
                    let own = IntervalSpread.interval(of: name, within: intervals)
                    text.append(contentsOf: DecimalText.thousandths(own.microseconds).utf8)
                }
            }
            ends.append(text.count)
            types.append(Self.type(slot.type, text, start..<text.count))
        }
        (values, self.ends, self.types) = (text, ends, types)
    }

    private static func type(
        _ type: BeaconPlan.ValueType, _ values: [UInt8], _ range: Range<Int>
    ) -> BeaconPlan.ValueType {
        switch type {
        case .numberCell: return PlainNumber.isNumber(values, range) ? .number : .string
        case .booleanCell:
            let text = values[range]
            return text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8) ? .json : .string
        default: return type
        }
    }

    func range(_ slot: Int) -> Range<Int> { (slot == 0 ? 0 : ends[slot - 1])..<ends[slot] }

    private func choosePlan(_ number: Int, _ beacon: Fleet.Beacon) {
        guard let columns = load(number)?.columns else {
            chooseListedPlan(number, beacon)
            return
        }
        var filled: UInt64 = 0
        for index in columns.variables.indices where !row.cells[columns.variables[index].column].isEmpty {
            filled |= 1 << UInt64(index)
        }
        let key = PlanCache.Key(group: beacon.group, source: beacon.source, filled: filled)
        if key == planKey { return }
        planKey = key
        if let known = plans.find(key) {
            plan = known
            return
        }
        var compiler = PlanCompiler(fleet, group: Int(key.group))
        compiler.allColumns = columns.variables
        compiler.filledColumns = columns.variables.enumerated().filter { filled >> UInt64($0.offset) & 1 == 1 }
            .map(\.element)
        plan = compiler.compile()
        plans.insert(plan, key)
    }

    /// Beacons of a list that say nothing of their own share a plan.
    private func chooseListedPlan(_ number: Int, _ beacon: Fleet.Beacon) {
        let listed = listed(number)
        let isPlain = listed.map { $0.variables.isEmpty && $0.host == nil && $0.serial == nil } ?? true
        let key = PlanCache.Key(group: beacon.group, source: beacon.source, filled: 0)
        if isPlain, let known = plans.find(key) {
            (plan, planKey) = (known, key)
            return
        }
        var compiler = PlanCompiler(fleet, group: Int(beacon.group))
        compiler.listed = listed
        plan = compiler.compile()
        planKey = isPlain && plan.faults.isEmpty ? key : nil
        if let planKey { plans.insert(plan, planKey) }
    }

    /// The profile's text.
    func appendProfile(to text: inout [UInt8]) {
        let (values, ends, types) = (self.values, self.ends, self.types)
        var start = 0
        for (index, fixed) in fleet.template.fixedText.enumerated() {
            text.append(contentsOf: fixed)
            guard index < ends.count else { continue }
            if types[index] == .string {
                text.append(quoted: values[start..<ends[index]])
            } else {
                text.append(contentsOf: values[start..<ends[index]])
            }
            start = ends[index]
        }
    }
}

extension BeaconReader {
    struct Place {
        var file: String
        var position: JSONPosition
        var path: JSONPath
    }

    /// Where a value comes from.
    func place(_ origin: BeaconPlan.Origin, of number: Int) -> Place {
        switch origin {
        case .node(let node): return Place(file: fleet.file, position: node.position, path: node.path)
        case .column(let column):
            guard let table = load(number)?.table, column < row.cells.count else {
                return Place(file: fleet.file, position: .init(line: 1, column: 1), path: .root)
            }
            let position = table.position(of: Int(row.cells[column].start), in: row)
            return Place(file: table.file, position: position, path: JSONPath([.key(table.header[column])]))
        }
    }

    /// Where the value at a path of the profile comes from.
    func origin(of path: JSONPath) -> BeaconPlan.Origin {
        fleet.template.slot(at: path).map { plan.slots[$0].origin } ?? .node(fleet.template.node(at: path))
    }

    func place(ofPath path: JSONPath, _ number: Int) -> Place { place(origin(of: path), of: number) }

    /// Where the beacon itself stands, or one of its own columns or keys.
    func place(of number: Int, column name: String = "name") -> Place {
        if let columns = load(number)?.columns {
            let column: Int? =
                switch name {
                case "serial": columns.serial
                case "was": columns.was
                case "controller": columns.controller
                default: nil
                }
            return place(.column(column ?? columns.name), of: number)
        }
        let node = listed(number)?.node ?? fleet.template.node
        return place(.node(node[name] ?? node), of: number)
    }
}
