internal import LinuxHost

/// An error of a PostgreSQL database. Its description is one sentence that names the database or the file.
public struct PostgreSQLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The category of the error.
    public enum Kind: Hashable, Sendable {
        /// No server answers, or the connection was lost.
        case unreachable
        /// The server refuses the user, the password, the database or TLS.
        case refused
        /// libpq cannot parse the connection string, or the password file cannot be used.
        case invalid
        /// The password file does not exist.
        case missing
        /// The database has no tables of Pharos.
        case empty
        /// The tables were made by a later version of Pharos.
        case foreign
        /// The server refuses the values, and would refuse them again.
        case data
        /// Any other error of the server.
        case failed
    }

    public let kind: Kind
    public let description: String

    /// Creates an error.
    ///
    /// - Parameter sentence: The problem, with the name of the database or the file.
    public init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        description = sentence
    }

    /// Creates the error for a password file that cannot be read.
    init(_ error: SystemError, reading path: String) {
        self.init(
            error.errno == SystemError.noEntry ? .missing : .invalid,
            "\(error.about(path)); \"passwordFile\" must have one line: the password")
    }

    /// Returns a message of libpq without its prefix.
    static func reason(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        guard var line = lines.last(where: { $0.contains("FATAL:") }) ?? lines.first else {
            return "no reason is given"
        }
        for mark in ["FATAL:", "failed:", "ERROR:"] {
            if let range = line.range(of: mark) { line = line[range.upperBound...] }
        }
        return String(line.drop { $0 == " " })
    }
}

extension Substring {
    /// Returns the range of the last occurrence of a text.
    fileprivate func range(of text: String) -> Range<Index>? {
        var lastRange: Range<Index>?
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { lastRange = start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return lastRange
    }
}
