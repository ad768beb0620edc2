internal import Configuration
internal import Profiles

extension Allocator {
    /// Gives identities up: of beacons that are retired, and of those that this fleet file does not have any more.
    mutating func release(_ releasing: [String]) {
        guard !releasing.isEmpty else { return }
        let wanted = Set(releasing)
        var found: Set<String> = []
        let lock = allocation.lock
        allocation.lock.entries.removeAll { entry in
            let name = lock.name(entry)
            guard wanted.contains(name), entry.isRetired || fleet.names.find(name) == nil else { return false }
            found.insert(name)
            return true
        }
        for name in releasing where !found.contains(name) {
            let reason =
                fleet.names.find(name) == nil
                ? "there is no retired beacon \"\(name)\"" : "\"\(name)\" is in use; take it out of the fleet first"
            report("cannot release: " + reason)
        }
        allocation.changes.released = found.sorted()
    }

    /// Groups that were called otherwise keep their number, and all that was counted in them. What cannot be obeyed is
    /// a problem.
    mutating func renameGroups() {
        let current = Set(fleet.groups.map(\.pathText))
        var claimed: Set<String> = []
        for group in fleet.groups.dropFirst() {
            guard let was = group.was else { continue }
            let old = (group.path.dropLast() + [was]).joined(separator: "/")
            let new = group.pathText
            func refuse(_ message: String) {
                problems.add(message, at: group.node?["was"] ?? fleet.template.node, in: fleet.file)
            }
            guard !current.contains(old) else {
                refuse(
                    "the group \"\(old)\" is still there, so this is not its new name: take \"was\" out where the renaming "
                        + "is done; names that change places go by way of a third one, with `pharos fleet generate` after "
                        + "each step")
                continue
            }
            guard claimed.insert(old).inserted else {
                refuse("another group was \"\(old)\" as well, and only one of them can have its numbers")
                continue
            }
            switch (knows(new), knows(old)) {
            case (_, false):
                if !knows(new), isNumbered(group), !isFirst {
                    refuse("the lock knows no group \"\(old)\" that this could have been; take \"was\" out")
                }
            case (true, true):
                refuse(
                    "the lock has numbers for the group \"\(new)\" and for \"\(old)\": take \"was\" out to keep the first, "
                        + "or give the group a name that the lock does not know")
            case (false, true): rename(old, to: new)
            }
        }
    }

    private static func isBelow(_ path: String, _ top: String) -> Bool { path == top || path.hasPrefix(top + "/") }

    private func knows(_ path: String) -> Bool {
        allocation.lock.scopes.contains { Self.isBelow($0, path) }
            || allocation.lock.majors.contains { Self.isBelow($0.group, path) }
    }

    /// Whether numbers are counted in the group or in groups in it.
    private func isNumbered(_ group: Fleet.Group) -> Bool {
        let depth = max(fleet.rules.major?.per.depth ?? 0, fleet.rules.minor?.within.depth ?? 0)
        guard group.path.count <= depth else { return false }
        return fleet.beacons.contains { fleet.groups[Int($0.group)].path.starts(with: group.path) }
    }

    private mutating func rename(_ old: String, to new: String) {
        for index in allocation.lock.scopes.indices where Self.isBelow(allocation.lock.scopes[index], old) {
            allocation.lock.scopes[index] = new + allocation.lock.scopes[index].dropFirst(old.count)
        }
        for index in allocation.lock.majors.indices where Self.isBelow(allocation.lock.majors[index].group, old) {
            allocation.lock.majors[index].group = new + allocation.lock.majors[index].group.dropFirst(old.count)
        }
    }

    /// Majors by group, and the scopes in which minors are counted.
    mutating func numberGroups() {
        var majors: [String: Int] = [:]
        var space = MinorSpace(first: fleet.rules.major?.first ?? 1)
        for major in allocation.lock.majors {
            majors[major.group] = major.major
            space.use(major.major)
        }
        var scopes: [String: UInt32] = [:]
        for (index, scope) in allocation.lock.scopes.enumerated() {
            scopes[scope] = UInt32(truncatingIfNeeded: index)
        }
        var isUsed = [Bool](repeating: false, count: fleet.groups.count)
        for beacon in fleet.beacons { isUsed[Int(beacon.group)] = true }
        for (number, group) in fleet.groups.enumerated() {
            var own = Int32(-1)
            if let rule = fleet.rules.major, isUsed[number] {
                let path = group.path.prefix(rule.per.depth).joined(separator: "/")
                if let known = majors[path] {
                    own = Int32(truncatingIfNeeded: known)
                } else if let next = space.next(used: { allocation.lock.majors.map(\.major) }) {
                    majors[path] = next
                    allocation.lock.majors.append(.init(group: path, major: next, line: 0))
                    own = Int32(truncatingIfNeeded: next)
                } else {
                    let node = fleet.rules.nodes["major"] ?? fleet.template.node
                    problems.add("the 65536 major numbers are all given out", at: node, in: fleet.file)
                }
            }
            allocation.groupMajors.append(own)
            var scope = UInt32(0)
            if let rule = fleet.rules.minor, isUsed[number] {
                let path = group.path.prefix(rule.within.depth).joined(separator: "/")
                if let known = scopes[path] {
                    scope = known
                } else {
                    scope = UInt32(truncatingIfNeeded: allocation.lock.scopes.count)
                    allocation.lock.scopes.append(path)
                    scopes[path] = scope
                }
            }
            groupScopes.append(scope)
        }
    }
}
