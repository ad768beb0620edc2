internal import Configuration

/// The renamings of groups and beacons, which the fleet file states with `was`.
///
/// The lock records every former name. Therefore a `was` that stays in the fleet file is recognized as already done,
/// even if the former name is in use again. `was` may also be an older name than the last former name.
extension Allocator {
    private static let swapAdvice =
        "to swap two names, use a third name and run `pharos fleet generate` after each step"

    // MARK: Groups

    /// Renames groups in the lock, so that they keep their numbers. An ambiguous renaming is an error.
    mutating func renameGroups() {
        let current = Set(fleet.groups.map(\.pathText))
        var claimedNames: Set<String> = []
        for (index, group) in fleet.groups.enumerated().dropFirst() {
            guard let was = group.was else { continue }
            let parent = group.path.dropLast()
            let new = group.pathText
            var old = (parent + [was]).joined(separator: "/")
            // A renaming that the lock records counts as done. It is done once more if the group with the new name has
            // been retired since then, and the former name is in use again.
            let isFree = !allocation.lock.isInUse(group: new) && allocation.lock.isInUse(group: old)
            let isRecorded = allocation.lock.formerNames(ofGroup: new).contains(was)
            if isRecorded, !isFree || current.contains(old) { continue }
            var isKnown = allocation.lock.knows(group: old)
            let isDone = !isKnown && allocation.lock.knows(group: new)
            func refuse(_ message: String) {
                problems.add(message, at: group.node?["was"] ?? fleet.template.node, in: fleet.file)
            }
            if isDone {
                allocation.lock.record(formerName: was, ofGroup: new)
                continue
            }
            guard !current.contains(old) else {
                refuse(
                    "the group \"\(old)\" is still in the fleet, so this cannot be its new name: remove \"was\" if the "
                        + "renaming is done; " + Self.swapAdvice)
                continue
            }
            guard claimedNames.insert(old).inserted else {
                refuse("two groups have the former name \"\(old)\", and only one of them can keep its numbers")
                continue
            }
            if !isKnown,
                let laterName = allocation.lock.group(formerly: was, in: parent.joined(separator: "/"), notIn: current)
            {
                (old, isKnown) = (laterName, true)
            }
            guard isKnown else {
                if isFirst {
                    allocation.lock.record(formerName: was, ofGroup: new)
                } else if isNumbered(index) {
                    refuse("the lock has no group \"\(old)\" that could have been renamed; remove \"was\"")
                }
                continue
            }
            allocation.lock.renameGroup(old, to: new)
            allocation.lock.record(formerName: was, ofGroup: new)
        }
    }

    /// Returns whether the group has beacons, and its numbers depend on its name: the rules count numbers in groups of
    /// its level or a deeper level.
    private func isNumbered(_ index: Int) -> Bool {
        let path = fleet.groups[index].path
        guard path.count <= fleet.rules.depth else { return false }
        return fleet.beacons.contains { fleet.groups[$0.group].path.starts(with: path) }
    }

    /// Records in the lock which groups are in the fleet. A group without beacons may be renamed before it gets its
    /// first beacon, and a retired group may return.
    mutating func rememberGroups() {
        let current = Set(fleet.groups.map(\.pathText))
        for index in allocation.lock.groups.indices {
            allocation.lock.groups[index].isRetired = !current.contains(allocation.lock.groups[index].path)
        }
        let inUse = allocation.lock.groupPathsInUse
        for group in fleet.groups.dropFirst() where group.path.count <= fleet.rules.depth {
            if !inUse.contains(group.pathText) { allocation.lock.groups.append(.init(path: group.pathText)) }
        }
    }

    // MARK: Beacons

