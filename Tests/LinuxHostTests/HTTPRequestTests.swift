import Testing

@testable import LinuxHost

@Suite struct HTTPRequestTests {
    private func read(_ text: String, piece: Int = .max, bodyLimit: Int = 100) throws(HTTPFault) -> HTTPRequest? {
        var reader = HTTPRequestReader(bodyLimit: bodyLimit)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let part = rest.prefix(piece)
            rest = rest.dropFirst(part.count)
            if let request = try reader.take(Array(part)) { return request }
        }
        return nil
    }

    @Test(arguments: [1, 3, 7, 1000])
    func aRequestIsReadFromPiecesOfAnyLength(_ piece: Int) throws {
        let text = "PUT /t/file HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length:  5 \r\nIf-Match: \"a b\"\r\n\r\nhello"
        let request = try #require(try read(text, piece: piece))
        #expect(request.method == "PUT")
        #expect(request.target == "/t/file")
        #expect(request[field: "host"] == "127.0.0.1:80")
        #expect(request[field: "if-match"] == "\"a b\"")
        #expect(request[field: "origin"] == nil)
        #expect(request.body == Array("hello".utf8))
    }

    @Test func aRequestWithoutABodyEndsWithItsFields() throws {
        #expect(try read("GET / HTTP/1.1\r\nHost: x\r\n\r\n")?.body == [])
        #expect(try read("GET / HTTP/1.1\r\nHost: x\r\n") == nil)
        #expect(try read("PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab") == nil)
    }

    @Test func aFieldThatOccursTwiceHasNoValue() throws {
        let request = try #require(try read("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"))
        #expect(request[field: "host"] == nil)
    }

    @Test(arguments: [
        "GET\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET x HTTP/1.1\r\n\r\n", "G T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n folded: x\r\n\r\n",
        "GET / HTTP/1.1\r\na b: x\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\r\n\r\n", "GET /\u{E9} HTTP/1.1\r\n\r\n", "GET /\0 HTTP/1.1\r\n\r\n",
        "PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "PUT / HTTP/1.1\r\nContent-Length: 1x\r\n\r\nx",
        "PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "PUT / HTTP/1.1\r\nContent-Length:\r\n\r\n",
    ])
    func refusesMalformedRequests(_ text: String) {
        #expect(throws: HTTPFault.malformed) { try read(text) }
    }

    @Test func refusesRequestsAboveTheLimits() {
        #expect(throws: HTTPFault.bodyTooLong(limit: 100)) {
            try read("PUT / HTTP/1.1\r\nContent-Length: 101\r\n\r\n")
        }
        #expect(throws: HTTPFault.bodyTooLong(limit: 100)) {
            try read("PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n")
        }
        #expect(throws: HTTPFault.coded) { try read("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n") }
        let long = "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: HTTPRequestReader.headLimit)
        #expect(throws: HTTPFault.headTooLong) { try read(long) }
        #expect(throws: HTTPFault.headTooLong) { try read(long + "\r\n\r\n", piece: 4096) }
    }

    @Test func answerStatesItsTypeAndLength() {
        let text = String(decoding: HTTPAnswer(412, "the file has changed").octets, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 412 Precondition Failed\r\nContent-Type: text/plain; charset=utf-8\r\n"))
        #expect(text.contains("\r\nContent-Length: 21\r\n"))
        #expect(text.hasSuffix("\r\n\r\nthe file has changed\n"))
    }

    @Test func randomBytesAreReadOrRefused() {
        var generator = SystemRandomNumberGenerator()
        let marks = Array("GET / HTTP/1.1\r\n:Content-Length 9 \t".utf8)
        for _ in 0..<2000 {
            var reader = HTTPRequestReader(bodyLimit: 10)
            let octets = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator)
                    : marks[Int.random(in: 0..<marks.count, using: &generator)]
            }
            if let request = try? reader.take(octets) { #expect(request.target.hasPrefix("/")) }
        }
    }
}
