import BluetoothTypes
import Testing

@Suite struct AdapterNameTests {
    @Test(arguments: [
        ("hci0", AdapterName.raw(index: 0)),
        ("hci17", .raw(index: 17)),
        ("hci65535", .raw(index: 65535)),
        ("hci0:user", .user(index: 0)),
        ("hci3:user", .user(index: 3)),
        ("hci2:mgmt", .managed(index: 2)),
        ("tcp:127.0.0.1:9001", .tcp(host: "127.0.0.1", port: 9001)),
        ("tcp:board.example:1", .tcp(host: "board.example", port: 1)),
        ("tcp:[::1]:65535", .tcp(host: "::1", port: 65535)),
        ("unix:/run/controller.sock", .unix(path: "/run/controller.sock")),
        ("unix:relative", .unix(path: "relative")),
        ("unix:/a:b@c", .unix(path: "/a:b@c")),
        ("serial:/dev/ttyACM0@115200", .serial(path: "/dev/ttyACM0", rate: 115_200)),
        ("serial:/dev/ttyS1@9600", .serial(path: "/dev/ttyS1", rate: 9600)),
        ("virtual", .virtual), ("virtual?path=tour", .virtualTour),
    ])
    func nameIsReadAndPrintedUnchanged(_ text: String, _ name: AdapterName) throws {
        #expect(try AdapterName(text) == name)
        #expect(name.description == text)
    }

    @Test func serialLineHasADefaultBitRate() throws {
        #expect(try AdapterName("serial:/dev/ttyACM0") == .serial(path: "/dev/ttyACM0", rate: 115_200))
    }

    private static let forms =
        "use hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, "
        + "serial:/dev/ttyACM0@115200 or virtual"

    @Test(arguments: [
        "", "hci", "hci-1", "hci+1", "hci65536", "hci0 ", " hci0", "HCI0", "hci0:", "hci0:raw", "hci0:user:",
        "hci0:mgmt:", "hci0:MGMT", "hci1x", "hci00", "hci01:user",
        "hci\u{661}", "hci0\u{301}", "Virtual", "virtual:1", "usb:0", "/dev/ttyACM0", "tcp", "unix",
        "hci99999999999999",
    ])
    func invalidNameIsRefusedWithTheValidForms(_ text: String) {
        #expect {
            try AdapterName(text)
        } throws: {
            "\($0)" == "\"\(text)\" is not the name of an adapter; \(Self.forms)"
        }
    }

    @Test(arguments: [
        "tcp:", "tcp::", "tcp:host", "tcp:host:", "tcp::9001", "tcp:host:0", "tcp:host:65536", "tcp:host:-1",
        "tcp:host:+80", "tcp:host:080", "tcp:my host:80", "tcp:host:80x", "tcp:host:\u{668}", "tcp:[]:80",
    ])
    func tcpNeedsHostAndPort(_ text: String) {
        #expect {
            try AdapterName(text)
        } throws: {
            "\($0)" == "\"\(text)\" needs a host and a port 1...65535: tcp:HOST:PORT"
        }
    }

    @Test func unixAndSerialNamesNeedAPath() {
        let table = [
            ("unix:", "\"unix:\" needs the path of a socket: unix:PATH"),
            ("serial:", "\"serial:\" needs the path of a serial line: serial:/dev/ttyACM0@115200"),
            ("serial:@115200", "\"serial:@115200\" needs the path of a serial line: serial:/dev/ttyACM0@115200"),
        ]
        for (text, message) in table {
            #expect {
                try AdapterName(text)
            } throws: {
                "\($0)" == message
            }
        }
    }

    @Test(arguments: ["", "0", "-9600", "+9600", "115201", "fast", "115200@", "99999999999999999999"])
    func unknownBitRateIsRefusedWithTheKnownRates(_ rate: String) {
        let text = "serial:/dev/ttyS0@\(rate)"
        #expect {
            try AdapterName(text)
        } throws: {
            "\($0)" == "\"\(text)\" has no bit rate that Linux supports; use one of 9600, 19200, 38400, 57600, 115200, "
                + "230400, 460800, 921600, 1000000, 2000000, 3000000, 4000000"
        }
    }
}
