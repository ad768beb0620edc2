public import BluetoothTypes
public import HCI

/// Reads pasted text, line by line. The text may contain:
/// - payloads in hexadecimal digits,
/// - HCI packets in hexadecimal digits, with or without their H4 type byte,
/// - the output of `hcidump --raw`,
/// - commands of `hcitool cmd`, also in a shell script; their first words may be missing,
/// - arrays of bytes in C or Swift,
/// - the output of `pharos advertise --dry-run`.
///
/// A packet may continue on the next lines, as in `hcidump --raw`.
public struct PastedText: Sendable {
    /// A payload or a packet that could be read.
    public enum Content: Sendable {
        /// Advertising data without its packet.
        case payload(AdvertisingData)
        case packet(CaptureRecord)
    }

    /// A payload, a packet, or a line that cannot be read.
    public struct Entry: Sendable {
        /// The number of the line on which the entry starts, from 1.
        public let line: Int
        public let content: Result<Content, Fault>
    }

    /// The reason why a line cannot be read.
    public enum Fault: Error, Sendable, CustomStringConvertible {
        case hexadecimal(HexadecimalLines.Fault)
        case tooLong
        /// A packet whose header states a length that the packet does not have.
        case wrongLength(packet: String, stated: Int, found: Int)
        case malformedEvent(HCIEventError)
        case malformedAirPacket
        /// A description of packets that does not contain their bytes.
        case describedPackets(program: String)
        /// A dump with offsets or a call of hcitool that contains no bytes.
        case unsuitable(String)

        public var description: String {
            switch self {
            case .hexadecimal(let fault): fault.description
            case .tooLong: "the line is longer than \(HexadecimalLines.limit) characters"
            case .wrongLength(let packet, let stated, let found):
                "\(packet) states a length of \(stated) bytes, but has \(found)"
            case .malformedEvent(let error): error.description
            case .malformedAirPacket: "this link-layer packet has no advertising data, or its end is missing"
            case .describedPackets("hcidump"):
                "this is hcidump's description of packets, which leaves bytes out: run `hcidump --raw`"
            case .describedPackets(let program):
                "this is \(program)'s description of packets, which leaves bytes out: record with `btmon -w FILE`, "
                    + "and decode FILE"
            case .unsuitable(let sentence): sentence
            }
        }
    }

    /// A packet whose last bytes may be on the next lines.
    private struct OpenPacket {
        let line: Int
        var octets: [UInt8]
        /// The length that the packet states, in bytes.
        let length: Int
        let name: String
    }

    private var lines = HexadecimalLines()
    /// The packet that may continue on the next line.
    private var open: OpenPacket?
    /// The entries that ``next()`` has not returned yet.
    private var ready: [Entry] = []
    /// The number of packets so far.
    private var packets = 0
    /// True if the text began with the header of hcidump.
    private var isHcidump = false
    private var isFinished = false
    /// True if the text describes packets, so that no line can be read.
    private var isDescription = false
    /// The start of a command that continues on the next line, after a backslash.
    private var command: (line: Int, text: String)?
    /// The elements of an array in source code whose closing bracket has not been read yet.
    private var array: (line: Int, elements: String)?
    /// The kind of the text, as its first line shows it.
    private var form = Form.anything
    /// The number of lines without bytes in a shell script or the output of `--dry-run`, such as other commands.
    public private(set) var skippedLines = 0

    /// The kind of a text. It decides which lines can contain bytes.
    private enum Form {
        case anything
        /// A shell script: only commands of hcitool contain bytes.
        case script
        /// The output of `pharos advertise --dry-run`: only lines that start with the type of an HCI command contain
        /// bytes. The lines after them describe the same bytes.
        case dryRun
        /// The output of `--dry-run` with messages to the kernel, which are not HCI packets.
        case managedDryRun
    }

    /// Creates a reader without text.
    public init() {}

    /// Appends a piece of the text, of any length.
    public mutating func push(_ piece: [UInt8]) { lines.push(piece) }

    /// Marks the end of the text.
    public mutating func finish() {
        lines.finish()
        isFinished = true
    }

    /// Returns the next payload, packet or fault; `nil` if more text is needed, or at the end.
    public mutating func next() -> Entry? {
        while ready.isEmpty, let line = lines.next() {
            if !isDescription { take(line) }
        }
        if ready.isEmpty, isFinished { close() }
        return ready.isEmpty ? nil : ready.removeFirst()
    }

