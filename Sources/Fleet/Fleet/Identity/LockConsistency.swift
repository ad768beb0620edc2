internal import BluetoothTypes
internal import Configuration

/// Whether a lock file gives anything out twice, as it may after edits by hand and after merges.
struct LockConsistency {
    let lock: FleetLock
    let file: String

    init(_ lock: FleetLock, file: String) {
        self.lock = lock
        self.file = file
    }

    func check(_ problems: inout ProblemList) {
        if let fault = NameRule.fault(lock.fleet) {
            report("the fleet's name: " + fault, line: 3, &problems)
        }
        checkGroups(&problems)
        // One after the other: the table of what was seen is as large as half of the lock, and is looked up anywhere.
        checkNames(&problems)
        checkMinors(&problems)
        checkInstances(&problems)
        checkAddresses(&problems)
    }

    private func checkNames(_ problems: inout ProblemList) {
        var names = NamePool()
        names.reserve(lock.entries.count, octets: lock.texts.count)
        var live: [Int32] = []
        live.reserveCapacity(lock.entries.count)
        for (index, entry) in lock.entries.enumerated() {
            let (name, isNew) = names.insert(lock.texts, entry.nameRange)
            if isNew { live.append(-1) }
            guard !entry.isRetired else { continue }
            if live[name] >= 0 {
                let first = lock.entries[Int(live[name])]
                report(
                    "\"\(lock.name(entry))\" is there twice, first in line \(first.line): delete one of the lines",
                    line: entry.line, &problems)
            } else {
                live[name] = Int32(truncatingIfNeeded: index)
            }
        }
    }

    private func checkMinors(_ problems: inout ProblemList) {
        var minors = NumberTable(capacity: lock.entries.count { $0.minor >= 0 })
        for (index, entry) in lock.entries.enumerated() where entry.minor >= 0 {
            guard let first = minors.insert(UInt64(entry.scope) << 16 | UInt64(entry.minor), index) else { continue }
            let scope = lock.scopes[Int(entry.scope)]
            let place = scope.isEmpty ? "" : " in \(scope)"
            twice("the minor \(entry.minor)\(place)", entry, first, &problems)
        }
    }

    private func checkInstances(_ problems: inout ProblemList) {
        var instances = NumberTable(capacity: lock.entries.count { $0.instance != FleetLock.none })
        for (index, entry) in lock.entries.enumerated() where entry.instance != FleetLock.none {
            guard let first = instances.insert(entry.instance, index) else { continue }
            var digits: [UInt8] = []
            digits.append(hexadecimal: entry.instance, octets: 6)
            twice("the instance \(String(decoding: digits, as: UTF8.self))", entry, first, &problems)
        }
    }

    private func checkAddresses(_ problems: inout ProblemList) {
        var addresses = NumberTable(capacity: lock.entries.count { $0.address != FleetLock.none })
        for (index, entry) in lock.entries.enumerated() where entry.address != FleetLock.none {
            let address = DeviceAddress(number: entry.address)
            if !address.isValidStaticRandom {
                report("\(address) is no static random address", line: entry.line, &problems)
            }
            if let first = addresses.insert(entry.address, index) {
                twice("the address \(address)", entry, first, &problems)
            }
        }
    }

    private func checkGroups(_ problems: inout ProblemList) {
        var groups: [String: Int] = [:]
        var majors: [Int: FleetLock.GroupMajor] = [:]
        for major in lock.majors {
            if let first = groups.updateValue(major.line, forKey: major.group) {
                report(
                    "the group \(major.group) is there twice, first in line \(first): delete one of the lines",
                    line: UInt32(truncatingIfNeeded: major.line), &problems)
            }
            if let first = majors.updateValue(major, forKey: major.major) {
                report(
                    "the groups \(first.group) (line \(first.line)) and \(major.group) have the same major "
                        + "\(major.major), as after a merge: delete the newer line, and `pharos fleet generate` gives "
                        + "that group a number of its own", line: UInt32(truncatingIfNeeded: major.line), &problems)
            }
        }
    }

    private func twice(_ what: String, _ entry: FleetLock.Entry, _ first: Int, _ problems: inout ProblemList) {
        let other = lock.entries[first]
        report(
            "\"\(lock.name(other))\" (line \(other.line)) and \"\(lock.name(entry))\" both have \(what), as after a "
                + "merge: delete the newer line, and `pharos fleet generate` gives that beacon an identity of its own",
            line: entry.line, &problems)
    }

    private func report(_ message: String, line: UInt32, _ problems: inout ProblemList) {
        problems.add(FileProblem(message, at: .init(line: Int(line), column: 1), in: file))
    }
}
