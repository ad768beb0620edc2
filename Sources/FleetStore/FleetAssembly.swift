internal import Fleet
internal import LinuxHost

/// Makes and checks a fleet's files on all cores. Who makes which part changes nothing: the parts are taken in order.
final class FleetAssembly: Sendable {
    /// The files of beacons that follow each other.
    struct Part: Sendable {
        /// Names and contents; none where only manifests are wanted.
        var profiles: [(name: String, text: [UInt8])] = []
        var manifest: [UInt8] = []
        var table: [UInt8] = []
        /// What stands behind the last line of the manifest.
        var manifestEnd: [UInt8] = []
        var beacons = 0
    }

    private static let partSize = 4096
    /// Parts that are made ahead of the one that is being written.
    private static let window = 12

    private let fleet: Fleet
    private let allocation: FleetAllocation
    private let keys: FleetKeyFolder?
    private let manifestOnly: Bool

    init(_ fleet: Fleet, _ allocation: FleetAllocation, keys: FleetKeyFolder?, manifestOnly: Bool) {
        self.fleet = fleet
        self.allocation = allocation
        self.keys = keys
        self.manifestOnly = manifestOnly
    }

    private var partCount: Int { (fleet.beaconCount + Self.partSize - 1) / Self.partSize }

    /// Hands all parts to `body`, in order, and says what the check found. What is made of a fleet with errors is of no
    /// use: then the parts end early.
    func run(_ body: (Part) throws(SystemError) -> Void) throws(SystemError) -> FleetReport {
        let parts = try OrderedWork(pieces: partCount, window: Self.window) { [self] in make($0) }
        let report = try BackgroundResult { [self] in
            let report = fleet.check(allocation, keys: keys)
            if !report.isGood { parts.stop() }
            return report
        }
        while let part = parts.next() { try body(part) }
        return report.value
    }

    private func make(_ number: Int) -> Part {
        let start = number * Self.partSize
        let generator = FleetGenerator(fleet, allocation, range: start..<min(start + Self.partSize, fleet.beaconCount))
        var part = Part()
        while generator.next() {
            if !manifestOnly { part.profiles.append((generator.name, generator.profile)) }
            part.manifest += generator.manifestLine
            part.table += generator.tableLines
        }
        part.manifestEnd = generator.manifestEnd
        part.beacons = generator.count
        return part
    }
}