    private mutating func take(_ line: HexadecimalLines.Line) {
        guard let octets = line.text else {
            close()
            return fail(.tooLong, line.number)
        }
        var text = String(decoding: octets, as: UTF8.self).trimmed
        var lineNumber = line.number
        if let (start, earlier) = command {
            (lineNumber, text) = (start, earlier + " " + text)
            command = nil
        }
        if text.hasSuffix("\\") {
            command = (lineNumber, String(text.dropLast()))
            return
        }
        take(text, lineNumber, isIndented: octets.first == 0x20 || octets.first == 0x09)
    }

    private mutating func take(_ text: String, _ lineNumber: Int, isIndented: Bool) {
        if open != nil, continueOpenPacket(text, isIndented: isIndented) { return }
        if array != nil { return continueArray(text) }
        close()
        if skip(text, lineNumber, isIndented: isIndented) || beginArray(text, lineNumber) { return }
        if let program = describingProgram(text) {
            isDescription = true
            return fail(.describedPackets(program: program), lineNumber)
        }
        guard !isHeader(text) else { return }
        if text.contains("hcitool") {
            // Several commands may be on one line.
            for part in text.split(whereSeparator: { $0 == ";" || $0 == "&" }) where part.contains("hcitool") {
                take(command: part.split(whereSeparator: \.isWhitespace).map(String.init), lineNumber)
            }
            return
        }
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        if let start = words.firstIndex(of: "cmd"), words[..<start].allSatisfy({ $0 == "-i" || $0.hasPrefix("hci") }) {
            return take(command: words, lineNumber)
        }
        if let length = Self.echoedLength(words) {
            open = OpenPacket(line: lineNumber, octets: length.octets, length: length.length, name: length.name)
            return finishOpenPacket()
        }
        if let bare = Self.bareCommand(words) { return add(.hci(bare), lineNumber) }
        if Self.startsWithOffset(text) {
            return fail(
                .unsuitable(
                    "this is a dump with offsets: paste the bytes alone, as `xxd -p FILE` prints them"), lineNumber)
        }
        var digits = text[...]
        if let mark = text.firstIndex(where: { $0 == ">" || $0 == "<" }), Self.isTime(text[..<mark]) {
            digits = text[text.index(after: mark)...]
            do throws(HexadecimalLines.Fault) {
                return take(h4: try HexadecimalLines.octets(Array(digits.utf8)), lineNumber)
            } catch {
                return fail(.hexadecimal(error), lineNumber)
            }
        }
        do throws(HexadecimalLines.Fault) {
            take(try HexadecimalLines.octets(Array(text.utf8)), lineNumber)
        } catch {
            if let octets = Self.embeddedPayload(text) { return take(octets, lineNumber) }
            fail(.hexadecimal(error), lineNumber)
        }
    }

    /// Returns the payload in a line such as `Data: 02 01 06` or `\x02\x01\x06`; `nil` for other lines. Such lines may
    /// also have bytes of another meaning, so only whole payloads are accepted.
    private static func embeddedPayload(_ text: String) -> [UInt8]? {
        let labels = ["data:", "raw:", "payload:", "bytes:", "advertisement:", "advertising data:", "scan record:"]
        let label = labels.first { text.lowercased().hasPrefix($0) } ?? ""
        let escapes = Array(text.dropFirst(label.count).filter { $0 != "\"" && $0 != "'" }.utf8)
        var digits: [UInt8] = []
        for (index, octet) in escapes.enumerated() {
            let isEscape =
                octet == UInt8(ascii: "\\") && index + 1 < escapes.count && escapes[index + 1] == UInt8(ascii: "x")
            let isMark = octet == UInt8(ascii: "x") && index > 0 && escapes[index - 1] == UInt8(ascii: "\\")
            digits.append(isEscape || isMark ? UInt8(ascii: " ") : octet)
        }
        guard let octets = try? HexadecimalLines.octets(digits), isWholePayload(octets) else { return nil }
        return octets
    }

    // MARK: Packets that continue on the next lines

    /// Appends a line to the open packet. Returns `false` if the line is not its continuation.
    private mutating func continueOpenPacket(_ text: String, isIndented: Bool) -> Bool {
        guard var packet = open, let octets = try? HexadecimalLines.octets(Array(text.utf8)) else { return false }
        let fits = packet.octets.count + octets.count <= packet.length
        let isSeparate = octets.starts(with: [0x04, 0x3E]) || Self.isWholePayload(octets)
        guard isIndented || fits && !isSeparate else { return false }
        packet.octets += octets
        open = packet
        finishOpenPacket()
        return true
    }

