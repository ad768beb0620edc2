internal import Glibc

/// Asks other programs over the system's message bus: one property at a time, by the shortest exchange that a bus takes
/// (D-Bus Specification, Authentication Protocol, Message Protocol).
public enum SystemBus {
    /// Where the bus listens.
    static let socket = "/run/dbus/system_bus_socket"
    /// Far more than the answer needs, in octets.
    private static let sizeLimit = 1 << 16

    /// A property that is true or false. Starts the program that has it, where the bus knows how.
    ///
    /// - Parameters:
    ///   - property: Its name.
    ///   - interface: The interface that it belongs to, which is the program's name on the bus as well.
    ///   - path: The object that has it.
    ///   - socket: Where the bus listens.
    ///   - milliseconds: How long the answer is waited for.
    /// - Returns: `nil` where there is no bus, no answer in time, or another answer.
    static func boolean(
        _ property: String, of interface: String, at path: String, socket: String = socket, milliseconds: Int
    ) -> Bool? {
        let deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
        guard let bus = try? StreamSocket.connect(path: socket, timeoutMilliseconds: milliseconds) else { return nil }
        var outgoing = Array("\0AUTH EXTERNAL \(hexadecimal("\(geteuid())"))\r\nBEGIN\r\n".utf8)
        outgoing += SystemBusMessage.call(
            1, to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", [])
        outgoing += SystemBusMessage.call(
            question, to: interface, path, "org.freedesktop.DBus.Properties", "Get", [interface, property])
        var incoming: [UInt8] = []
        while incoming.count < sizeLimit {
            if !outgoing.isEmpty {
                guard let written = try? bus.write(outgoing) else { return nil }
                outgoing.removeFirst(written)
            }
            if let answer = SystemBusMessage.answer(to: question, in: incoming) { return answer.boolean }
            let interest = Poller.Interest(bus, outgoing.isEmpty ? .read : .readAndWrite)
            guard MonotonicClock.nanoseconds() < deadline, (try? Poller.wait([interest], until: deadline)) != nil
            else { return nil }
            do throws(SystemError) {
                let octets = try bus.read(upTo: 4096)
                // The bus has let us go.
                if octets.isEmpty { return nil }
                incoming += octets
            } catch {
                guard error.errno == EAGAIN else { return nil }
            }
        }
        return nil
    }

    /// The number of the one message whose answer is of interest.
    private static let question: UInt32 = 2

    private static func hexadecimal(_ text: String) -> String {
        text.utf8.map { String($0, radix: 16) }.joined()
    }
}

/// A message of the bus, as far as a question and its answer need it. In little-endian order, as both our architectures
/// have it.
struct SystemBusMessage {
    private var octets: [UInt8] = []

    /// A method call.
    static func call(
        _ serial: UInt32, to destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [String]
    ) -> [UInt8] {
        var body = SystemBusMessage()
        for argument in arguments { body.add(argument) }
        var fields = SystemBusMessage()
        for (code, type, text) in [(1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", destination)] {
            fields.add(UInt8(code), type)
            fields.add(text)
        }
        if !arguments.isEmpty {
            fields.add(8, "g")
            fields.addSignature(String(repeating: "s", count: arguments.count))
        }
        var message = SystemBusMessage()
        // Little-endian, a method call, no flags, version 1.
        message.octets = [UInt8(ascii: "l"), 1, 0, 1]
        message.add(UInt32(body.octets.count))
        message.add(serial)
        message.add(UInt32(fields.octets.count))
        message.octets += fields.octets
        message.align(8)
        return message.octets + body.octets
    }

    private mutating func align(_ size: Int) {
        while octets.count % size != 0 { octets.append(0) }
    }

    private mutating func add(_ number: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            octets.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    private mutating func add(_ text: String) {
        align(4)
        add(UInt32(text.utf8.count))
        octets += Array(text.utf8) + [0]
    }

    private mutating func addSignature(_ text: String) { octets += [UInt8(text.utf8.count)] + Array(text.utf8) + [0] }

    /// The code and the type of a header field; its value follows.
    private mutating func add(_ code: UInt8, _ type: String) {
        align(8)
        octets.append(code)
        addSignature(type)
    }
}

extension SystemBusMessage {
    /// What somebody answered.
    struct Answer: Hashable {
        /// `nil` for errors, and for values of another type.
        let boolean: Bool?
    }

    /// The answer to message `serial`, behind the lines of the authentication; `nil` while it has not come.
    static func answer(to serial: UInt32, in octets: [UInt8]) -> Answer? {
        guard let end = octets.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        // Anything but OK: the bus does not want us, and closes.
        var start = end + 1
        while let message = Header(octets, at: start) {
            if message.replySerial == serial { return Answer(boolean: message.boolean(in: octets)) }
            start = message.end
        }
        return nil
    }

    /// A message that is there as a whole.
    private struct Header {
        private(set) var replySerial: UInt32?
        let end: Int
        private let type: UInt8
        private let body: Int

        init?(_ octets: [UInt8], at start: Int) {
            guard octets.count >= start + 16, octets[start] == UInt8(ascii: "l") else { return nil }
            type = octets[start + 1]
            let fieldsEnd = start + 16 + Int(number(octets, start + 12))
            body = start + (fieldsEnd - start + 7) / 8 * 8
            end = body + Int(number(octets, start + 4))
            guard end <= octets.count else { return nil }
            var place = start + 16
            while place + 8 <= fieldsEnd {
                // Code, the length of the type, the type, and a zero; every type of a header field has one letter.
                let (code, letter) = (octets[place], octets[place + 2])
                guard octets[place + 1] == 1 else { return }
                if letter == UInt8(ascii: "u") {
                    if code == 5 { replySerial = number(octets, place + 4) }
                    place += 8
                } else if letter == UInt8(ascii: "g") {
                    place += 4 + Int(octets[place + 4]) + 2
                } else {
                    place += 4 + 4 + Int(number(octets, place + 4)) + 1
                }
                place = start + (place - start + 7) / 8 * 8
            }
        }

        /// The body is a variant that holds a boolean: its type, padding, and four octets.
        func boolean(in octets: [UInt8]) -> Bool? {
            guard type == 2, end - body == 8, octets[body] == 1, octets[body + 1] == UInt8(ascii: "b") else {
                return nil
            }
            return number(octets, body + 4) == 1
        }
    }
}

private func number(_ octets: [UInt8], _ place: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(octets[place + $1]) << (8 * UInt32($1)) }
}
