import BluetoothTypes
import Configuration
import Profiles
import Testing

/// A profile accepts the adapters that `--adapter` accepts, and refuses others with the same message.
@Suite struct AdapterTests {
    private static let minimal = """
        {"version":1,"name":"a","adapter":ADAPTER,"advertisements":[{"type":"ibeacon",\
        "uuid":"fb0b57a2-8228-44cd-913a-94a122ba1206","major":1,"minor":2,"intervalMs":100,"measuredPowerDbm":-59}]}
        """

    private func decode(_ adapter: String) -> (profile: BeaconProfile?, problems: [FileProblem]) {
        let text = JSONValue.string(adapter).line
        let file = Self.minimal.split(separator: "ADAPTER").joined(separator: text)
        return BeaconProfile.decode(Array(file.utf8))
    }

    @Test(arguments: [
        ("hci0", AdapterName.raw(index: 0)),
        ("hci65535", .raw(index: 65535)),
        ("hci1:user", .user(index: 1)),
        ("hci2:mgmt", .managed(index: 2)),
        ("tcp:board.example:1", .tcp(host: "board.example", port: 1)),
        ("tcp:[::1]:65535", .tcp(host: "::1", port: 65535)),
        ("tcp:::1:9001", .tcp(host: "::1", port: 9001)),
        ("unix:/run/a controller.sock", .unix(path: "/run/a controller.sock")),
        ("unix:/a:b@c", .unix(path: "/a:b@c")),
        ("serial:/dev/ttyACM0", .serial(path: "/dev/ttyACM0", rate: 115_200)),
        ("serial:/dev/ttyS1@9600", .serial(path: "/dev/ttyS1", rate: 9600)),
        ("serial:/dev/board@home@4000000", .serial(path: "/dev/board@home", rate: 4_000_000)),
        ("serial:/dev/my board@115200", .serial(path: "/dev/my board", rate: 115_200)),
        ("virtual", .virtual), ("virtual?path=tour", .virtualTour),
    ])
    func profileAndOptionAcceptTheSameAdapters(_ text: String, _ name: AdapterName) throws {
        #expect(try AdapterName(text) == name)
        let (profile, problems) = decode(text)
        #expect(profile?.adapter == text && problems == [])
    }

    @Test(arguments: [
        "", "hci", "hci00", "hci01:user", "hci65536", "hci0:", "hci0:raw", "hci0 ", "usb0", "Virtual", "virtual:1",
        "tcp:host", "tcp:host:0", "tcp:host:080", "tcp:host:65536", "tcp:a host:80", "tcp:[]:80", "tcp::80",
        "unix:", "unix:/a\nb", "tcp:a\tb:80", "serial:/dev/tty\u{7F}",
        "serial:", "serial:@9600", "serial:/dev/ttyS0@", "serial:/dev/ttyS0@12345", "serial:/dev/ttyS0@09600",
        "serial:/dev/ttyS0@fast", "serial:/dev/a@b@c", "serial:/dev/ttyS0@100000000",
    ])
    func profileAndOptionRefuseWithTheSameMessage(_ text: String) throws {
        let error = try #require(throws: AdapterNameError.self) { _ = try AdapterName(text) }
        #expect("\(error)" == "\"\(text)\" \(error.fault)")
        let (profile, problems) = decode(text)
        #expect(profile == nil)
        #expect(problems.count == 1 && problems[0].message.hasSuffix(" \(error.fault)"), "\(problems)")
        if !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            #expect(problems.first?.message == "\(error)")
        }
    }
}
