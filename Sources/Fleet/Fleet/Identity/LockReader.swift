internal import BluetoothTypes
public import Configuration

extension FleetLock {
    /// Reads a lock file.
    ///
    /// Its own lines are read fast; lines that somebody has written or changed by hand are read as the JSON that they
    /// are.
    ///
    /// - Returns: `nil` where there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8], file: String) -> (lock: FleetLock?, problems: [FileProblem]) {
        var reader = LockReader(octets, file: file)
        reader.read()
        let hasErrors = reader.problems.hasErrors
        return (hasErrors ? nil : reader.lock, reader.problems.sorted)
    }
}

/// Reads a lock file line by line.
private struct LockReader {
    private static let keys = ["version", "fleet", "groups", "beacons"]
    private static let groupKeys = ["group", "major", "check"]
    private static let beaconKeys = [
        "name", "in", "minor", "instance", "address", "eidEpoch", "box", "earlierBoxes", "retired", "check",
    ]
    /// Larger files have one line a beacon, or they are not read.
    private static let reformattedLimit = 1 << 25

    let octets: [UInt8]
    let file: String
    var lock = FleetLock(fleet: "")
    var problems = ProblemList()
    private var scopeNumbers: [[UInt8]: UInt32] = [[]: 0]
    /// The line that is being read.
    private var line = 1
    private var lastScope: (key: [UInt8], number: UInt32) = ([], 0)

    init(_ octets: [UInt8], file: String) {
        self.octets = octets
        self.file = file
    }

    mutating func read() {
        if readLines() {
            LockConsistency(lock, file: file).check(&problems)
            return
        }
        if let line = conflictLine() {
            problems = ProblemList()
            report(
                "here begins a merge conflict: keep one side's lines as they are, delete the other side's new lines and all "
                    + "marks, and run `pharos fleet generate`, which gives those beacons identities of their own",
                line: line)
            return
        }
        guard octets.count <= Self.reformattedLimit else {
            report(
                "this line is none of a lock file with one beacon a line; restore the file from version control",
                line: line)
            return
        }
        let (root, faults) = JSONDocument.parse(octets)
        problems.add(faults, in: file)
        lock = FleetLock(fleet: "")
        scopeNumbers = [[]: 0]
        lastScope = ([], 0)
        if let root, faults.isEmpty { read(root) }
        if !problems.hasErrors { LockConsistency(lock, file: file).check(&problems) }
    }

    private mutating func report(_ message: String, line: Int, kind: FileProblem.Kind = .malformed) {
        problems.add(FileProblem(message, at: .init(line: line, column: 1), kind: kind, in: file))
    }

    /// Where version control has left both sides of a conflict in the file.
    private func conflictLine() -> Int? {
        var line = 1
        var isStart = true
        for (index, octet) in octets.enumerated() {
            if isStart, octet == UInt8(ascii: "<"), octets[index...].starts(with: "<<<<<<< ".utf8) { return line }
            isStart = octet == 0x0A
            if isStart { line += 1 }
        }
        return nil
    }

    /// Reads the text as it is written by us; `false` when it has another form.
    private mutating func readLines() -> Bool {
        var cursor = TextCursor(octets)
        guard cursor.take("{\n\"version\":1,\n\"fleet\":\""), let fleet = cursor.takeWord() else { return false }
        lock.fleet = String(decoding: octets[fleet], as: UTF8.self)
        guard cursor.take("\",\n\"groups\":[\n") else { return false }
        line = 5
        while cursor.take("{\"group\":\"") {
            let start = cursor.offset - 10
            // The fleet's own number has no path.
            let group = cursor.takePath() ?? cursor.offset..<cursor.offset
            guard cursor.take("\",\"major\":"), let major = cursor.takeNumber(), major <= 65_535,
                takeMark(&cursor, from: start), cursor.take("}")
            else { return false }
            let text = String(decoding: octets[group], as: UTF8.self)
            lock.majors.append(.init(group: text, major: major, line: line))
            line += 1
            _ = cursor.take(",")
            guard cursor.take("\n") else { return false }
        }
        guard cursor.take("],\n\"beacons\":[\n") else { return false }
        line += 2
        lock.entries.reserveCapacity(octets.count / 90)
        while !cursor.take("]\n}\n") {
            let start = cursor.offset
            if !readEntry(&cursor) {
                cursor.offset = start
                guard readEntryAsJSON(&cursor) else { return false }
            }
            _ = cursor.take(",")
            guard cursor.take("\n") else { return false }
            line += 1
        }
        return cursor.isAtEnd
    }

    /// Takes a line's check mark; `false` for one that does not fit. There may be none.
    private func takeMark(_ cursor: inout TextCursor, from start: Int) -> Bool {
        let end = cursor.offset
        guard cursor.take(",\"check\":\"") else { return true }
        guard let mark = cursor.takeHexadecimal(octets: 2, separated: false), cursor.take("\"") else { return false }
        return mark == UInt64(LineMark.of(octets, start..<end))
    }

