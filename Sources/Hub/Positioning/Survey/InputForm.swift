internal import BeaconService
internal import Configuration
internal import Listener

/// The kind of an input. It is determined from the first bytes.
enum InputForm: Hashable, Sendable {
    /// A capture of packets: btsnoop, pcap or pcapng.
    case recording
    /// A file with one JSON object in each line.
    case lines
    /// A file with a single JSON object, such as a map.
    case object
    /// Any other file.
    case table

    private static let captureMarks: [[UInt8]] = [
        Array("btsnoop\0".utf8), [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0xC3, 0xD4], [0x4D, 0x3C, 0xB2, 0xA1],
        [0xA1, 0xB2, 0x3C, 0x4D], [0x0A, 0x0D, 0x0D, 0x0A],
    ]

    init(_ octets: [UInt8]) {
        if Self.captureMarks.contains(where: { octets.starts(with: $0) }) {
            self = .recording
        } else {
            let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
            let text = octets.starts(with: byteOrderMark) ? octets.dropFirst(byteOrderMark.count) : octets[...]
            let first = text.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
            guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
                self = .table
                return
            }
            self = SurveyLine.isOneObject(octets) ? .object : .lines
        }
    }
}

/// Determines the kind of a JSON file from its first line.
enum SurveyLine {
    /// Returns the first line without blanks, or its first 4096 bytes if it is longer.
    private static func start(_ octets: [UInt8]) -> [UInt8] {
        octets.prefix { $0 != UInt8(ascii: "\n") }.prefix(4096).filter { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }
    }

    private static func begins(_ text: [UInt8], _ keys: [String]) -> Bool {
        keys.contains { text.starts(with: Array("{\"\($0)\"".utf8)) }
    }

    /// Returns true if the bytes are a line of a survey.
    static func isSurvey(_ octets: [UInt8]) -> Bool {
        begins(start(octets), ["survey", "stay", "t", "end", "drop", "move"])
    }

    /// Returns true if the bytes are a line of `pharos scan --json`.
    static func isScan(_ octets: [UInt8]) -> Bool {
        let text = octets.prefix(256).filter { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D }
        return begins(Array(text), ["event"])
    }

    /// Returns true if the file is a single JSON object. Either the object continues on the next line, or it is a whole
    /// file, such as a map, on one line.
    static func isOneObject(_ octets: [UInt8]) -> Bool {
        let text = start(octets)
        guard !isSurvey(octets), !isScan(octets) else { return false }
        if text == Array("{".utf8) || begins(text, ["version", "$schema"]) { return true }
        let line = Array(octets.prefix { $0 != UInt8(ascii: "\n") })
        let isOpen = [UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "[")].contains { text.last == $0 }
        if line.count <= 4096, line.count < octets.count, isOpen { return true }
        return JSONDocument.parse(line).root.map { FileKind($0) != nil } ?? false
    }
}

/// Makes the message for a file of the wrong kind. A single message names the kind of the file and the command that
/// reads it. Without this message, there would be one message for each key or line.
enum WrongFile {
    /// The kind of file that the command reads.
    enum Wanted: String {
        case map = "a map"
        case survey = "a survey"
        case run = "a run, which has one second per line"
        case site = "a site file"
        case positions = "a site or a fleet"
        case truth = "a table of the true positions of a receiver"
    }

    /// The largest object that is examined, in bytes.
    private static let limit = 1 << 26

    /// Returns the error for a file of the wrong kind; `nil` if the file may be of the right kind.
    ///
    /// - Parameter start: The bytes that were already read from `pieces`. The rest is read only if the file is a single
    ///   object.
    static func refusal(
        _ pieces: InputPieces, _ start: [UInt8], wanted: Wanted
    ) throws(ListenerServiceError) -> ListenerServiceError? {
        guard InputForm(start) == .object else { return refusal(start, pieces.name, wanted: wanted) }
        var whole = start
        while whole.count <= limit {
            let piece = try pieces.next()
            if piece.isEmpty { break }
            whole += piece
        }
        return refusal(whole, pieces.name, wanted: wanted)
    }

    /// Returns the error for a file of the wrong kind; `nil` if the file may be of the right kind.
    static func refusal(_ octets: [UInt8], _ name: String, wanted: Wanted) -> ListenerServiceError? {
        let path = name == "standard input" ? "-" : name
        func error(_ actual: String, _ hint: String) -> ListenerServiceError {
            .refused(.malformed, "\(name): this is \(actual), not \(wanted.rawValue): \(hint)")
        }
        let recording = "`pharos map record SURVEY.jsonl --from \(path)` makes a survey from it"
        switch InputForm(octets) {
        case .table: return nil
        case .recording: return wanted == .run ? nil : error("a recording of packets", recording)
        case .lines:
            if SurveyLine.isScan(octets) {
                return wanted == .run ? nil : error("what `pharos scan --json` prints", recording)
            }
            guard wanted != .run, wanted != .survey, SurveyLine.isSurvey(octets) else { return nil }
            return error("a survey", "`pharos map fit \(path) --output MAP.json` makes a map from it")
        // The readers of sites and fleets have their own messages for each other's files.
        case .object where wanted == .site || wanted == .positions: return nil
        case .object:
            guard let kind = JSONDocument.parse(octets).root.flatMap({ FileKind($0) }) else {
                guard wanted == .survey || wanted == .run else { return nil }
                return .refused(
                    .malformed,
                    "\(name): this is one JSON object; a \(wanted == .run ? "run" : "survey") has one object per line")
            }
            switch (kind, wanted) {
            case (.signalMap, .map): return nil
            case (.site, .map):
                return error(kind.name, "`pharos map fit --from-site \(path) --output MAP.json` makes a map from it")
            case (.signalMap, .survey):
                return error(kind.name, "`pharos map show` and `pharos map evaluate MAP --test SURVEY` read it")
            default: return error(kind.name, "`\(kind.command)` reads it")
            }
        }
    }
}