    /// Adds the open packet if it has all its bytes.
    private mutating func finishOpenPacket() {
        guard let packet = open, packet.octets.count == packet.length else { return }
        open = nil
        guard let kind = HCIPacket.Kind(rawValue: packet.octets[0]) else { return }
        let hci = HCIPacket(kind, Array(packet.octets.dropFirst()))
        if kind == .event {
            do throws(HCIEventError) {
                _ = try HCIEvent(octets: hci.octets.span)
            } catch {
                return fail(.malformedEvent(error), packet.line)
            }
        }
        add(.hci(hci), packet.line)
    }

    /// Reports the open packet, whose end is missing.
    private mutating func close() {
        if let (lineNumber, text) = command {
            command = nil
            take(text.trimmed, lineNumber, isIndented: false)
        }
        if let (lineNumber, _) = array {
            array = nil
            fail(.unsuitable("the array that begins here has no closing bracket"), lineNumber)
        }
        guard let packet = open else { return }
        open = nil
        fail(.wrongLength(packet: packet.name, stated: packet.length, found: packet.octets.count), packet.line)
    }

    /// Reads packets that begin with their H4 type byte. The last packet may continue on the next line.
    private mutating func take(h4 octets: [UInt8], _ lineNumber: Int) {
        var rest = octets[...]
        while !rest.isEmpty {
            guard let (length, name) = Self.statedLength(Array(rest.prefix(5))) else {
                return fail(
                    .unsuitable(
                        "\(Hexadecimal.number(rest[rest.startIndex], width: 2)) does not start an HCI packet"),
                    lineNumber)
            }
            open = OpenPacket(line: lineNumber, octets: Array(rest.prefix(length)), length: length, name: name)
            rest = rest.dropFirst(length)
            finishOpenPacket()
        }
    }

    /// Returns the length and the name of the H4 packet that begins with `header`; `nil` if no packet begins like this.
    private static func statedLength(_ header: [UInt8]) -> (Int, String)? {
        guard let kind = header.first.flatMap(HCIPacket.Kind.init(rawValue:)) else { return nil }
        func octet(_ index: Int) -> Int { index < header.count ? Int(header[index]) : 0 }
        return switch kind {
        case .event: (3 + octet(2), "the HCI event")
        case .command: (4 + octet(3), "the HCI command")
        case .sco: (4 + octet(3), "the HCI packet")
        case .acl: (5 + (octet(3) | octet(4) << 8), "the HCI packet")
        case .iso: (5 + (octet(3) | (octet(4) & 0x3F) << 8), "the HCI packet")
        }
    }

    // MARK: Bytes

    /// Takes bytes without a label. Their values show whether they are a payload or a packet.
    private mutating func take(_ octets: [UInt8], _ lineNumber: Int) {
        let isPayload = Self.isWholePayload(octets)
        let stated = Self.statedLength(octets)?.0
        if octets.starts(with: [0x04, 0x3E]), octets.count < 4 || Self.isReport(octets[3]) {
            return take(h4: octets, lineNumber)
        }
        let isCommand = octets.count >= 4 && octets[0] == 1 && Self.setsData(octets[1], octets[2])
        if stated == octets.count, isCommand || !isPayload { return take(h4: octets, lineNumber) }
        if octets.count >= 3, octets[0] == 0x3E, Self.isReport(octets[2]) {
            return take(h4: [0x04] + octets, lineNumber)
        }
        if octets.count >= 3, Self.setsData(octets[0], octets[1]), octets.count == 3 + Int(octets[2]),
            !isPayload || octets.count > AdvertisingData.legacyLimit
        {
            return take(h4: [0x01] + octets, lineNumber)
        }
        if octets.starts(with: [0xD6, 0xBE, 0x89, 0x8E]) {
            guard
                let report = AdvertisingReport(
                    lowEnergyPacket: octets.span, in: octets.indices, LowEnergyReception())
            else { return fail(.malformedAirPacket, lineNumber) }
            return add(.advertisement(report), lineNumber)
        }
        if !isPayload, octets.count < 254, Self.isReport(octets.first ?? 0) {
            let event = [0x3E, UInt8(octets.count)] + octets
            if case .advertisingReports(let reports)? = try? HCIEvent(octets: event.span), !reports.isEmpty {
                return add(.hci(HCIPacket(.event, event)), lineNumber)
            }
        }
        if octets.count == 34, octets[0] == 0x08, octets[1] == 0x08 || octets[1] == 0x09,
            let packet = Self.command(Array(octets.dropFirst(2)), ocf: UInt16(octets[1]))
        {
            return add(.hci(packet), lineNumber)
        }
        if let packet = Self.command(octets, ocf: LESetAdvertisingData.opcode.command) {
            return add(.hci(packet), lineNumber)
        }
        ready.append(Entry(line: lineNumber, content: .success(.payload(AdvertisingData(octets: octets)))))
    }

