public import Airtime
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
public import Planner
internal import Sites

/// A rehearsal of a fleet: all machines, phones and receivers on one simulated air, faster than real time.
///
/// Equal files, options and seeds give equal results, whatever the number of threads.
public struct Rehearsal: Sendable {
    /// The options of a rehearsal.
    public struct Options: Sendable {
        public var hours = 24.0
        public var phones = 100
        /// The scanners of the phones; nil to use the scanners of the site, or `android-balanced` if the site has none.
        public var scanners: ScannerMix?
        /// The PHY on which the phones receive extended advertising; nil for legacy PDUs only.
        public var scannerPHY: ScannerPHY?
        public var seed: UInt64 = 1
        public var faults: [RehearsalFault] = []
        /// The period that the report stores event by event for the player, in s, such as 0...60; nil to store none.
        public var playbackRange: ClosedRange<Double>?
        /// The directory for a recording of each receiver; nil for no recordings.
        public var recordDirectory: String?
        /// The capture threshold: a packet is received in spite of overlapping packets if it is stronger than their sum
        /// by this many dB.
        public var captureDecibels = 12.0
        /// The chip and the battery of each beacon; nil for mains-powered machines.
        public var battery: (chip: BeaconChip, battery: BeaconBattery)?
        public var threads = Processors.count
        /// The arguments of the command without the seed.
        public var arguments = ""

        public init() {}
    }

    public let fleet: RehearsedFleet
    public let options: Options
    let scanners: ScannerMix

    /// The longest rehearsal, in hours: ten days.
    public static let longestHours = 240.0
    /// The largest number of phones.
    public static let mostPhones = 2000
    /// The distance of the phones from all beacons if there is no floor, in m.
    private static let phoneDistance = 3.0
    /// The largest size of all recordings, in bytes.
    private static let recordingLimit = 4 << 30

    /// Checks that the rehearsal is possible on this machine.
    ///
    /// - Throws: ``RehearsalError`` if the phones cannot receive the beacons, if the battery life cannot be computed, if
    ///   the rehearsal needs more memory than the machine has, or could record more than 4 GiB.
    public init(_ fleet: RehearsedFleet, _ options: Options) throws(RehearsalError) {
        self.fleet = fleet
        self.options = options
        scanners =
            options.scanners ?? fleet.site?.scanners
            ?? ScannerPreset(named: "android-balanced").map { ScannerMix($0) } ?? ScannerMix(.continuous)
        try checkExtendedAdvertising()
        let neededBytes = estimatedBytes
        if let availableBytes = MachineMemory.availableBytes, neededBytes > availableBytes {
            throw RehearsalError(
                .request,
                "\(fleet.file): this rehearsal needs about \(Self.gibibytes(neededBytes)) of memory, and this "
                    + "machine has \(Self.gibibytes(availableBytes)); "
                    + "rehearse one site or floor at a time, or use fewer phones"
            )
        }
        if options.recordDirectory != nil {
            guard let receivers = fleet.site?.receivers, !receivers.isEmpty else {
                throw RehearsalError(
                    .request, "--record: the site has no receivers; name them in its key \"receivers\"")
            }
            let size = rate(recordSize) * options.hours * 3600 * Double(receivers.count)
            guard size <= Double(Self.recordingLimit) else {
                throw RehearsalError(
                    .request,
                    "--record: the recordings could take \(Self.gibibytes(Int(size))), and the limit is "
                        + "\(Self.gibibytes(Self.recordingLimit)); rehearse fewer hours with --hours")
            }
        }
    }

    private static func gibibytes(_ bytes: Int) -> String {
        let value = Double(bytes) / Double(1 << 30)
        return "\(NumberFormat.significant(value, 2)) GiB"
    }

    /// Throws an error if the phones cannot receive the most frequent advertisement of a beacon, and if the charge of
    /// extended advertising is not known.
    private func checkExtendedAdvertising() throws(RehearsalError) {
        for beacon in fleet.beacons {
            guard let phy = beacon.sent[beacon.fastest].group.extended?.phy, options.phones > 0 else { continue }
            do throws(PlanError) {
                try scanners.check(receiving: phy, on: options.scannerPHY)
            } catch {
                throw RehearsalError(
                    .request,
                    "\(ProblemText.quoted(beacon.name)) has extended advertising: \(error.message); or rehearse without "
                        + "phones, with --phones 0")
            }
        }
        if let chip = options.battery?.chip, chip.microcoulombsPerMicrosecond == 0, fleet.isExtended {
            throw RehearsalError(
                .request,
                "--chip: the charge of \(chip.name) is not known for each payload, so its charge for extended advertising "
                    + "cannot be computed: use --chip nrf52832")
        }
    }

    /// The sum of a value of each advertising event over all events in a second.
    private func rate(_ value: (RehearsedBeacon.Sent) -> Int) -> Double {
        fleet.beacons.reduce(0) { $0 + $1.sent.reduce(0) { $0 + Double(value($1)) * 1e6 / $1.periodMicroseconds } }
    }

    /// The number of packets in an advertising event.
    private func packetCount(_ sent: RehearsedBeacon.Sent) -> Int {
        3 + (sent.group.extended?.event.auxiliaryMicroseconds.count ?? 0)
    }

    /// The size of the record of an advertising event in bytes.
    private func recordSize(_ sent: RehearsedBeacon.Sent) -> Int {
        ReceiverRecording.recordSize(octets: sent.payloadOctets, isExtended: sent.group.extended != nil)
    }

    /// The memory of the rehearsal in bytes. A machine takes about 60 kB, a packet in a slice about 400 bytes (four
    /// copies of 100 bytes), and a pair of a beacon and a listener 16 bytes. A pair of a beacon and a receiver takes
    /// the size of its counts.
    var estimatedBytes: Int {
        let beacons = Double(fleet.beacons.count)
        let receivers = Double(fleet.site?.receivers.count ?? 0)
        let slice = Double(Transmitters.sliceMicroseconds) / 1e6
        let bytes =
            50e6 + beacons * 60e3 + rate(packetCount) * slice * 400
            + beacons * (Double(options.phones) + receivers) * 16
            + beacons * receivers * Double(RehearsalTallies.parts * 16 + 100)
        return Int(min(bytes, 1e18))
    }

    /// Runs the rehearsal.
    ///
    /// - Parameter progress: Called with the share of the time that has passed, 0...1. If it returns false, the
    ///   rehearsal is stopped.
    /// - Returns: the report and the counts; nil if the rehearsal was stopped.
    public func run(
        version: String, progress: (Double) -> Bool = { _ in true }
    ) throws -> (report: RehearsalReport, tallies: RehearsalTallies)? {
        let end = Int(options.hours * 3600e6)
        var stage = try RehearsalStage(self, end: end, distance: fleet.site == nil ? Self.phoneDistance : nil)
        let transmitters = try Transmitters(
            fleet, tallies: stage.tallies.beacons, faults: options.faults, seed: options.seed, end: end,
            threads: max(1, options.threads))
        defer { transmitters.stop() }
        try stage.begin(transmitters.emitters)
        var now = 0
        while let slice = transmitters.next() {
            try stage.take(slice)
            now = min(end, now + Transmitters.sliceMicroseconds)
            try stage.advance(to: now)
            guard progress(Double(now) / Double(end)) else { return nil }
        }
        let tallies = try stage.finish(transmitters.tallies)
        var report = RehearsalReport(tallies, version: version, site: fleet.site)
        report.playback = stage.playback
        return (report, tallies)
    }
}