    private mutating func readEntry(_ cursor: inout TextCursor) -> Bool {
        let start = cursor.offset
        guard cursor.take("{\"name\":\""), let name = cursor.takeWord() else { return false }
        var entry = FleetLock.Entry(nameStart: 0, nameCount: UInt8(truncatingIfNeeded: name.count))
        entry.line = UInt32(truncatingIfNeeded: line)
        if cursor.take("\",\"in\":\"") {
            guard let path = cursor.takePath() else { return false }
            entry.scope = scope(path)
        }
        guard name.count <= NameRule.limit, cursor.take("\"") else { return false }
        if cursor.take(",\"minor\":") {
            guard let minor = cursor.takeNumber(), minor <= 65_535 else { return false }
            entry.minor = Int32(truncatingIfNeeded: minor)
        }
        if cursor.take(",\"instance\":\"") {
            guard let instance = cursor.takeHexadecimal(octets: 6, separated: false), cursor.take("\"") else {
                return false
            }
            entry.instance = instance
        }
        if cursor.take(",\"address\":\"") {
            guard let address = cursor.takeHexadecimal(octets: 6, separated: true), cursor.take("\"") else {
                return false
            }
            entry.address = address
        }
        if cursor.take(",\"eidEpoch\":\"") {
            guard let range = cursor.takeUntilQuote(limit: 40),
                let time = RFC3339Time(String(decoding: octets[range], as: UTF8.self)), cursor.take("\"")
            else { return false }
            entry.epoch = Int64(time.secondsSince1970)
        }
        var box: Range<Int>?
        if cursor.take(",\"box\":\"") {
            guard let range = cursor.takeUntilQuote(limit: NameRule.limit), NameRule.isWord(octets, range),
                cursor.take("\"")
            else { return false }
            box = range
        }
        if cursor.take(",\"retired\":true") { entry.isRetired = true }
        guard takeMark(&cursor, from: start), cursor.take("}") else { return false }
        entry.nameStart = lock.store(octets[name])
        if let box {
            entry.boxStart = lock.store(octets[box])
            entry.boxCount = UInt8(truncatingIfNeeded: box.count)
        }
        lock.entries.append(entry)
        return true
    }

    private mutating func scope(_ range: Range<Int>) -> UInt32 {
        if octets[range].elementsEqual(lastScope.key) { return lastScope.number }
        let key = Array(octets[range])
        let number: UInt32
        if let known = scopeNumbers[key] {
            number = known
        } else {
            number = UInt32(truncatingIfNeeded: lock.scopes.count)
            lock.scopes.append(String(decoding: key, as: UTF8.self))
            scopeNumbers[key] = number
        }
        lastScope = (key, number)
        return number
    }

    /// A line of another form than ours, such as one that was edited by hand.
    private mutating func readEntryAsJSON(_ cursor: inout TextCursor) -> Bool {
        guard let range = cursor.takeLine() else { return false }
        var text = octets[range]
        while let last = text.last, last == 0x20 || last == 0x0D || last == 0x09 { text.removeLast() }
        if text.last == UInt8(ascii: ",") { text.removeLast() }
        let (root, faults) = JSONDocument.parse(Array(text))
        guard let root, faults.isEmpty, case .object = root.value else { return false }
        read(entry: root, lineOffset: line - 1)
        return true
    }

    private mutating func read(_ root: JSONNode) {
        var decoder = ConfigurationDecoder()
        if let version = decoder.required("version", in: root, "\(FleetLock.version)"),
            let number = decoder.number(version), number.integer != FleetLock.version
        {
            problems.add(
                "the lock file is of version \(ProblemText.shortened(number.text)), this Pharos knows "
                    + "\(FleetLock.version): use the newer Pharos that wrote it", at: version, in: file)
            return
        }
        guard let object = decoder.object(root, keys: Self.keys) else {
            problems.add(decoder.problems, in: file)
            return
        }
        if let name = decoder.text(decoder.required("fleet", in: object, "whose lock this is")) { lock.fleet = name }
        if let groups = object["groups"], case .array(let elements) = groups.value {
            for element in elements {
                guard let group = decoder.object(element, keys: Self.groupKeys) else { continue }
                let name = decoder.text(decoder.required("group", in: group, "the group's path"))
                let major = decoder.integer(
                    decoder.required("major", in: group, "its number"), in: AllocationRules.numberRange)
                let mark = mark(group["check"], &decoder)
                guard let name, let major else { continue }
                let read = FleetLock.GroupMajor(group: name, major: major, line: element.position.line)
                if let mark, mark != lock.mark(of: read) { decoder.error(LineMark.fault, at: group) }
                lock.majors.append(read)
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

    private mutating func read(entry node: JSONNode, lineOffset: Int) {
        var decoder = ConfigurationDecoder()
        defer {
            for problem in decoder.problems {
                var moved = problem
                moved.position.line += lineOffset
                problems.add(moved.inFile(file))
            }
        }
        guard let object = decoder.object(node, keys: Self.beaconKeys) else { return }
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
        let mark = mark(object["check"], &decoder)
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
        // Of the values, not of the text: whoever lets a program lay the file out anew damages nothing.
        if let mark, mark != lock.mark(of: entry) {
            decoder.error(LineMark.fault, at: object)
            return
        }
        lock.entries.append(entry)
    }

    private func mark(_ node: JSONNode?, _ decoder: inout ConfigurationDecoder) -> UInt16? {
        guard let node, let octets = decoder.octets(node, count: 2) else { return nil }
        return UInt16(octets[0]) << 8 | UInt16(octets[1])
    }
}
