internal import BluetoothTypes
internal import Configuration

extension LockReader {
    mutating func read(_ root: JSONNode) {
        var decoder = ConfigurationDecoder()
        if let version = decoder.required("version", in: root, "\(FleetLock.version)"),
            let number = decoder.number(version), number.integer != FleetLock.version
        {
            problems.add(
                "the lock file is of version \(ProblemText.shortened(number.text)), this Pharos knows "
                    + "\(FleetLock.version): use the newer Pharos that wrote it", at: version, in: file)
            return
        }
        guard let object = decoder.object(root, keys: FleetLock.keys) else {
            problems.add(decoder.problems, in: file)
            return
        }
        if let name = decoder.text(decoder.required("fleet", in: object, "whose lock this is")) { lock.fleet = name }
        if let groups = object["groups"], case .array(let elements) = groups.value {
            for element in elements {
                guard let group = decoder.object(element, keys: FleetLock.groupKeys) else { continue }
                let name = decoder.text(decoder.required("group", in: group, "the group's path"))
                let major = decoder.integer(
                    decoder.required("major", in: group, "its number"), in: AllocationRules.numberRange)
                guard let name, let major else { continue }
                lock.majors.append(.init(group: name, major: major, line: element.position.line))
            }
        } else {
            decoder.error("a list of \"groups\" is expected, which may be empty", at: object["groups"] ?? object)
        }
        problems.add(decoder.problems, in: file)
        if let beacons = object["beacons"], case .array(let elements) = beacons.value {
            for element in elements { read(entry: element, lineOffset: 0) }
        } else {
            problems.add(
                "a list of \"beacons\" is expected, which may be empty", at: object["beacons"] ?? object, in: file)
        }
    }

    mutating func read(entry node: JSONNode, lineOffset: Int) {
        var decoder = ConfigurationDecoder()
        defer {
            for problem in decoder.problems {
                var moved = problem
                moved.position.line += lineOffset
                problems.add(moved.inFile(file))
            }
        }
        guard let object = decoder.object(node, keys: FleetLock.beaconKeys) else { return }
        let name = decoder.text(decoder.required("name", in: object, "whose identity this is"))
        if let name, let fault = NameRule.fault(name) { decoder.error(fault, at: object["name"] ?? object) }
        let scope = decoder.text(object["in"])
        let minor = decoder.integer(object["minor"], in: AllocationRules.numberRange)
        let instance = decoder.octets(object["instance"], count: 6)
        let address = decoder.text(object["address"])
        let device = address.flatMap { DeviceAddress($0) }
        if let address, device == nil {
            decoder.error("\(ProblemText.quoted(address)) is no address", at: object["address"] ?? object)
        }
        let epochText = decoder.text(object["eidEpoch"])
        let epoch = epochText.flatMap { RFC3339Time($0) }
        if let epochText, epoch == nil {
            decoder.error("\(ProblemText.quoted(epochText)) is no time (RFC 3339)", at: object["eidEpoch"] ?? object)
        }
        let box = decoder.text(object["box"])
        if let box, !NameRule.isWord(Array(box.utf8), 0..<box.utf8.count) {
            decoder.error("\(ProblemText.quoted(box)) is no serial number", at: object["box"] ?? object)
        }
        let earlier = decoder.list(object["earlierBoxes"], of: "serial numbers")?.compactMap { decoder.text($0) }
        let isRetired = decoder.boolean(object["retired"])
        guard !decoder.problems.contains(where: { $0.severity == .error }), let name else { return }
        var entry = FleetLock.Entry(
            nameStart: lock.store(name.utf8), nameCount: UInt8(truncatingIfNeeded: name.utf8.count))
        entry.line = UInt32(truncatingIfNeeded: node.position.line + lineOffset)
        if let scope {
            let octets = Array(scope.utf8)
            if let known = scopeNumbers[octets] {
                entry.scope = known
            } else {
                entry.scope = lock.scope(scope)
                scopeNumbers[octets] = entry.scope
            }
        }
        if let minor { entry.minor = Int32(truncatingIfNeeded: minor) }
        if let instance { entry.instance = instance.reduce(0) { $0 << 8 | UInt64($1) } }
        if let device { entry.address = device.number }
        if let epoch { entry.epoch = Int64(epoch.secondsSince1970) }
        if let box {
            entry.boxStart = lock.store(box.utf8)
            entry.boxCount = UInt8(truncatingIfNeeded: box.utf8.count)
        }
        if let earlier, !earlier.isEmpty {
            lock.earlierBoxes.append(earlier)
            entry.earlier = UInt32(truncatingIfNeeded: lock.earlierBoxes.count)
        }
        entry.isRetired = isRetired ?? false
        lock.entries.append(entry)
    }
}