    /// Returns true if the bytes consist of AD structures, and of zeros after the last one (early termination).
    private static func isWholePayload(_ octets: [UInt8]) -> Bool {
        let data = AdvertisingData(octets: octets)
        return !data.structures.isEmpty && data.remainder.allSatisfy { $0 == 0 }
    }

    private static func isReport(_ subevent: UInt8) -> Bool {
        subevent == LESubevent.advertisingReport || subevent == LESubevent.extendedAdvertisingReport
    }

    /// Returns true if the opcode, least significant byte first, is that of a command that sets advertising data.
    private static func setsData(_ low: UInt8, _ high: UInt8) -> Bool {
        high == 0x20 && [0x08, 0x09, 0x37, 0x38].contains(low)
    }

    /// Returns the command whose parameters start with a length and as many bytes of AD structures; `nil` if the bytes
    /// are more likely AD structures themselves.
    private static func command(_ parameters: [UInt8], ocf: UInt16) -> HCIPacket? {
        guard let length = parameters.first.map(Int.init), length <= AdvertisingData.legacyLimit,
            parameters.count > length, parameters.dropFirst(1 + length).allSatisfy({ $0 == 0 })
        else { return nil }
        let data = Array(parameters[1..<1 + length])
        guard isWholePayload(data) else { return nil }
        let structures = AdvertisingData(octets: data).structures
        let hasFlags = structures.count > 1 && structures[0].type == .flags && structures[0].data.count == 1
        guard hasFlags || parameters.count == 32 else { return nil }
        // Copied commands often lack the zeros at the end, which hcitool needs.
        let padding = [UInt8](repeating: 0, count: max(0, 32 - parameters.count))
        return .command(HCIOpcode(rawValue: 0x2000 | ocf), parameters + padding)
    }

    // MARK: Commands of hcitool

    private mutating func take(command words: [String], _ lineNumber: Int) {
        guard let start = words.firstIndex(of: "cmd") else {
            return fail(.unsuitable("of hcitool's commands, only `hcitool cmd` contains bytes"), lineNumber)
        }
        var parameters = words[(start + 1)...].prefix { !$0.hasPrefix("#") && !$0.hasPrefix(">") && $0 != "|" }
        guard let group = parameters.popFirst().flatMap(Self.number),
            let command = parameters.popFirst().flatMap(Self.number),
            group <= 0x3F, command <= 0x3FF
        else {
            return fail(.unsuitable("`hcitool cmd` needs a group and a command, such as 0x08 0x0008"), lineNumber)
        }
        let opcode = HCIOpcode(rawValue: group << 10 | command)
        guard !parameters.isEmpty else { return add(.hci(.command(opcode, [])), lineNumber) }
        do throws(HexadecimalLines.Fault) {
            // hcitool accepts a byte of one digit.
            let digits = parameters.map { $0.count == 1 ? "0" + $0 : $0 }.joined(separator: " ")
            let octets = try HexadecimalLines.octets(Array(digits.utf8))
            guard octets.count <= 255 else {
                return fail(
                    .unsuitable("a command has at most 255 bytes of parameters, not \(octets.count)"), lineNumber)
            }
            add(.hci(.command(opcode, octets)), lineNumber)
        } catch {
            fail(.hexadecimal(error), lineNumber)
        }
    }

    /// Returns the command in words that begin with its group and number (`0x08 0x0008 1e …`) or with its number alone
    /// (`0x0008 1e …`); `nil` for other words. The number has four digits, so it cannot be mistaken for a byte.
    private static func bareCommand(_ words: [String]) -> HCIPacket? {
        func isOcf(_ word: String) -> Bool { word.drop0x.count == 4 && number(word) ?? .max <= 0x3FF }
        func octets(_ words: some Sequence<String>) -> [UInt8]? {
            try? HexadecimalLines.octets(Array(words.joined(separator: " ").utf8))
        }
        if words.count >= 3, number(words[0]) == 0x08, words[0].drop0x.count <= 2, isOcf(words[1]),
            let command = number(words[1]), words[2].drop0x.count <= 2, let parameters = octets(words.dropFirst(2)),
            parameters.count <= 255
        {
            return .command(HCIOpcode(rawValue: 0x2000 | command), parameters)
        }
        if words.count >= 3, isOcf(words[0]), words.dropFirst().allSatisfy({ $0.drop0x.count == 2 }),
            let command = number(words[0]), command == 0x0008 || command == 0x0009,
            let parameters = octets(words.dropFirst())
        {
            return Self.command(parameters, ocf: command)
        }
        return nil
    }