    /// Renames beacons in the lock, so that they keep their identities. An ambiguous renaming is an error.
    ///
    /// - Returns: The former names of the beacons that this call has renamed, by their new names.
    mutating func renameBeacons() -> [String: String] {
        guard fleet.beacons.contains(where: { $0.was != nil }) else { return [:] }
        var entries = Dictionary(grouping: allocation.lock.entries.indices) { allocation.lock.entries[$0].name }
        var laterNames: [String: Set<String>] = [:]
        for entry in allocation.lock.entries {
            for was in entry.was { laterNames[was, default: []].insert(entry.name) }
        }
        var claimedNames: Set<String> = []
        var renamed: [String: String] = [:]
        for beacon in fleet.beacons {
            guard var was = beacon.was else { continue }
            let ownEntries = entries[beacon.name] ?? []
            func hasActiveEntry(_ lockEntries: [Int]?) -> Bool {
                lockEntries?.contains { !allocation.lock.entries[$0].isRetired } == true
            }
            // A retired beacon may have been renamed from `was` to this name before. If another beacon now uses `was`,
            // that beacon may be renamed in the same way.
            let isFree = !hasActiveEntry(ownEntries) && hasActiveEntry(entries[was])
            let isRecorded = ownEntries.contains { allocation.lock.entries[$0].was.contains(was) }
            if isRecorded, !isFree || fleet.beaconIndices[was] != nil { continue }
            if entries[was] == nil, !ownEntries.isEmpty {
                for index in ownEntries { allocation.lock.entries[index].was.append(was) }
                continue
            }
            guard fleet.beaconIndices[was] == nil else {
                refuse(
                    "the beacon \"\(was)\" is still in the fleet, so this cannot be its new name: remove \"was\" if the "
                        + "renaming is done; " + Self.swapAdvice, beacon)
                continue
            }
            guard claimedNames.insert(was).inserted else {
                refuse(
                    "two beacons have the former name \"\(was)\", and only one of them can keep its identity", beacon)
                continue
            }
            if entries[was] == nil {
                guard !isFirst else { continue }
                let laterNamesOfBeacon = laterNames[was] ?? []
                let missingNames = laterNamesOfBeacon.filter { fleet.beaconIndices[$0] == nil && entries[$0] != nil }
                guard missingNames.count == 1, let name = missingNames.first else {
                    let list = laterNamesOfBeacon.sorted().map { "\"\($0)\"" }.joined(separator: " and ")
                    refuse(
                        laterNamesOfBeacon.isEmpty
                            ? "the lock has no beacon \"\(was)\" that could have been renamed; remove \"was\""
                            : "the beacon \"\(was)\" was renamed to \(list) before; remove \"was\"", beacon)
                    continue
                }
                was = name
            }
            let formerEntries = entries[was] ?? []
            guard !hasActiveEntry(ownEntries) || !hasActiveEntry(formerEntries) else {
                refuse(
                    "the lock has an identity in use for \"\(beacon.name)\" and one for \"\(was)\": remove \"was\" to keep "
                        + "the first; `pharos fleet rename \(fleet.file) \(was) \(beacon.name)` keeps the second, and retires "
                        + "the first", beacon)
                continue
            }
            allocation.lock.renameBeacon(was, to: beacon.name)
            allocation.changes.renamed.append(.init(name: beacon.name, other: was))
            renamed[beacon.name] = was
            entries[beacon.name] = formerEntries
            entries[was] = nil
        }
        return renamed
    }

    private mutating func refuse(_ message: String, _ beacon: Fleet.Beacon) {
        problems.add(fleet.place(of: beacon, "was").problem(message))
    }
}

extension AllocationRules {
    /// The depth of the deepest groups that numbers depend on.
    var depth: Int { max(major?.per.depth ?? 0, minor?.within.depth ?? 0) }
}

// MARK: The lock

extension FleetLock {
    /// Returns whether the group with the path `path` is the group `top`, or is inside it.
    static func isIn(_ path: String, _ top: String) -> Bool { path == top || path.hasPrefix(top + "/") }

    /// The paths of all groups that the lock contains, and of the groups around them.
    var groupPaths: Set<String> { Self.withParents(groups.map(\.path) + entries.map(\.scope)) }

    /// The paths of the groups that were in the fleet when the lock was written, and of the groups around them.
    var groupPathsInUse: Set<String> {
        Self.withParents(groups.filter { !$0.isRetired }.map(\.path) + entries.filter { !$0.isRetired }.map(\.scope))
    }

    /// The paths `paths`, and the paths of the groups around them.
    private static func withParents(_ paths: [String]) -> Set<String> {
        var result: Set<String> = []
        for path in paths {
            var path = path[...]
            while !path.isEmpty, result.insert(String(path)).inserted {
                path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
            }
        }
        return result
    }

    func isInUse(group path: String) -> Bool {
        groups.contains { !$0.isRetired && Self.isIn($0.path, path) }
            || entries.contains { !$0.isRetired && Self.isIn($0.scope, path) }
    }

