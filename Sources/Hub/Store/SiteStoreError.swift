internal import LinuxHost

/// Why a database of PostgreSQL cannot be used, as one sentence.
public struct SiteStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What it means for whoever wanted it.
    public enum Kind: Hashable, Sendable {
        /// Nobody answers there, or no more.
        case unreachable
        /// It answers, and does not let us in: the user, the password, the database or TLS.
        case refused
        /// What says where it is says nothing that libpq understands, or the file of the password is not usable.
        case invalid
        /// The file of the password is not there.
        case missing
        /// There are no tables of ours in it.
        case empty
        /// The tables are of a later version of this program.
        case foreign
        /// It takes no such values: the same will not be taken later.
        case data
        /// Everything else that it says.
        case failed
    }

    public let kind: Kind
    public let description: String

    /// - Parameter sentence: With the place in it.
    public init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        description = sentence
    }

    /// The file of the password, that could not be read.
    init(_ error: SystemError, reading path: String) {
        self.init(
            error.errno == SystemError.noEntry ? .missing : .invalid,
            "\(error.about(path)); \"passwordFile\" has one line: the password")
    }

    /// The first of libpq's lines that says something, without where it comes from.
    static func reason(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        guard var line = lines.last(where: { $0.contains("FATAL:") }) ?? lines.first else {
            return "no reason is given"
        }
        for mark in ["FATAL:", "failed:", "ERROR:"] {
            if let place = line.range(of: mark) { line = line[place.upperBound...] }
        }
        return String(line.drop { $0 == " " })
    }
}

extension Substring {
    /// Where a text begins and ends in it, for the last time.
    fileprivate func range(of text: String) -> Range<Index>? {
        var found: Range<Index>?
        var place = startIndex
        while place < endIndex {
            if self[place...].hasPrefix(text) { found = place..<index(place, offsetBy: text.count) }
            place = index(after: place)
        }
        return found
    }
}
