internal import Configuration

/// A new name of a group or a beacon, which keeps its identities. Finds the places of the old name in the fleet file
/// and its tables, and changes the name in the lock.
public struct FleetNameChange: Sendable {
    /// The things that have names.
    public enum Kind: String, Hashable, Sendable {
        case group
        case beacon
    }

    /// The reason why a name cannot be changed.
    public enum Fault: Error, Hashable, Sendable {
        /// Neither the fleet nor the lock has the name.
        case unknown(nearest: String?)
        /// A group and a beacon both have this name.
        case ambiguous
        /// The new name is invalid, with the reason.
        case name(String)
        /// The new path would move the group into another group.
        case otherParent
        /// The fleet already has the new name, and still has the old name.
        case taken
        /// The fleet has the new name, and the lock does not have the old name.
        case notInLock
        /// The old name and the new name are the same.
        case same
        /// Only the lock has the old name, and the fleet does not have the new name.
        case notInFleet(nearest: String?)
        /// Only the lock has the old name, and it has identities in use under both names.
        case inUse(nearest: String?)
    }

    public let kind: Kind
    /// The former path of the group, or the former name of the beacon.
    public let old: String
    public let new: String
    /// The new name of the group, without the groups around it.
    private var newName: String { String(new.split(separator: "/").last ?? "") }
    private let fleet: Fleet

    /// - Parameters:
    ///   - old: The name of a beacon, or the path of a group such as `museum/ground`.
    ///   - new: The new name. For a group, the whole new path is accepted as well.
    ///   - kind: The kind of thing to rename; `nil` to find it by the name.
    public init(_ old: String, to new: String, kind: Kind?, in fleet: Fleet, _ lock: FleetLock?) throws(Fault) {
        guard !old.isEmpty else { throw .unknown(nearest: nil) }
        let groups = Set(fleet.groups.map(\.pathText)).subtracting([""])
        let isGroup = kind != .beacon && (groups.contains(old) || lock?.knows(group: old) == true)
        let isBeacon = kind != .group && (fleet.beaconIndices[old] != nil || lock?.knows(beacon: old) == true)
        guard isGroup || isBeacon else {
            var names = kind == .beacon ? [] : groups.union(lock?.groupPaths ?? [])
            if kind != .group { names.formUnion(fleet.beacons.map(\.name) + (lock?.entries.map(\.name) ?? [])) }
            throw .unknown(nearest: NearestWord.find(old, among: names.sorted()))
        }
        guard !isGroup || !isBeacon else { throw .ambiguous }
        self.kind = isGroup ? .group : .beacon
        self.old = old
        self.fleet = fleet
        guard isGroup else {
            self.new = new
            guard new != old else { throw .same }
            if let fault = NameRule.beaconFault(new) { throw .name(fault) }
            guard fleet.beaconIndices[new] == nil || fleet.beaconIndices[old] == nil else { throw .taken }
            guard fleet.beaconIndices[old] == nil else { return }
            guard let lock, lock.knows(beacon: old) else { throw .notInLock }
            let namesInUse = Set(lock.entries.filter { !$0.isRetired }.map(\.name))
            let nearest = Self.nearest(new, among: fleet.beacons.map(\.name).filter { !namesInUse.contains($0) })
            guard let index = fleet.beaconIndices[new] else { throw .notInFleet(nearest: nearest) }
            guard !namesInUse.contains(old) || !namesInUse.contains(new) || fleet.beacons[index].was == old else {
                throw .inUse(nearest: nearest)
            }
            return
        }
        let parent = old.split(separator: "/").dropLast().joined(separator: "/")
        let path = new.contains("/") || parent.isEmpty ? new : parent + "/" + new
        self.new = path
        guard path != old else { throw .same }
        for name in path.split(separator: "/", omittingEmptySubsequences: false) {
            if let fault = NameRule.fault(String(name)) { throw .name(fault) }
        }
        guard groups.contains(old) else {
            guard let lock, lock.knows(group: old) else { throw .notInLock }
            let nearest = Self.nearest(path, among: groups.filter { !lock.hasIdentitiesInUse(group: $0) })
            guard groups.contains(where: { FleetLock.isIn($0, path) }) else { throw .notInFleet(nearest: nearest) }
            let was = fleet.groups.first { $0.pathText == path }?.was.map { parent.isEmpty ? $0 : parent + "/" + $0 }
            guard !lock.isInUse(group: old) || !lock.hasIdentitiesInUse(group: path) || was == old else {
                throw .inUse(nearest: nearest)
            }
            return
        }
        guard path.split(separator: "/").dropLast().joined(separator: "/") == parent else { throw .otherParent }
        guard !groups.contains(path) else { throw .taken }
    }

    /// The only name of `names`, or the name that resembles `name`; `nil` if there is none.
    private static func nearest(_ name: String, among names: some Collection<String>) -> String? {
        names.count == 1 ? names.first : NearestWord.find(name, among: names.sorted())
    }

    /// The name under which ``apply(to:)`` sets aside the group or beacon of the lock that already has the new name;
    /// `nil` if there is none.
    public func asideName(in lock: FleetLock) -> String? {
        switch kind {
        case .group:
            guard lock.knows(group: old), lock.knows(group: new) else { return nil }
            return FleetLock.asideName(of: new) { name in lock.knows(group: name) }
        case .beacon:
            guard lock.knows(beacon: old), lock.knows(beacon: new) else { return nil }
            return FleetLock.asideName(of: new) { name in lock.knows(beacon: name) }
        }
    }

    /// `true` if the fleet file and its tables have the old name. Otherwise only the lock has it.
    public var isOldNameInFiles: Bool {
        kind == .beacon ? fleet.beaconIndices[old] != nil : fleet.groups.contains { $0.pathText == old }
    }

