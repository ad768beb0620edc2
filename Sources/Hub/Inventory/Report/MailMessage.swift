internal import BluetoothTypes
internal import FoundationEssentials

/// A mail message with one attachment, as input for the machine's mail program (RFC 5322, RFC 2045).
///
/// No input can add a header: the addresses are checked, the subject is an encoded word, and all other input is Base64.
public struct MailMessage: Sendable {
    /// The attached file.
    public struct Attachment: Sendable {
        /// The file's name: letters, digits, `.`, `_` and `-`. Other characters become `-`.
        public let name: String
        public let type: String
        public let octets: [UInt8]

        /// - Parameter type: The media type, such as `text/html; charset=utf-8`.
        public init(name: String, type: String, octets: [UInt8]) {
            self.name = String(
                name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" })
            self.type = type
            self.octets = octets
        }
    }

    /// The message with Unix line ends. The mail program converts them.
    public let text: String

    /// Creates a message with a report as text, and with the report attached: as PDF if `pdf` is given, otherwise as
    /// HTML.
    ///
    /// - Throws: `request` if an address is not valid.
    public init(_ report: CountReport, pdf: [UInt8]?, to addresses: [String]) throws(InventoryError) {
        let name = "\(report.inventory)-\(report.countName)"
        let attachment =
            pdf.map { Attachment(name: name + ".pdf", type: "application/pdf", octets: $0) }
            ?? Attachment(name: name + ".html", type: "text/html; charset=utf-8", octets: Array(report.html.utf8))
        try self.init(
            to: addresses, subject: "\(report.title): count \(report.countName)", text: report.text, attachment)
    }

    /// - Parameters:
    ///   - addresses: Addresses for which ``isAddress(_:)`` is true.
    ///   - text: The text before the attachment.
    /// - Throws: `request` if an address is not valid.
    public init(
        to addresses: [String], subject: String, text: String, _ attachment: Attachment
    ) throws(InventoryError) {
        for address in addresses where !Self.isAddress(address) {
            throw InventoryError(
                .request,
                "\"\(address.unicodeScalars.prefix(60).map { $0.escaped(asASCII: true) }.joined())\" is not a mail address such as store@example.org"
            )
        }
        let boundary = "pharos-\(attachment.octets.count)-part"
        self.text = """
            To: \(addresses.joined(separator: ",\n "))
            Subject: \(Self.encodedWords(subject))
            MIME-Version: 1.0
            Content-Type: multipart/mixed; boundary="\(boundary)"

            --\(boundary)
            Content-Type: text/plain; charset=utf-8
            Content-Transfer-Encoding: base64

            \(Self.lines(Array(text.utf8)))
            --\(boundary)
            Content-Type: \(attachment.type)
            Content-Transfer-Encoding: base64
            Content-Disposition: attachment; filename="\(attachment.name)"

            \(Self.lines(attachment.octets))
            --\(boundary)--

            """
    }

    /// Returns true if a text is an address that is safe in a header and after `--` on a command line. It must contain
    /// one `@`. Before the `@`, letters, digits, `.!#$%&'*+/=?^_{|}~-` and backticks are allowed. After it, letters,
    /// digits, `.` and `-` are allowed. The first character must not be `-`.
    public static func isAddress(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].count), (1...255).contains(parts[1].count) else {
            return false
        }
        let marks = ".!#$%&'*+/=?^_`{|}~-".utf8
        guard parts[0].first != UInt8(ascii: "-"),
            parts[0].allSatisfy({ $0.isASCIILetterOrDigit || marks.contains($0) })
        else {
            return false
        }
        return parts[1].first?.isASCIILetterOrDigit == true
            && parts[1].allSatisfy { $0.isASCIILetterOrDigit || ".-".utf8.contains($0) }
    }

    /// Returns a text as encoded words of at most 75 characters, one in each line (RFC 2047).
    private static func encodedWords(_ text: String) -> String {
        var words: [String] = []
        var part: [UInt8] = []
        for scalar in text.unicodeScalars {
            let octets = Array(String(scalar).utf8)
            if part.count + octets.count > 42 {
                words.append("=?utf-8?B?\(Data(part).base64EncodedString())?=")
                part = []
            }
            part += octets
        }
        words.append("=?utf-8?B?\(Data(part).base64EncodedString())?=")
        return words.joined(separator: "\n ")
    }

    private static func lines(_ octets: [UInt8]) -> String {
        stride(from: 0, to: octets.count, by: 57)
            .map { Data(octets[$0..<min($0 + 57, octets.count)]).base64EncodedString() }.joined(separator: "\n")
    }
}
