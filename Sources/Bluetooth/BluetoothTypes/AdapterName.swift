/// The name of a Bluetooth adapter, as in `--adapter` and in profiles. The name also selects how Pharos connects to the
/// adapter. The adapter need not exist.
public enum AdapterName: Hashable, Sendable {
    /// `hci0`: raw HCI, shared with the kernel's Bluetooth stack.
    case raw(index: UInt16)
    /// `hci0:user`: the user channel, which removes the adapter from the kernel's Bluetooth stack.
    case user(index: UInt16)
    /// `hci0:mgmt`: the kernel's advertising manager, shared with bluetoothd. It cannot send HCI commands.
    case managed(index: UInt16)
    /// `tcp:HOST:PORT`: H4 over TCP.
    case tcp(host: String, port: UInt16)
    /// `unix:PATH`: H4 over a unix stream socket.
    case unix(path: String)
    /// `serial:/dev/ttyACM0@115200`: H4 over a UART.
    case serial(path: String, rate: Int)
    /// `virtual`: a simulated controller inside this process. A receiver with this adapter receives all beacons that
    /// its files describe, as if it were next to each of them.
    case virtual
    /// `virtual?path=tour`: the simulated controller, with a receiver that moves from beacon to beacon.
    case virtualTour

    /// The bit rate of `serial:` names without a rate.
    public static let defaultSerialRate = 115_200

    /// The bit rates that Linux supports, in bit/s, in ascending order.
    public static let serialRates = [
        9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600, 1_000_000, 2_000_000, 3_000_000, 4_000_000,
    ]

    /// Reads a name. Numbers are decimal without leading zeros; control characters are not allowed.
    ///
    /// - Throws: ``AdapterNameError``, which lists the valid forms.
    public init(_ text: String) throws(AdapterNameError) {
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            throw AdapterNameError(text, .unknown)
        } else if text == "virtual" {
            self = .virtual
        } else if text == "virtual?path=tour" {
            self = .virtualTour
        } else if text.hasPrefix("virtual?") {
            throw AdapterNameError(text, .virtual)
        } else if let rest = text.after("tcp:") {
            guard let colon = rest.lastIndex(of: ":"), colon != rest.startIndex,
                let port = UInt16(decimalDigits: rest[rest.index(after: colon)...]), port != 0
            else { throw AdapterNameError(text, .tcp) }
            var host = String(rest[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            guard !host.isEmpty, !host.contains(" ") else { throw AdapterNameError(text, .tcp) }
            self = .tcp(host: host, port: port)
        } else if let path = text.after("unix:") {
            guard !path.isEmpty else { throw AdapterNameError(text, .unix) }
            self = .unix(path: path)
        } else if let rest = text.after("serial:") {
            let atSign = rest.lastIndex(of: "@")
            let path = rest[..<(atSign ?? rest.endIndex)]
            guard !path.isEmpty else { throw AdapterNameError(text, .serial) }
            guard
                let rate = atSign.map({ Int(decimalDigits: rest[rest.index(after: $0)...]) }) ?? Self.defaultSerialRate,
                Self.serialRates.contains(rate)
            else { throw AdapterNameError(text, .serialRate) }
            self = .serial(path: String(path), rate: rate)
        } else if let rest = text.after("hci") {
            let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let index = parts.first.flatMap(UInt16.init(decimalDigits:))
            else { throw AdapterNameError(text, .unknown) }
            switch parts.count == 2 ? String(parts[1]) : "" {
            case "" where parts.count == 1: self = .raw(index: index)
            case "user": self = .user(index: index)
            case "mgmt": self = .managed(index: index)
            default: throw AdapterNameError(text, .unknown)
            }
        } else {
            throw AdapterNameError(text, .unknown)
        }
    }
}

extension AdapterName: CustomStringConvertible {
    public var description: String {
        switch self {
        case .raw(let index): "hci\(index)"
        case .user(let index): "hci\(index):user"
        case .managed(let index): "hci\(index):mgmt"
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .serial(let path, let rate): "serial:\(path)@\(rate)"
        case .virtual: "virtual"
        case .virtualTour: "virtual?path=tour"
        }
    }
}

extension AdapterName {
    /// `true` for both forms of the virtual adapter.
    public var isVirtual: Bool { self == .virtual || self == .virtualTour }

    /// The number N of `hciN`, 0...65535; `nil` for the other forms.
    public var kernelIndex: UInt16? {
        switch self {
        case .raw(let index), .user(let index), .managed(let index): index
        case .tcp, .unix, .serial, .virtual, .virtualTour: nil
        }
    }

    /// Returns the name with `index` as the N of `hciN`; returns the other forms unchanged.
    public func withKernelIndex(_ index: UInt16) -> AdapterName {
        switch self {
        case .raw: .raw(index: index)
        case .user: .user(index: index)
        case .managed: .managed(index: index)
        case .tcp, .unix, .serial, .virtual, .virtualTour: self
        }
    }
}

/// An error about a text that is not the name of an adapter.
public struct AdapterNameError: Error, Hashable, Sendable, CustomStringConvertible {
    enum Reason: Hashable, Sendable {
        case unknown
        case tcp
        case unix
        case serial
        case serialRate
        case virtual
    }

    /// The refused text.
    public let text: String
    let reason: Reason

    init(_ text: String, _ reason: Reason) {
        self.text = text
        self.reason = reason
    }

    public var description: String { "\"\(text)\" \(fault)" }

    /// The error message without the refused text: `needs the path of a socket: unix:PATH`.
    public var fault: String {
        switch reason {
        case .unknown:
            "is not the name of an adapter; use hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, "
                + "serial:/dev/ttyACM0@115200 or virtual"
        case .tcp: "needs a host and a port 1...65535: tcp:HOST:PORT"
        case .unix: "needs the path of a socket: unix:PATH"
        case .serial: "needs the path of a serial line: serial:/dev/ttyACM0@115200"
        case .virtual: "is not a virtual adapter; use virtual, or virtual?path=tour to walk from beacon to beacon"
        case .serialRate:
            "has no bit rate that Linux supports; use one of "
                + AdapterName.serialRates.map(String.init).joined(separator: ", ")
        }
    }
}

extension FixedWidthInteger {
    /// Reads a number in decimal digits without a leading zero or a sign; `nil` for other texts and for numbers that
    /// are too large.
    fileprivate init?(decimalDigits text: Substring) {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            text.utf8.count == 1 || text.utf8.first != UInt8(ascii: "0")
        else { return nil }
        self.init(text, radix: 10)
    }
}

extension String {
    /// Returns the text after `prefix`; `nil` if the text does not start with `prefix`.
    fileprivate func after(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
