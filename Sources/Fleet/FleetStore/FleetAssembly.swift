internal import Fleet
internal import LinuxHost

/// Makes and checks a fleet's files on all cores, each beacon once. Who makes which part changes nothing: the parts are
/// taken in order.
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
        var findings = FleetFindings()
    }

    private static let partSize = 4096
    /// Beacons of a part that is only looked at: each part learns anew what its beacons have in common.
    private static let checkedSize = 1 << 15
    /// Parts that are made ahead of the one that is being written.
    private static let window = 12

    private let fleet: Fleet
    private let allocation: FleetAllocation
    private let inspection: FleetInspection
    private let manifestOnly: Bool

    init(_ fleet: Fleet, _ allocation: FleetAllocation, keys: FleetKeyFolder?, manifestOnly: Bool) {
        self.fleet = fleet
        self.allocation = allocation
        inspection = FleetInspection(fleet, allocation, keys: keys)
        self.manifestOnly = manifestOnly
    }

    private var partCount: Int { (fleet.beaconCount + Self.partSize - 1) / Self.partSize }

    /// Hands all parts to `body`, in order, and says what was found in them. What is made of a fleet with errors is of no
    /// use: then `body` gets no more of it.
    func run(_ body: (Part) throws(SystemError) -> Void) throws(SystemError) -> FleetReport {
        var checker = FleetChecker(inspection)
        let parts = try OrderedWork(pieces: partCount, window: Self.window) { [self] in make($0) }
        while let part = parts.next() {
            let wasFull = checker.isFull
            checker.add(part.findings)
            if wasFull { parts.stop() }
            if !checker.hasErrors { try body(part) }
        }
        return checker.report()
    }

    private func make(_ number: Int) -> Part {
        let start = number * Self.partSize
        let generator = FleetGenerator(
            fleet, allocation, range: start..<min(start + Self.partSize, fleet.beaconCount), inspection: inspection)
        var part = Part()
        while generator.next() {
            if !manifestOnly { part.profiles.append((generator.name, generator.profile)) }
            if part.manifest.isEmpty {
                // Lines of one part are about equally long: room for all of them, and a tenth more.
                part.manifest.reserveCapacity(generator.manifestLine.count * generator.count * 11 / 10)
                part.table.reserveCapacity(generator.tableLines.count * generator.count * 11 / 10)
            }
            part.manifest += generator.manifestLine
            part.table += generator.tableLines
        }
        part.manifestEnd = generator.manifestEnd
        part.beacons = generator.count
        part.findings = generator.findings
        return part
    }

    /// Looks at all beacons, and makes nothing of them.
    ///
    /// - Parameter progress: Gets how many beacons are done, now and then.
    static func check(
        _ fleet: Fleet, _ allocation: FleetAllocation, keys: FleetKeyFolder?, progress: (Int) -> Void = { _ in }
    ) throws(SystemError) -> FleetReport {
        let inspection = FleetInspection(fleet, allocation, keys: keys)
        var checker = FleetChecker(inspection)
        let count = fleet.beaconCount
        let parts = try OrderedWork(pieces: (count + checkedSize - 1) / checkedSize, window: window) { number in
            inspection.findings(in: number * checkedSize..<min((number + 1) * checkedSize, count))
        }
        var done = 0
        while let findings = parts.next() {
            let wasFull = checker.isFull
            checker.add(findings)
            if wasFull { parts.stop() }
            done = min(done + checkedSize, count)
            progress(done)
        }
        return checker.report()
    }
}
