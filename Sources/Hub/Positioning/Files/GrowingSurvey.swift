internal import BeaconService
internal import Configuration
internal import LinuxHost
public import Listener

/// A survey that lines are added to, and what is in it.
///
/// What is there is never written again: whoever loses power loses the line that was being written.
public final class GrowingSurvey {
    /// The file's name, or `standard output`.
    public let name: String
    private let output: OutputFile?
    private var reader: SurveyReader
    private var failure: ListenerServiceError?

    /// - Parameter path: The file, which is made where it is not there; `-` prints the lines.
    /// - Throws: where it cannot be written, and where it holds something else than a survey.
    public init(_ path: String) throws(ListenerServiceError) {
        guard path != "-" else {
            name = "standard output"
            output = nil
            reader = SurveyReader()
            return
        }
        name = path
        reader = SurveyReader(file: path)
        var last = UInt8(ascii: "\n")
        if Files.exists(path) {
            let pieces = try InputPieces(path)
            var octets = try pieces.next()
            if let problem = try WrongFile.refusal(pieces, octets, wanted: .survey) { throw problem }
            guard octets.isEmpty || InputForm(octets) == .lines else {
                throw .refused(
                    .malformed,
                    "\(path): this is no survey in JSON Lines; `pharos map import` makes one of a table")
            }
            while !octets.isEmpty {
                last = octets[octets.count - 1]
                reader.take(octets)
                octets = try pieces.next()
            }
            if last != UInt8(ascii: "\n"), reader.survey.stays.isEmpty, reader.survey.recordings.isEmpty {
                var whole = reader
                whole.finish()
                guard !whole.survey.recordings.isEmpty else { throw Self.refusal(path) }
            } else if last == UInt8(ascii: "\n"), reader.survey.stays.isEmpty, reader.survey.recordings.isEmpty,
                !reader.problems.isEmpty
            {
                throw Self.refusal(path)
            }
        }
        do throws(SystemError) {
            output = try OutputFile(appendingTo: path)
        } catch {
            throw .refused(.system, "\(path): it cannot be written: \(error.text)")
        }
        // A line that was cut stays there: the header that follows tells that it was.
        if last != UInt8(ascii: "\n") { append("\n") }
    }

    private static func refusal(_ path: String) -> ListenerServiceError {
        .refused(.malformed, "\(path): there is something else than a survey in it: name another file")
    }

    /// All that is in it.
    public var survey: Survey { reader.survey }

    /// Higher than every number that was given.
    public var nextStay: Int { (survey.stays.map(\.number).max() ?? 0) + 1 }

    /// Whether nothing more can be written.
    public var isBroken: Bool { failure != nil }

    /// Adds whole lines.
    public func append(_ lines: String) {
        guard failure == nil else { return }
        reader.take(lines.utf8)
        guard let output else { return Terminal.write(lines) }
        do throws(SystemError) {
            try output.append(Array(lines.utf8))
        } catch {
            failure = .refused(.system, "\(name): it cannot be written: \(error.text)")
        }
    }

    /// Waits until the disk has all of it.
    ///
    /// - Throws: where any of it could not be written.
    public func finish() throws(ListenerServiceError) {
        if let failure { throw failure }
        // A pipe cannot be synchronised, and needs not.
        try? output?.synchronize()
    }
}
