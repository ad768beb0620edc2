/// Where virtual controllers are served: `unix:PATH`, `tcp:HOST:PORT` or `vhci`.
public enum ListenAddress: Hashable, Sendable {
    case unix(path: String)
    /// Port 0 takes a free one.
    case tcp(host: String, port: UInt16)
    /// The kernel gets an hciN, by its module hci_vhci.
    case kernel

    /// Reads an address as people write it. An IPv6 address with a port stands in brackets.
    public init(_ text: String) throws(ListenAddressError) {
        if text == "vhci" {
            self = .kernel
        } else if text.hasPrefix("unix:"), text.count > 5 {
            self = .unix(path: String(text.dropFirst(5)))
        } else if text.hasPrefix("tcp:"), let (host, port) = Self.hostAndPort(text.dropFirst(4)) {
            self = .tcp(host: host, port: port)
        } else {
            throw ListenAddressError()
        }
    }

    /// Splits HOST:PORT; `nil` unless there are both. An IPv6 address stands in brackets, or its colons would be taken
    /// for the port's.
    private static func hostAndPort(_ text: Substring) -> (String, UInt16)? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        // UInt16 would take a sign, too.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("["), !host.contains("]") else { return nil }
        return (String(host), port)
    }
}

/// A text that names no place to listen at.
public struct ListenAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Names the forms that there are.
    public var description: String { "use unix:PATH, tcp:HOST:PORT or vhci" }
}
