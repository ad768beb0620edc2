import Glibc
import LinuxHost

/// A fleet with a thousand boxes for each site and 25 for each room, on four floors of ten rooms.
struct SampleFleet {
    let folder: String
    let beacons: Int

    var file: String { folder + "/fleet.json" }
    var table: String { folder + "/beacons.csv" }
    var output: String { folder + "/out" }
    var lock: String { folder + "/fleet.lock.json" }

    private static let steady = #"""
        { "type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": "${major}",
          "minor": "${minor}", "intervalMs": 2500, "measuredPowerDbm": -59 },
        { "type": "eddystone-url", "url": "https://e.org/${page}", "intervalMs": 2500, "measuredPowerDbm": -18 }
        """#
    private static let rotating = #"""
        { "type": "eddystone-eid", "identityKeyFile": "/etc/pharos/keys/${name}.key", "rotationExponent": 10,
          "intervalMs": 1000, "measuredPower1mDbm": -59 }
        """#

    /// Writes the fleet file and its table.
    ///
    /// - Parameter rotates: True for ephemeral ids instead of an iBeacon and a URL.
    init(beacons: Int, in folder: String, rotates: Bool = false) throws {
        self.folder = folder
        self.beacons = beacons
        guard unsafe mkdir(folder, 0o700) == 0 else { throw SystemError("mkdir", folder, errno: errno) }
        let rules =
            rotates
            ? #""eidEpoch": "2026-03-01T12:00:00Z""#
            : #""major": { "per": "site" }, "minor": { "within": "site" }"#
        let text = """
            { "version": 1, "name": "benchmark",
              "template": { "advertisements": [ \(rotates ? Self.rotating : Self.steady) ] },
              "identities": { \(rules) }, "beacons": { "csv": "beacons.csv" } }
            """
        try Files.replace(file, with: Array(text.utf8), isDurable: false)
        let output = try OutputFile(replacing: table)
        var lines = Array("name,site,floor,room,host,serial,x,y,page\n".utf8)
        for number in 0..<beacons {
            lines += Self.row(number).utf8
            guard lines.count > 1 << 18 || number == beacons - 1 else { continue }
            try output.append(lines)
            lines.removeAll(keepingCapacity: true)
        }
    }

    static func name(_ number: Int) -> String { "box-" + padded(number, 6, radix: 10) }

    private static func row(_ number: Int) -> String {
        let (site, box) = (number / 1000, number % 1000)
        return "\(name(number)),site-\(padded(site, 3, radix: 10)),floor-\(box / 250),room-\(box / 25 % 10),"
            + "10.\(site >> 8).\(site & 255).\(box % 250),s\(padded(number, 8, radix: 16)),\(Double(box % 25) * 2.5),"
            + "\(box / 25 * 2),p\(String(number, radix: 16))\n"
    }

    private static func padded(_ number: Int, _ width: Int, radix: Int) -> String {
        let digits = String(number, radix: radix)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Removes the generated files.
    func clear() {
        Self.empty(output)
        _ = unsafe rmdir(output)
        _ = unsafe unlink(lock)
    }

    /// Removes all files.
    func remove() {
        for name in Files.names(in: folder) where Files.isDirectory("\(folder)/\(name)") {
            Self.empty("\(folder)/\(name)")
            _ = unsafe rmdir("\(folder)/\(name)")
        }
        Self.empty(folder)
        _ = unsafe rmdir(folder)
    }

    private static func empty(_ folder: String) {
        for name in Files.names(in: folder) { _ = unsafe unlink("\(folder)/\(name)") }
    }

    /// Returns inode, size, modification and change time of each file. A file that is written again differs in at least
    /// one of them.
    func stamps() throws -> [String: [Int]] {
        var stamps = [folder: try Self.stamp(output), lock: try Self.stamp(lock)]
        for name in Files.names(in: output) { stamps[name] = try Self.stamp("\(output)/\(name)") }
        return stamps
    }

    private static func stamp(_ path: String) throws -> [Int] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw SystemError("stat", path, errno: errno) }
        return [
            Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
