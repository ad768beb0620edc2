internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Profiles

extension Allocator {
    mutating func nextMinor(scope: UInt32, _ number: Int) -> Int32 {
        let entries = allocation.lock.entries
        let next = given.minors[Int(scope)].next {
            entries.filter { $0.scope == scope && $0.minor >= 0 }.map { Int($0.minor) }
        }
        if let next { return Int32(truncatingIfNeeded: next) }
        let path = allocation.lock.scopes[Int(scope)]
        let whose = path.isEmpty ? "the fleet" : "\"\(path)\""
        let node = fleet.rules.nodes["minor"] ?? fleet.template.node
        problems.add(
            "the 65536 minor numbers of \(whose) are all given out; count them within a smaller part "
                + "(\"within\"), or release retired beacons", at: node, in: fleet.file)
        return -1
    }

    mutating func newInstance(
        _ rule: AllocationRules.Instance, _ serial: String?, _ number: Int, _ index: Int
    ) -> UInt64 {
        switch rule {
        case .counter:
            let given = given
            while given.nextInstance <= AllocationRules.instanceLimit, given.instances.contains(given.nextInstance) {
                given.nextInstance += 1
            }
            guard given.nextInstance <= AllocationRules.instanceLimit else {
                problems.add(
                    "the instance numbers up to ffffffffffff are all given out: the lock has the last one; release the "
                        + "retired beacons with the highest ones, or take serial numbers (\"from\": \"serial\")",
                    at: fleet.rules.nodes["instance"] ?? fleet.template.node, in: fleet.file)
                return FleetLock.none
            }
            let instance = given.nextInstance
            given.nextInstance += 1
            _ = given.instances.insert(instance, index)
            return instance
        case .serial:
            let place = reader.place(of: number, column: "serial")
            guard let serial else {
                let message =
                    "the instance comes from the box's serial number, and this beacon has none: add its \"serial\""
                problems.add(FileProblem(message, at: place.position, path: place.path, in: place.file))
                return FleetLock.none
            }
            let instance = Self.instance(fromSerial: serial)
            if let first = given.instances.insert(instance, index) {
                let other = allocation.lock.name(allocation.lock.entries[first])
                if other == fleet.names.string(number), first >= isTaken.count || !isTaken[first] {
                    // The same box under the same name, counted in another group from now on: its number goes with it.
                    allocation.lock.entries[first].instance = FleetLock.none
                    return instance
                }
                let isGone = fleet.names.find(other) == nil
                let message =
                    "the serial number \"\(serial)\" gives the same instance as that of \"\(other)\""
                    + (isGone ? "; `pharos fleet generate --release \(other)` gives that up" : "")
                problems.add(FileProblem(message, at: place.position, path: place.path, in: place.file))
                return FleetLock.none
            }
            return instance
        }
    }

    /// The last 12 digits of a hexadecimal serial number; of another one the first 12 of its fingerprint.
    static func instance(fromSerial serial: String) -> UInt64 {
        let digits = serial.filter { $0 != ":" && $0 != "-" }
        let isHexadecimal = !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        let source =
            isHexadecimal ? String(digits.suffix(12)) : String(Fingerprint.text(of: Array(serial.utf8)).prefix(12))
        return UInt64(source, radix: 16) ?? 0
    }

    /// 46 bits that follow from the fleet's and the beacon's names; others where somebody has these already.
    mutating func newAddress(_ number: Int) -> UInt64 {
        let range = fleet.names.range(number)
        let text = fleet.names.text
        var attempt: UInt64 = 0
        while true {
            let bits = StableHash.of(text, range, seed: seed &+ attempt) >> 16
            let address = bits | 0xC000_0000_0000
            attempt += 1
            guard DeviceAddress(number: address).isValidStaticRandom else { continue }
            if given.addresses.insert(address, number) == nil { return address }
        }
    }
}

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