    /// Returns whether a major number in use belongs to the group or one of its subgroups, or a beacon in use is
    /// numbered in one of these groups.
    func hasIdentitiesInUse(group path: String) -> Bool {
        groups.contains { !$0.isRetired && $0.major != nil && Self.isIn($0.path, path) }
            || entries.contains { !$0.isRetired && Self.isIn($0.scope, path) }
    }

    func knows(group path: String) -> Bool {
        groups.contains { Self.isIn($0.path, path) } || entries.contains { Self.isIn($0.scope, path) }
    }

    func knows(beacon name: String) -> Bool { entries.contains { $0.name == name } }

    func formerNames(ofGroup path: String) -> [String] { groups.first { $0.path == path }?.was ?? [] }

    /// The path of the only group in `parent` that formerly had this name and is not in `current`; `nil` if there is no
    /// such group, or more than one.
    func group(formerly name: String, in parent: String, notIn current: Set<String>) -> String? {
        let candidates = groups.filter { group in
            let start = group.path.lastIndex(of: "/").map { group.path[..<$0] } ?? ""
            return start == parent && group.was.contains(name) && !current.contains(group.path)
        }
        return candidates.count == 1 ? candidates[0].path : nil
    }

    /// Records the former name of a group, so that its `was` is not regarded as a new renaming.
    mutating func record(formerName name: String, ofGroup path: String) {
        guard let index = groups.firstIndex(where: { $0.path == path }) else {
            groups.append(.init(path: path, was: [name]))
            return
        }
        if !groups[index].was.contains(name) { groups[index].was.append(name) }
    }

    /// Changes the path of a group and of its subgroups. If another group already has the new path, that group is set
    /// aside with its numbers under another name. The beacons of that group then use the identities that they had in
    /// the renamed group, if they had any.
    mutating func renameGroup(_ old: String, to new: String) {
        var inUse: Set<[String]> = []
        var majors: [Int: String] = [:]
        if knows(group: new) {
            for index in entries.indices where Self.isIn(entries[index].scope, new) && !entries[index].isRetired {
                inUse.insert([entries[index].scope, entries[index].name])
                entries[index].isRetired = true
            }
            for group in groups where Self.isIn(group.path, new) {
                if let major = group.major { majors[major] = group.path }
            }
            replacePath(new, by: Self.asideName(of: new) { name in knows(group: name) })
        }
        replacePath(old, by: new)
        for index in entries.indices where inUse.contains([entries[index].scope, entries[index].name]) {
            entries[index].isRetired = false
        }
        for index in entries.indices where !entries[index].isRetired {
            guard let path = entries[index].major.flatMap({ majors[$0] }) else { continue }
            entries[index].major = groups.first { $0.path == path }?.major ?? entries[index].major
        }
        if let name = old.split(separator: "/").last, Self.plainName(String(name)) == name {
            record(formerName: String(name), ofGroup: new)
        }
        let name = new.split(separator: "/").last.map(String.init)
        for index in groups.indices where groups[index].path == new { groups[index].was.removeAll { $0 == name } }
    }

    private mutating func replacePath(_ old: String, by new: String) {
        for index in entries.indices where Self.isIn(entries[index].scope, old) {
            entries[index].scope = new + entries[index].scope.dropFirst(old.count)
        }
        for index in entries.indices where Self.isIn(entries[index].group, old) {
            entries[index].group = new + entries[index].group.dropFirst(old.count)
        }
        for index in groups.indices where Self.isIn(groups[index].path, old) {
            groups[index].path = new + groups[index].path.dropFirst(old.count)
        }
    }

    /// Changes the name of all identities of a beacon. If another beacon already has the new name, its identities are
    /// retired under another name first. The identity of the renamed beacon in the same group is then active.
    mutating func renameBeacon(_ old: String, to new: String) {
        var scope: String?
        if knows(beacon: new) {
            let aside = Self.asideName(of: new) { name in knows(beacon: name) }
            for index in entries.indices where entries[index].name == new {
                entries[index].name = aside
                if !entries[index].isRetired { scope = entries[index].scope }
                entries[index].isRetired = true
            }
        }
        let isRecorded = Self.plainName(old) == old
        let isInUse = entries.contains { $0.name == old && !$0.isRetired }
        for index in entries.indices where entries[index].name == old {
            entries[index].name = new
            if !isInUse, entries[index].scope == scope {
                entries[index].isRetired = false
                scope = nil
            }
            entries[index].was.removeAll { $0 == new }
            if isRecorded, !entries[index].was.contains(old) { entries[index].was.append(old) }
        }
    }
}
