import BluetoothTypes
import Glibc
import LinuxHost
import Testing

@testable import HCITransports

/// Each error of the kernel has its own message with a remedy.
@Suite struct TransportErrorTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let call: String
        let errno: Int32
        let adapter: String
        let reason: TransportError.Reason
        let sentence: String

        init(_ call: String, _ errno: Int32, _ adapter: String, _ reason: TransportError.Reason, _ sentence: String) {
            self.call = call
            self.errno = errno
            self.adapter = adapter
            self.reason = reason
            self.sentence = sentence
        }

        var testDescription: String { "\(adapter), errno \(errno)" }
    }

    @Test(arguments: [
        Case(
            "socket", EAFNOSUPPORT, "hci0", .missing,
            "hci0: this kernel has no Bluetooth, or this is a container without the host's network; "
                + "`--adapter virtual` works without one"),
        Case(
            "HCIGETDEVINFO", ENODEV, "hci7", .missing,
            "hci7: there is no such adapter; `pharos adapters` lists the adapters of this machine"),
        Case(
            "HCIDEVUP", 132, "hci0", .rfkilled,
            "hci0: the radio is switched off by rfkill; `rfkill unblock bluetooth` switches it on"),
        Case("bind", ENETDOWN, "hci0", .down, "hci0: the adapter is down; `hciconfig hci0 up` brings it up"),
        Case(
            "bind", EUSERS, "hci0:user", .busy,
            "hci0:user: another program uses the adapter's user channel; end that program first"),
        Case(
            "bind", EBUSY, "hci0:user", .busy,
            "hci0:user: the adapter is up, and the user channel needs it down; "
                + "run `hciconfig hci0 down` and stop bluetoothd, or use hci0 without :user"),
        Case(
            "HCIDEVUP", EBUSY, "hci0", .busy,
            "hci0: another program uses the adapter's user channel; end that program first"),
        Case(
            "socket", EPERM, "hci0", .notPermitted(.netRaw),
            "hci0: opening a Bluetooth socket needs CAP_NET_RAW: run as root, or run `\(ThisProgram.capabilityCommand)`"
        ),
        Case("bind", EIO, "hci0", .system, "hci0: bind: Input/output error (errno 5)"),
    ])
    func eachErrorHasItsMessage(_ item: Case) {
        let error = TransportError.bluetooth(item.call, item.errno, item.adapter)
        #expect(error.description == item.sentence)
        #expect(error.reason == item.reason)
        #expect(error.adapter == item.adapter)
    }

    @Test func missingCapabilityIsNamed() {
        let error = TransportError.notPermitted(.netAdmin, "hci0:user", "the user channel")
        #expect(error.reason == .notPermitted(.netAdmin))
        #expect(
            error.description
                == "hci0:user: the user channel needs CAP_NET_ADMIN: "
                + "run as root, or run `\(ThisProgram.capabilityCommand)`"
        )
    }

    @Test func unreachableStreamsAreReportedWithTheReason() throws {
        let table: [(AdapterName, Int32, String)] = [
            (
                .tcp(host: "board.example", port: 9), ENOENT,
                "tcp:board.example:9: the name board.example has no address; check its spelling, or give the "
                    + "address itself"
            ),
            (
                .tcp(host: "::1", port: 9), ECONNREFUSED,
                "tcp:[::1]:9: Connection refused; is the controller's program running and listening there?"
            ),
            (.tcp(host: "h", port: 9), ETIMEDOUT, "tcp:h:9: there was no answer in time"),
            (.unix(path: "/a"), ENOENT, "unix:/a: there is no such socket; is the controller's program running?"),
            (.unix(path: "/a"), EACCES, "unix:/a: this user may not open it"),
            (
                .serial(path: "/dev/ttyACM0", rate: 9600), ENOENT,
                "serial:/dev/ttyACM0@9600: there is no such serial line; is the board plugged in? "
                    + "`ls /dev/ttyACM* /dev/ttyUSB*` lists the serial lines"
            ),
            (
                .serial(path: "/dev/ttyACM0", rate: 9600), EACCES,
                "serial:/dev/ttyACM0@9600: this user may not open it; "
                    + "run `sudo adduser $USER dialout`, then log in again"
            ),
            (.serial(path: "/dev/null", rate: 9600), ENOTTY, "serial:/dev/null@9600: this is not a serial line"),
        ]
        for (name, errno, sentence) in table {
            let error = TransportError.unreachable(name, SystemError("connect", errno: errno))
            #expect(error.description == sentence)
            #expect(error.reason == .unreachable)
        }
    }
}
