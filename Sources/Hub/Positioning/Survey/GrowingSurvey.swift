internal import BeaconService
internal import Configuration
internal import LinuxHost
public import Listener

/// A survey file to which lines are appended, and its contents.
///
/// Existing lines are never rewritten, so a power failure loses only the line that is being written.
public final class GrowingSurvey {
    /// The file's name, or `standard output`.
    public let name: String
    private let output: OutputFile?
    private var reader: SurveyReader
    private var failure: ListenerServiceError?

    /// Opens a survey.
    ///
    /// - Parameter path: The file, which is created if it does not exist; `-` prints the lines.
    /// - Throws: If the file cannot be written, or is not a survey.
    public init(_ path: String) throws(ListenerServiceError) {
        guard path != "-" else {
            name = "standard output"
            output = nil
            reader = SurveyReader()
            return
        }
        name = path
        reader = SurveyReader(file: path)
        var lastOctet = UInt8(ascii: "\n")
        do throws(SystemError) {
            try Files.refuseForeign(path)
        } catch {
            throw MapFile.unwritable(path, error)
        }
        if Files.exists(path) {
            let pieces = try InputPieces(path)
            var octets = try pieces.next()
            if let problem = try WrongFile.refusal(pieces, octets, wanted: .survey) { throw problem }
            guard octets.isEmpty || InputForm(octets) == .lines else {
                throw .refused(
                    .malformed,
                    "\(path): this is not a survey in JSON Lines; `pharos map import` converts a table")
            }
            while !octets.isEmpty {
                lastOctet = octets[octets.count - 1]
                reader.take(octets)
                octets = try pieces.next()
            }
            var completeReader = reader
            completeReader.finish()
            let isSurvey = !(completeReader.survey.stays.isEmpty && completeReader.survey.recordings.isEmpty)
            if !isSurvey, lastOctet != UInt8(ascii: "\n") || !completeReader.problems.isEmpty {
                throw .refused(.malformed, "\(path): this is not a survey: name another file")
            }
        }
        do throws(SystemError) {
            output = try OutputFile(appendingTo: path)
        } catch {
            throw MapFile.unwritable(path, error)
        }
        // An incomplete last line remains in the file. The reader detects that this line was cut off, because a header
        // follows it.
        if lastOctet != UInt8(ascii: "\n") { append("\n") }
    }

    /// The contents of the file.
    public var survey: Survey { reader.survey }

    /// The number of the next stay.
    public var nextStay: Int { (survey.stays.map(\.number).max() ?? 0) + 1 }

    /// True if a line could not be written. Further lines are then ignored.
    public var isBroken: Bool { failure != nil }

    /// Appends whole lines.
    public func append(_ lines: String) {
        guard failure == nil else { return }
        reader.take(lines.utf8)
        guard let output else { return Terminal.write(lines) }
        do throws(SystemError) {
            try output.append(Array(lines.utf8))
        } catch {
            failure = MapFile.unwritable(name, error)
        }
    }

    /// Waits until the file is on the disk.
    ///
    /// - Throws: If a line could not be written.
    public func finish() throws(ListenerServiceError) {
        if let failure { throw failure }
        // Synchronising a pipe always fails, so this error is ignored.
        try? output?.synchronize()
    }
}
