internal import BluetoothTypes

/// An HTTP/1.1 request (RFC 9112), with only the features that a browser needs to load a page and to save a file.
public struct HTTPRequest: Hashable, Sendable {
    /// The method, such as `GET`.
    public let method: String
    /// The path with its query, beginning with a slash.
    public internal(set) var target: String
    /// The header fields in their order, with names in lower case.
    let fields: [Field]
    public internal(set) var body: [UInt8] = []

    struct Field: Hashable, Sendable {
        let name: String
        let value: String
    }

    /// Returns the value of the field `name`, which is given in lower case; `nil` if it is missing or occurs more than
    /// once.
    public subscript(field name: String) -> String? {
        let values = fields.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }
}

/// The reason why a request cannot be read.
public enum HTTPFault: Error, Hashable, Sendable {
    /// The bytes do not follow the grammar.
    case malformed
    /// The request line and the fields are longer than ``HTTPRequestReader/headLimit``.
    case headTooLong
    /// The body is longer than `limit` bytes.
    case bodyTooLong(limit: Int)
    /// The body has a transfer coding, such as `chunked`. Transfer codings are not supported; browsers do not need them
    /// to send a text, because they send its length.
    case coded

    /// The HTTP status code for the answer to this request.
    public var status: Int {
        switch self {
        case .malformed: 400
        case .headTooLong: 431
        case .bodyTooLong: 413
        case .coded: 501
        }
    }

    /// A sentence for the body of the answer.
    public var text: String {
        switch self {
        case .malformed: "the request is not HTTP/1.1"
        case .headTooLong: "the request has more than \(HTTPRequestReader.headLimit >> 10) KiB of header fields"
        case .bodyTooLong(let limit): "the request has a body of more than \(limit >> 20) MiB"
        case .coded: "the request has a Transfer-Encoding, which is not supported; send Content-Length"
        }
    }
}

/// Reads one request from bytes that arrive in pieces.
public struct HTTPRequestReader: Sendable {
    /// The largest size of the request line and all fields together, in bytes.
    public static let headLimit = 16 << 10

    private let bodyLimit: Int
    private var octets: [UInt8] = []
    private var head: (request: HTTPRequest, length: Int)?

    /// Creates a reader for one request.
    ///
    /// - Parameter bodyLimit: The largest size of a body in bytes.
    public init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    /// Processes the next received bytes.
    ///
    /// - Returns: The request as soon as it is complete, without any bytes that follow it; `nil` while bytes are
    ///   missing.
    public mutating func take(_ piece: [UInt8]) throws(HTTPFault) -> HTTPRequest? {
        octets += piece
        if head == nil {
            guard let end = Self.end(of: octets) else {
                guard octets.count <= Self.headLimit else { throw .headTooLong }
                return nil
            }
            guard end <= Self.headLimit else { throw .headTooLong }
            let request = try Self.request(octets[..<end])
            head = (request, try length(request))
            octets.removeFirst(end)
        }
        guard let head, octets.count >= head.length else { return nil }
        var request = head.request
        request.body = Array(octets[..<head.length])
        return request
    }

    /// Returns the number of bytes up to and including the empty line after the fields; `nil` if there is no empty line
    /// yet.
    private static func end(of octets: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        let lastStart = min(octets.count, headLimit + mark.count) - mark.count
        guard lastStart >= 0 else { return nil }
        for start in 0...lastStart
        where octets[start] == mark[0] && octets[start..<start + mark.count].elementsEqual(mark) {
            return start + mark.count
        }
        return nil
    }

    private static func request(_ head: ArraySlice<UInt8>) throws(HTTPFault) -> HTTPRequest {
        // Only visible ASCII characters, spaces, tabs and line ends are accepted, because all values that the server
        // uses are in ASCII.
        guard head.allSatisfy({ (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }) else {
            throw .malformed
        }
        let lines = String(decoding: head.dropLast(4), as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        guard !lines.contains(where: { $0.contains("\r") || $0.contains("\n") }) else { throw .malformed }
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", isToken(words[0]),
            words[1].hasPrefix("/")
        else { throw .malformed }
        var fields: [HTTPRequest.Field] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), isToken(line[..<colon]) else { throw .malformed }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { $0 != " " && $0 != "\t" }
            fields.append(
                .init(name: line[..<colon].lowercased(), value: end.map { String(value[...$0]) } ?? ""))
        }
        return HTTPRequest(method: words[0], target: words[1], fields: fields)
    }

    private static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    private func length(_ request: HTTPRequest) throws(HTTPFault) -> Int {
        guard !request.fields.contains(where: { $0.name == "transfer-encoding" }) else { throw .coded }
        guard request.fields.contains(where: { $0.name == "content-length" }) else { return 0 }
        guard let text = request[field: "content-length"], !text.isEmpty,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw .malformed }
        guard let length = Int(text), length <= bodyLimit else { throw .bodyTooLong(limit: bodyLimit) }
        return length
    }
}

/// An answer to an HTTP/1.1 request.
public struct HTTPAnswer: Hashable, Sendable {
    /// The status code, such as 200.
    public var status: Int
    /// The media type of the body, such as `text/html; charset=utf-8`.
    public var type: String
    public var body: [UInt8]

    /// Creates an answer with a status code, the media type of its body, and the body.
    public init(_ status: Int, type: String, _ body: [UInt8]) {
        (self.status, self.type, self.body) = (status, type, body)
    }

    /// Creates an answer with one line of text.
    public init(_ status: Int, _ sentence: String) {
        self.init(status, type: "text/plain; charset=utf-8", Array((sentence + "\n").utf8))
    }

    /// The bytes of the answer. Its header fields announce the end of the connection. They also forbid browsers to
    /// store the answer, to show it in a frame, and to guess its media type.
    var octets: [UInt8] {
        let head = [
            "HTTP/1.1 \(status) \(Self.reason(status))", "Content-Type: \(type)", "Content-Length: \(body.count)",
            "Connection: close", "Cache-Control: no-store", "Content-Security-Policy: frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy: same-origin", "Referrer-Policy: no-referrer",
            "X-Content-Type-Options: nosniff", "", "",
        ]
        return Array(head.joined(separator: "\r\n").utf8) + body
    }

    /// Returns the reason phrase of a status code (RFC 9110, 15).
    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 422: "Unprocessable Content"
        case 428: "Precondition Required"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        default: "Error"
        }
    }
}
