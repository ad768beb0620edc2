internal import Configuration

/// Reads a lock file line by line.
struct LockReader {
    let octets: [UInt8]
    let file: String
    var lock = FleetLock(fleet: "")
    var problems = ProblemList()
    var scopeNumbers: [[UInt8]: UInt32] = [[]: 0]
    private var lastScope: (key: [UInt8], number: UInt32) = ([], 0)

    init(_ octets: [UInt8], file: String) {
        self.octets = octets
        self.file = file
    }

    mutating func read() {
        if hasConflict() { return }
        if readLines() {
            LockConsistency(lock, file: file).check(&problems)
            return
        }
        guard octets.count <= FleetLock.reformattedLimit else {
            report(
                "this lock file does not have one beacon a line any more; restore it from version control", line: 1)
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

    mutating func report(_ message: String, line: Int, kind: FileProblem.Kind = .malformed) {
        problems.add(FileProblem(message, at: .init(line: line, column: 1), kind: kind, in: file))
    }

    /// Whether version control has left both sides of a conflict in the file.
    private mutating func hasConflict() -> Bool {
        var line = 1
        var isStart = true
        for (index, octet) in octets.enumerated() {
            if isStart, octet == UInt8(ascii: "<"), octets[index...].starts(with: "<<<<<<< ".utf8) {
                report(
                    "here begins a merge conflict: keep one side's lines as they are, delete the other side's new lines "
                        + "and all marks, and run `pharos fleet generate`, which gives those beacons identities of their "
                        + "own", line: line)
                return true
            }
            isStart = octet == 0x0A
            if isStart { line += 1 }
        }
        return false
    }

    /// Reads the text as it is written by us; `false` when it has another form.
    private mutating func readLines() -> Bool {
        var cursor = LockCursor(octets)
        guard cursor.take("{\n\"version\":1,\n\"fleet\":\""), let fleet = cursor.takeWord() else { return false }
        lock.fleet = String(decoding: octets[fleet], as: UTF8.self)
        guard cursor.take("\",\n\"groups\":[\n") else { return false }
        var line = 5
        while cursor.take("{\"group\":\"") {
            guard let group = cursor.takePath(), cursor.take("\",\"major\":"), let major = cursor.takeNumber(),
                cursor.take("}")
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
            if !readEntry(&cursor, line: line) {
                cursor.offset = start
                guard readEntryAsJSON(&cursor, line: line) else { return false }
            }
            _ = cursor.take(",")
            guard cursor.take("\n") else { return false }
            line += 1
        }
        return cursor.isAtEnd
    }

    private mutating func readEntry(_ cursor: inout LockCursor, line: Int) -> Bool {
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
        guard cursor.take("}") else { return false }
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
    private mutating func readEntryAsJSON(_ cursor: inout LockCursor, line: Int) -> Bool {
        guard let range = cursor.takeLine() else { return false }
        var text = octets[range]
        while let last = text.last, last == 0x20 || last == 0x0D || last == 0x09 { text.removeLast() }
        if text.last == UInt8(ascii: ",") { text.removeLast() }
        let (root, faults) = JSONDocument.parse(Array(text))
        guard let root, faults.isEmpty, case .object = root.value else { return false }
        read(entry: root, lineOffset: line - 1)
        return true
    }
}
