import BluetoothTypes
import Configuration
import Fleet

/// Beacons for the tests of exports and labels, and hostile texts.
enum SampleFleet {
    static func beacon(
        _ name: String, group: [String] = ["museum", "ground", "hall"], host: String? = "pi-1.example",
        address: String? = "D0:11:22:33:44:55", position: FleetManifest.Position? = nil,
        advertisements: [FleetManifest.Advertisement] = [iBeacon(1, 2)]
    ) -> FleetManifest.Beacon {
        FleetManifest.Beacon(
            name: name, group: group, host: host, address: address.flatMap { DeviceAddress($0) }, position: position,
            profileHash: "00e1234567890123", advertisements: advertisements)
    }

    static func iBeacon(_ major: UInt16, _ minor: UInt16) -> FleetManifest.Advertisement {
        .init(
            type: "ibeacon", identity: .iBeacon(uuid: .init(repeating: 0x0B), major: major, minor: minor),
            intervalMicroseconds: 152_500, radioPower: -4, measuredPower: -59)
    }

    static let ephemeral = FleetManifest.Advertisement(
        type: "eddystone-eid", identity: .none, intervalMicroseconds: 1_000_000, identityKeyFile: "keys/own",
        rotationExponent: 10)

    static func number(_ text: String) -> JSONNumber { JSONNumber(text) ?? JSONNumber(0) }

    /// Texts that other programs could interpret as formulas, markup or code.
    static let hostile = [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "a;=cmd|' /C calc'!A1", "a,\"=1", "\r\n=1", " =1", "\u{FF1D}1", "%0A",
        "- a: b", "!include /etc/passwd", "&a *a", "yes", "null", "{{ $labels }}", "${x}", "\u{85}\u{2028}", "a\0b",
        "'; rm -rf /", "\"", "\\", "{[", "é\u{1F4A1}",
    ]
}
