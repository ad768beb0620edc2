import Glibc
import Testing

@testable import LinuxHost

@Suite struct LoopbackServerTests {
    private let server: LoopbackServer
    private let token: String
    private let port: String

    init() throws {
        server = try LoopbackServer(bodyLimit: 100)
        let parts = server.address.split(separator: "/").map(String.init)
        token = try #require(parts.last)
        port = String(try #require(parts[1].split(separator: ":").last))
        #expect(server.address == "http://127.0.0.1:\(port)/\(token)/")
    }

    private func request(_ path: String, host: String? = nil, origin: String? = nil) throws -> HTTPRequest {
        var reader = HTTPRequestReader(bodyLimit: 100)
        let fields = (host.map { "Host: \($0)\r\n" } ?? "") + (origin.map { "Origin: \($0)\r\n" } ?? "")
        return try #require(try reader.take(Array("GET \(path) HTTP/1.1\r\n\(fields)\r\n".utf8)))
    }

    @Test func eachServerHasATokenOfItsOwn() throws {
        #expect(token.count == 32)
        #expect(try LoopbackServer(bodyLimit: 1).address != server.address)
    }

    @Test func acceptsRequestsOfItsOwnPage() throws {
        for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)"] {
            #expect(try server.refusal(of: request("/\(token)/", host: host)) == nil)
        }
        let origin = "http://127.0.0.1:\(port)"
        #expect(try server.refusal(of: request("/\(token)/file", host: "127.0.0.1:\(port)", origin: origin)) == nil)
    }

    @Test func aWrongTokenIsRefused() throws {
        let host = "127.0.0.1:\(port)"
        let wrong = token.dropLast() + (token.hasSuffix("0") ? "1" : "0")
        for path in [
            "/", "/\(token)", "/\(wrong)/", "/\(token.uppercased())x/", "//\(token)/", "/x/\(token)/",
        ] {
            let refusal = server.refusal(of: try request(path, host: host))
            #expect(refusal?.status == 403, "\(path)")
        }
    }

    @Test func refusesOtherHostNames() throws {
        for host in ["evil.example", "evil.example:\(port)", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:\(port)", ""] {
            #expect(try server.refusal(of: request("/\(token)/", host: host))?.status == 403, "\(host)")
        }
        #expect(try server.refusal(of: request("/\(token)/"))?.status == 403)
    }

    @Test func refusesRequestsFromOtherOrigins() throws {
        for origin in [
            "http://evil.example", "null", "https://127.0.0.1:\(port)", "http://127.0.0.1:\(port).evil.example",
        ] {
            let request = try request("/\(token)/", host: "127.0.0.1:\(port)", origin: origin)
            #expect(server.refusal(of: request)?.status == 403, "\(origin)")
        }
    }

    @Test func itAnswersUntilTheLastReply() throws {
        let clients = try (0..<3).map { _ in
            try StreamSocket.connect(host: "127.0.0.1", port: UInt16(port) ?? 0)
        }
        // The first client sends nothing, like the connections that browsers open in advance.
        try clients[1].writeAll(Array("GET /\(token)/a HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8))
        try clients[2].writeAll(Array("POST /\(token)/b HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8))
        // A signal that no test sends.
        let stop = try SignalDescriptor([SIGWINCH])
        var seen: [String] = []
        try server.run(until: stop) { request in
            seen.append("\(request.method) \(request.target)")
            return seen.count < 2 ? .answer(HTTPAnswer(200, "first")) : .last(HTTPAnswer(200, "last"))
        }
        #expect(Set(seen) == ["GET /a", "POST /b"])
        for client in clients.dropFirst() {
            var octets: [UInt8] = []
            while let part = try? client.read(upTo: 4096), !part.isEmpty { octets += part }
            #expect(String(decoding: octets, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }
}
