import BluetoothTypes
import CMeasurement
import Configuration
import EddystoneSecurity
import Fleet
import Glibc
import LinuxHost

/// The search for the beacon of an ephemeral id among the keys of a large fleet, on one core and in three windows for
/// each key.
struct IdentifierTimes {
    let pharos: String
    /// A directory for temporary keys.
    let folder: String
    let beacons: Int

    private static let rounds = 5
    /// The number of keys that have a file each.
    private static let files = 20_000
    private static let epoch = RFC3339Time(secondsSince1970: 1_772_366_400)
    private static let exponent = RotationExponent(rawValue: 10)

    func run(_ report: Report) throws {
        report.section("Fleet: an ephemeral id among \(Double(beacons).grouped) identity keys, on one core")
        guard measurement_pin() == 0 else { throw BenchmarkError("no core can be reserved") }
        defer { _ = measurement_unpin() }
        let path = folder + "/ring"
        defer { _ = unsafe unlink(path) }
        let text = try ring()
        try Files.replace(path, with: text, mode: 0o600, isDurable: false)

        // The id of the last beacon, so that the search is as long as possible, received one window late.
        let time = RFC3339Time(secondsSince1970: Self.epoch.secondsSince1970 + 40_000_000)
        let key = Self.key(beacons - 1)
        guard let exponent = Self.exponent else { throw BenchmarkError("10 is not a rotation exponent") }
        let id = try key.ephemeralID(at: IdentityKey.firstCounter + 40_000_000 - 1024, exponent: exponent)
        let question = EphemeralIDQuestion(id, at: time)
        let entries = try KeyRingReader.entries(text)

        let command = [pharos, "fleet", "keys", "resolve", "\(id)", path, "--at", "\(time)"]
        let times = try Measuring.inTurns(
            rounds: Self.rounds,
            [
                {
                    var found: [String] = []
                    for entry in entries where try question.answer(entry) != nil { found.append(entry.name) }
                    guard found == [SampleFleet.name(beacons - 1)] else { throw BenchmarkError("found \(found)") }
                },
                {
                    let output = try ChildProcess.output(of: command)
                    guard output.hasPrefix(SampleFleet.name(beacons - 1) + " ") else {
                        throw BenchmarkError("pharos fleet keys resolve found \(output)")
                    }
                },
            ]
        ).map { $0.median / 1e9 }
        // The goal is 5 s for a million keys.
        let goal = Double(beacons) * 5e-6
        report.target("the search alone", times[0], "s", atMost: goal)
        report.target("pharos fleet keys resolve, from a ring of keys", times[1], "s", atMost: goal)
        report.line(
            "Medians of \(Self.rounds) rounds, in turns; \(Double(text.count).grouped) bytes of keys are read.")
        try separateFiles(report)
    }

    /// Returns a key that is different for each beacon and the same in each run.
    private static func key(_ number: Int) -> IdentityKey {
        var random = SplitMix64(seed: UInt64(number))
        var octets = FixedOctets<16>()
        for index in 0..<16 { octets[index] = UInt8.random(in: 0...255, using: &random) }
        return IdentityKey(octets)
    }

    private func ring() throws -> [UInt8] {
        var ring = KeyRing()
        var text = Array(KeyRing.start.utf8)
        for number in 0..<beacons {
            let beacon = FleetManifest.Beacon(
                name: SampleFleet.name(number), profileHash: "", eidEpoch: Self.epoch,
                advertisements: [
                    .init(
                        type: "eddystone-eid", identity: .none, intervalMicroseconds: 1_000_000,
                        identityKeyFile: SampleFleet.name(number) + ".key", rotationExponent: 10)
                ])
            guard let rotation = try BeaconRotation(beacon),
                let line = ring.beaconLine(rotation, groupPath: ["site-\(number / 1000)"], key: Self.key(number))
            else { throw BenchmarkError("no line for the key \(number)") }
            text += line.utf8
        }
        return text + KeyRing.end.utf8
    }

    /// Measures one key file for each beacon, which is what `fleet keys generate` writes, and the time that the kernel
    /// alone needs for these files.
    private func separateFiles(_ report: Report) throws {
        let count = min(beacons, Self.files)
        let fleet = try SampleFleet(beacons: count, in: folder + "/keys", rotates: true)
        defer { fleet.remove() }
        let nowhere = try Descriptor.open("/dev/null", .replace)
        let keys = fleet.folder + "/keys"
        try ChildProcess.run(
            [pharos, "fleet", "generate", fleet.file, "--manifest-only", "--output", fleet.output], output: nowhere)
        try ChildProcess.run([pharos, "fleet", "keys", "generate", fleet.output, "--keys", keys], output: nowhere)
        let names = Files.names(in: keys)
        let list = Array(names.joined(separator: "\0").utf8CString)
        let command = [
            pharos, "fleet", "keys", "resolve", "0011223344556677", fleet.output, "--keys", keys, "--json",
        ]
        let times = try Measuring.inTurns(
            rounds: Self.rounds,
            [
                // Exit status 1: no beacon has this id.
                { _ = try MeasuredRun(command, output: nowhere, expected: 1) },
                {
                    let sum = unsafe measurement_read_files(keys, list, Int32(names.count))
                    guard sum == names.count * 33 else { throw SystemError("read", keys, errno: errno) }
                },
            ]
        ).map { $0.median / Double(count) / 1000 }
        report.line(
            "With one file a beacon (\(Double(count).grouped) of them, lately read): \(times[0].text(1)) µs a key, of")
        report.line("which a loop in C that opens, looks at, reads and closes each takes \(times[1].text(1)) µs.")
    }
}
