internal import Configuration
internal import Profiles

extension Allocator {
    mutating func release(_ releasing: [String]) {
        guard !releasing.isEmpty else { return }
        let wanted = Set(releasing)
        var found: Set<String> = []
        let lock = allocation.lock
        allocation.lock.entries.removeAll { entry in
            guard entry.isRetired else { return false }
            let name = lock.name(entry)
            guard wanted.contains(name) else { return false }
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

    /// Groups that were called otherwise keep their number, and all that was counted in them.
    mutating func renameGroups() {
        let current = Set(fleet.groups.map(\.pathText))
        for group in fleet.groups.dropFirst() {
            guard let was = group.was else { continue }
            let old = (group.path.dropLast() + [was]).joined(separator: "/")
            let new = group.pathText
            func isBelow(_ path: String, _ top: String) -> Bool { path == top || path.hasPrefix(top + "/") }
            let knowsNew =
                allocation.lock.scopes.contains { isBelow($0, new) }
                || allocation.lock.majors.contains { isBelow($0.group, new) }
            guard !knowsNew else { continue }
            guard !current.contains(old) else {
                if let node = group.node?["was"] {
                    problems.add(
                        "the group \"\(old)\" is still there, so this is not its new name", at: node, in: fleet.file)
                }
                continue
            }
            for index in allocation.lock.scopes.indices where isBelow(allocation.lock.scopes[index], old) {
                allocation.lock.scopes[index] = new + allocation.lock.scopes[index].dropFirst(old.count)
            }
            for index in allocation.lock.majors.indices where isBelow(allocation.lock.majors[index].group, old) {
                allocation.lock.majors[index].group = new + allocation.lock.majors[index].group.dropFirst(old.count)
            }
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