    /// Changes the name in the lock. If another group or beacon of the lock already has the new name, it is set aside
    /// under another name.
    public func apply(to lock: inout FleetLock) {
        switch kind {
        case .group: if lock.knows(group: old) { lock.renameGroup(old, to: new) }
        case .beacon: if lock.knows(beacon: old) { lock.renameBeacon(old, to: new) }
        }
    }

    // MARK: The files

    /// A changed file, with the new name in all places.
    public struct Edit: Sendable {
        /// The name of the file, as the fleet file has it; `nil` for the fleet file itself.
        public var table: String?
        public var octets: [UInt8]
    }

    /// The changed files, with the new name. Everything else in them stays unchanged.
    ///
    /// - Parameter octets: The contents of the fleet file.
    public func edits(of octets: [UInt8]) -> [Edit] {
        guard isOldNameInFiles else { return [] }
        var texts: [(position: JSONPosition, text: String)] = []
        var tables: [ObjectIdentifier: (source: TableSource, cells: [(range: Range<Int>, text: String)])] = [:]
        let depth = old.split(separator: "/").count
        if kind == .group, let node = fleet.groups.first(where: { $0.pathText == old })?.node?["name"] {
            texts.append((node.position, newName))
        }
        for beacon in fleet.beacons {
            let path = fleet.groups[beacon.group].path
            switch kind {
            case .beacon: guard beacon.name == old else { continue }
            case .group: guard FleetLock.isIn(path.joined(separator: "/"), old) else { continue }
            }
            if let row = beacon.row {
                guard let cell = cell(of: row, path, depth) else { continue }
                tables[ObjectIdentifier(row.table), default: (row.table, [])].cells.append(cell)
            } else if kind == .beacon, let node = beacon.node?["name"] {
                texts.append((node.position, new))
            } else if let node = beacon.node?["group"], let text = node.string,
                let newText = Self.replaced(text, path, depth, newName)
            {
                texts.append((node.position, newText))
            }
        }
        var edits: [Edit] = []
        if !texts.isEmpty { edits.append(Edit(table: nil, octets: Self.replacing(texts, in: octets))) }
        for (source, cells) in tables.values.sorted(by: { $0.source.table.file < $1.source.table.file }) {
            var octets = source.table.octets
            for cell in cells.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
                octets.replaceSubrange(cell.range, with: cell.text.utf8)
            }
            edits.append(Edit(table: source.table.file, octets: octets))
        }
        return edits
    }

    /// Finds the cell of `row` that contains the old name. Returns the range of its bytes and its new text; `nil` if
    /// the table is listed inside the renamed group, so that no cell contains the name.
    private func cell(of row: Fleet.Row, _ path: [String], _ depth: Int) -> (range: Range<Int>, text: String)? {
        let (table, columns) = (row.table.table, row.table.columns)
        var cells = CSVRow()
        table.row(at: row.start, line: row.line, &cells)
        func replacement(_ column: Int, _ text: String) -> (range: Range<Int>, text: String)? {
            let cell = cells.cells[column]
            return cell.isEmpty ? nil : (Int(cell.start)..<Int(cell.end), text)
        }
        if kind == .beacon { return replacement(columns.name, new) }
        if let column = columns.group {
            let text = cells.cells[column].string(in: table.octets)
            return Self.replaced(text, path, depth, newName).flatMap { replacement(column, $0) }
        }
        return columns.levels[depth - 1].flatMap { replacement($0, newName) }
    }

    /// Replaces a name in `text`, which contains the last names of the path `path`. `depth` counts from the start of
    /// `path`, where the first name has the depth 1. Returns `nil` if `text` does not contain the name at this depth.
    private static func replaced(_ text: String, _ path: [String], _ depth: Int, _ name: String) -> String? {
        var names = text.split(separator: "/").map(String.init)
        let index = depth - 1 - (path.count - names.count)
        guard names.indices.contains(index) else { return nil }
        names[index] = name
        return names.joined(separator: "/")
    }

    /// Replaces the strings of a JSON text that begin at the given positions.
    private static func replacing(_ texts: [(position: JSONPosition, text: String)], in octets: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var copiedCount = 0
        var position = JSONPosition(line: 1, column: 1)
        var index = octets.starts(with: TextEncoding.byteOrderMark) ? TextEncoding.byteOrderMark.count : 0
        var remainingTexts = texts.sorted { $0.position < $1.position }[...]
        while index < octets.count, let nextText = remainingTexts.first {
            let octet = octets[index]
            if position == nextText.position, octet == UInt8(ascii: "\"") {
                var end = index + 1
                while end < octets.count, octets[end] != UInt8(ascii: "\"") {
                    end += octets[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                result += octets[copiedCount..<index] + Array(JSONValue.string(nextText.text).line.utf8)
                copiedCount = min(end + 1, octets.count)
                remainingTexts = remainingTexts.dropFirst()
            }
            let endsLine = octet == 0x0A || octet == 0x0D && !(index + 1 < octets.count && octets[index + 1] == 0x0A)
            if endsLine {
                position = JSONPosition(line: position.line + 1, column: 1)
            } else if octet != 0x0D, octet & 0xC0 != 0x80 {
                position.column += 1
            }
            index += 1
        }
        return result + octets[copiedCount...]
    }
}

extension FleetAllocation {
    /// The number of beacons that have the new name, or are in the group that has it.
    public func count(of change: FleetNameChange) -> Int {
        fleet.beacons.count { beacon in
            change.kind == .beacon
                ? beacon.name == change.new : FleetLock.isIn(fleet.groups[beacon.group].pathText, change.new)
        }
    }
}