    /// Returns the header of a packet that hcitool printed, such as `< HCI Command: ogf 0x08, ocf 0x0008, plen 32` or
    /// `> HCI Event: 0x0e plen 4`. The parameters follow on the next lines.
    private static func echoedLength(_ words: [String]) -> (octets: [UInt8], length: Int, name: String)? {
        guard words.count >= 6, words[1] == "HCI", let length = words.last.flatMap({ UInt8($0) }),
            words[words.count - 2] == "plen"
        else { return nil }
        let bareWords = words.map { $0.hasSuffix(",") ? String($0.dropLast()) : $0 }
        if bareWords.count == 9, bareWords[2] == "Command:", bareWords[3] == "ogf", bareWords[5] == "ocf",
            let group = number(bareWords[4]),
            let command = number(bareWords[6]), group <= 0x3F, command <= 0x3FF
        {
            let opcode = group << 10 | command
            return (
                [0x01, UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8), length], 4 + Int(length),
                "the HCI command"
            )
        }
        if bareWords.count == 6, bareWords[2] == "Event:", let code = number(bareWords[3]), code <= 0xFF {
            return ([0x04, UInt8(code), length], 3 + Int(length), "the HCI event")
        }
        return nil
    }

    /// Returns a hexadecimal number of at most 16 bits, with or without `0x`; `nil` for other words.
    private static func number(_ word: String) -> UInt16? {
        let digits = word.drop0x
        return digits.hasPrefix("+") || digits.hasPrefix("-") ? nil : UInt16(digits, radix: 16)
    }

    // MARK: Arrays in source code

    /// Reads the line on which an array of bytes begins, such as `let data: [UInt8] = [`. Returns `false` for other
    /// lines.
    private mutating func beginArray(_ text: String, _ lineNumber: Int) -> Bool {
        guard let equals = text.firstIndex(of: "=") else { return false }
        let value = String(text[text.index(after: equals)...]).trimmed
        guard let bracket = value.first, bracket == "{" || bracket == "[" else { return false }
        array = (lineNumber, "")
        continueArray(String(value.dropFirst()))
        return true
    }

    /// Reads a line of an array of bytes, whose elements are written as `0x02`.
    private mutating func continueArray(_ text: String) {
        guard let (lineNumber, earlier) = array else { return }
        var row = text
        for mark in ["//", "/*"] {
            if let comment = row.firstRange(of: mark) { row = String(row[..<comment.lowerBound]) }
        }
        let elements = row.prefix { $0 != "}" && $0 != "]" }
        let isClosed = elements.count < row.count
        let allElements = "\(earlier) \(elements)"
        array = (lineNumber, allElements)
        guard isClosed || earlier.count > HexadecimalLines.limit else { return }
        array = nil
        let words = allElements.split { $0 == "," || $0.isWhitespace }.map(String.init)
        // A decimal number must not be taken for a hexadecimal one.
        guard isClosed, !words.isEmpty, words.allSatisfy({ $0.drop0x.count < $0.count }) else {
            return fail(
                .unsuitable("write each element of an array of bytes in hexadecimal, such as 0x02"), lineNumber)
        }
        do throws(HexadecimalLines.Fault) {
            let digits = words.map { $0.drop0x.count == 1 ? "0\($0.drop0x)" : String($0.drop0x) }.joined(separator: " ")
            take(try HexadecimalLines.octets(Array(digits.utf8)), lineNumber)
        } catch {
            fail(.hexadecimal(error), lineNumber)
        }
    }

    // MARK: Other lines

    /// Returns true if the line contains no bytes that must be read: a comment, a line of a shell script other than a
    /// command of hcitool, or a description in the output of `--dry-run`. Reads the lines of that output that contain
    /// bytes.
    private mutating func skip(_ text: String, _ lineNumber: Int, isIndented: Bool) -> Bool {
        if text.hasPrefix("#!") { form = .script }
        if text.hasPrefix("# sent to a controller like ") { form = .dryRun }
        if text.hasPrefix("# sent to the kernel for ") { form = .managedDryRun }
        // The prompt of the administrator is not a comment.
        if text.hasPrefix("#"), form != .anything || !text.contains("hcitool") {
            if form == .managedDryRun, text.hasPrefix("# sent to the kernel for ") {
                fail(
                    .unsuitable(
                        "these are messages to the kernel, not HCI packets: use --dry-run without hciN:mgmt"),
                    lineNumber)
            }
            return true
        }
        switch form {
        case .dryRun:
            guard !isIndented, text.hasPrefix("01 "), let octets = try? HexadecimalLines.octets(Array(text.utf8)) else {
                if !isIndented { skippedLines += 1 }
                return true
            }
            take(h4: octets, lineNumber)
            return true
        case .managedDryRun: return true
        case .script:
            if text.contains("hcitool"), text.contains("cmd") { return false }
        case .anything:
            let words = text.split(whereSeparator: \.isWhitespace).drop { $0 == "$" }
            guard let word = words.first, Self.shellCommands.contains(String(word)), !text.contains("hcitool") else {
                return false
            }
        }
        skippedLines += 1
        return true
    }

    /// Commands that scripts with hcitool commands often contain.
    private static let shellCommands: Set = [
        "bluetoothctl", "btmgmt", "echo", "hciconfig", "modprobe", "rfkill", "set", "sleep", "sudo", "systemctl",
    ]

    /// Returns the program that has printed this line as a description of packets; `nil` for other lines.
    private func describingProgram(_ text: String) -> String? {
        if text.hasPrefix("Bluetooth monitor ver") { return "btmon" }
        if Self.isFromBluetoothctl(text) { return "bluetoothctl" }
        let headings = ["HCI Event: ", "HCI Command: ", "ACL Data ", "ACL data:", "SCO Data ", "ISO Data ", "MGMT "]
        guard text.count > 2, "<>=@".contains(text[text.startIndex]), text.dropFirst().first == " " else { return nil }
        let rest = text.dropFirst(2)
        if Self.echoedLength(text.split(whereSeparator: \.isWhitespace).map(String.init)) != nil { return nil }
        let isNote = text.hasPrefix("= ") || text.hasPrefix("@ ")
        guard isNote || headings.contains(where: rest.hasPrefix) else { return nil }
        return isHcidump ? "hcidump" : "btmon"
    }

    /// Returns true if bluetoothctl has printed the line: a change, its prompt, or the heading of a device.
    private static func isFromBluetoothctl(_ text: String) -> Bool {
        if ["[NEW] ", "[CHG] ", "[DEL] ", "[bluetooth]", "Discovery started"].contains(where: text.hasPrefix) {
            return true
        }
        let words = text.split(separator: " ")
        return words.count > 1 && words[0] == "Device" && DeviceAddress(String(words[1])) != nil
    }

    /// Returns true if the line is one of the two lines that hcidump prints first.
    private mutating func isHeader(_ text: String) -> Bool {
        if text.hasPrefix("HCI sniffer") {
            isHcidump = true
            return true
        }
        return isHcidump && text.hasPrefix("device:")
    }

    /// Returns true if the line starts with an offset as `xxd`, `hexdump -C` and Wireshark write it: a multiple of 16,
    /// with at least four digits, before a colon and a space or before two spaces.
    private static func startsWithOffset(_ text: String) -> Bool {
        let digits = text.prefix { $0.isHexDigit }
        let rest = text.dropFirst(digits.count)
        guard (4...8).contains(digits.count), let offset = Int(digits, radix: 16), offset.isMultiple(of: 16) else {
            return false
        }
        return digits.hasPrefix("0") && (rest.hasPrefix(": ") || rest.hasPrefix("  ") || rest.hasPrefix("\t"))
    }

    /// Returns true if the text can be the time in front of a packet in `hcidump --raw --ts`, or is empty.
    private static func isTime(_ text: Substring) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isNumber || "-:. ".contains($0)) }
    }

    private mutating func add(_ content: CaptureRecord.Content, _ line: Int) {
        ready.append(Entry(line: line, content: .success(.packet(CaptureRecord(content, index: packets)))))
        packets += 1
    }

    private mutating func fail(_ fault: Fault, _ line: Int) {
        ready.append(Entry(line: line, content: .failure(fault)))
    }
}

extension String {
    /// The text without blanks around it.
    fileprivate var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start[..<(start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex)])
    }

    /// The digits after `0x`.
    fileprivate var drop0x: Substring { hasPrefix("0x") || hasPrefix("0X") ? dropFirst(2) : self[...] }
}
