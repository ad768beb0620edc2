internal import Advertiser
internal import Auditing
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Sightings

/// A radio of a qualification. It is opened once, and then sends, receives, or does both.
///
/// Use it only on the thread that created it.
final class RadioUnderTest {
    let label: String
    let name: AdapterName
    let capabilities: ControllerCapabilities
    /// The reports of the current phase; `nil` while the radio does not receive.
    private(set) var delivery: Delivery?

    /// The locks on the adapter, which show other runs of Pharos that the adapter is in use.
    private let claims: [AdapterClaim]
    private let opened: OpenAdapter
    private let host: HCIHost
    private var beacon: BeaconSession?
    private var extended: ExtendedBeacon?
    private var scan: ScanSession?
    private var reader = ReportReader()
    /// Judges data as right or wrong; returns `nil` for data of another sender.
    private var judge: ([UInt8]) -> OctetsJudgement? = { _ in nil }
    /// The number of packets that the kernel had dropped when the phase began.
    private var lostBefore: Int?

    /// Opens the radio, without sending or receiving yet.
    ///
    /// - Throws: An error if the adapter is missing, used by another program, or not permitted.
    init(
        _ label: String, _ name: AdapterName, signals: SignalDescriptor, air: VirtualAirServer?,
        runtimeDirectory: String
    ) throws {
        self.label = label
        self.name = name
        if let index = name.kernelIndex { _ = try BlueZAdapter(index: index) }
        if BlueZAdapter.kernelHasBluetooth, let missing = LiveFeed.missingPermission(for: name, Privileges.effective) {
            throw missing
        }
        // A claim of a raw adapter is for one role, so a raw adapter needs two claims. A claim of any other adapter is
        // for both roles.
        let roles: [AdapterLock.Role] = if case .raw = name { [.send, .listen] } else { [.send] }
        claims = try roles.map { try AdapterClaim(name, $0, for: "pharos qualify", in: runtimeDirectory) }
        // Another listener on the same adapter would change the result.
        if let listener = claims.lazy.compactMap(\.shared).first { throw listener }
        opened = try OpenAdapter(name, isListening: true, interruption: signals, air: air)
        try claims.first?.add(opened)
        host = HCIHost(channel: opened.channel)
        do {
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
        } catch {
            try? opened.close()
            throw error
        }
    }

    /// The descriptors to wait for.
    var descriptors: [Descriptor] { opened.descriptors }

    /// The description of the radio for the report.
    var facts: QualifiedRadio {
        QualifiedRadio(
            label: label, adapter: name.description,
            controller: "\(capabilities.version), \(capabilities.manufacturer)",
            claimsExtended: capabilities.hasExtendedAdvertising)
    }

    // MARK: Sending

    /// Sends an advertisement in legacy PDUs.
    func send(_ advertisement: Advertisement) throws {
        let session = BeaconSession(host: host, allocation: try allocation(advertisement))
        try session.start()
        beacon = session
    }

    /// Replaces the advertisement without an interruption. The address stays the same.
    func send(instead advertisement: Advertisement) throws {
        try beacon?.replace(with: try allocation(advertisement))
    }

    /// Returns an allocation that is not exclusive: an exclusive session would end with a reset, after which the
    /// controller sends no LE events.
    private func allocation(_ advertisement: Advertisement) throws(SessionError) -> SetAllocation {
        try SetAllocation([PayloadSource(advertisement)], on: capabilities, isExclusive: false)
    }

    /// Sends data in extended PDUs.
    func send(extended octets: [UInt8], _ advertisement: Advertisement) throws {
        let set = ExtendedBeacon(host: host, interval: advertisement.interval)
        extended = set
        try set.start(octets, advertisement.address)
    }

    /// Returns whether the radio sends, according to its controller.
    func isSending() throws -> Bool {
        if let extended { return try extended.isEnabled() }
        return try beacon?.verify() ?? false
    }

    // MARK: Listening

    /// Receives one beacon.
    ///
    /// - Parameters:
    ///   - delivery: Counts the reports.
    ///   - judge: Judges data; returns `nil` for data of another sender.
    func listen(
        _ delivery: Delivery, filtersDuplicates: Bool = false, _ judge: @escaping ([UInt8]) -> OctetsJudgement?
    ) throws {
        self.delivery = delivery
        lostBefore = opened.lostPackets
        var settings = ScanSettings.standard
        settings.filtersDuplicates = filtersDuplicates
        let session = ScanSession(host: host, capabilities, settings, isExclusive: opened.isExclusive)
        reader = ReportReader()
        self.judge = judge
        scan = session
        try session.start()
        takeEvents()
    }

    /// Counts the reports that have arrived, and the time in which the radio listened.
    private func takeEvents() {
        scan?.takeEvents { event in
            switch event {
            case .packet(let packet, isFromController: true, let time) where packet.kind == .event:
                reader.take(event: packet.octets.span, in: packet.octets.indices, at: heardInstant(time)) {
                    report, octets, range in
                    take(report, judge(range.map { octets[$0] }))
                }
            case .packet: break
            // The time in which another program scans does not count, because its scan may filter duplicates. The time
            // in which the radio is deaf counts.
            case .state(.listening, let time), .state(.deaf, let time): delivery?.begin(at: heardInstant(time))
            case .state(_, let time): delivery?.end(at: heardInstant(time))
            }
        }
    }

    private func heardInstant(_ instant: HCIInstant) -> HeardInstant { HeardInstant(nanoseconds: instant.nanoseconds) }

    private func take(_ report: HeardReport, _ judgement: OctetsJudgement?) {
        delivery?.reportsFromAllSenders += 1
        guard !report.sighting.isScanResponse else { return }
        switch judgement {
        case .right: delivery?.receive(at: report.sighting.instant, rssi: report.sighting.rssi)
        case .wrong: delivery?.damaged += 1
        case nil: break
        }
    }

    /// Notes that the beacon sends other data from now on.
    func noteChange() { delivery?.changeData(at: HeardInstant(nanoseconds: host.now.nanoseconds)) }

    /// Takes the events that have arrived, without waiting.
    func receive() throws {
        guard let scan else {
            while let event = try host.nextEvent(until: host.now) { try beacon?.handle(event) }
            return
        }
        try scan.receive()
        do throws(SessionError) {
            if let due = scan.nextWakeUp, due <= host.now { try scan.wake(host.now) }
        } catch {
            // A deaf radio is a result, not an error.
            guard case .ended(.noAnswer, _) = error else { throw error }
        }
        takeEvents()
    }

    // MARK: The end

    /// Ends the phase and returns its reports; `nil` if the radio did not receive.
    func stopListening() throws -> Delivery? {
        guard let scan else { return nil }
        try scan.receive()
        takeEvents()
        if let before = lostBefore { delivery?.lostInKernel = opened.lostPackets.map { $0 - before } }
        delivery?.restarts = scan.restarts
        delivery?.end(at: HeardInstant(nanoseconds: host.now.nanoseconds))
        defer { forgetScan() }
        try scan.stop()
        return delivery
    }

    /// Returns the reports of a phase that could not begin or was interrupted.
    func abandon(_ refusal: String?) -> Delivery? {
        takeEvents()
        delivery?.end(at: HeardInstant(nanoseconds: host.now.nanoseconds))
        delivery?.refusal = refusal
        defer { forgetScan() }
        return delivery
    }

    private func forgetScan() {
        scan = nil
        host.observer = nil
        delivery = nil
    }

    /// Stops sending.
    func stopSending() throws {
        defer { (beacon, extended) = (nil, nil) }
        try extended?.stop()
        try beacon?.stop()
    }

    /// The maximum duration of ``close()``, in microseconds.
    private static let shutdownTimeout = 800_000

    /// Turns off sending and scanning as far as the controller answers, and leaves the adapter as it was.
    func close() {
        host.answerDeadline = host.now.advanced(byMicroseconds: Self.shutdownTimeout)
        try? scan?.stop(by: host.answerDeadline)
        try? extended?.stop()
        try? beacon?.stop()
        try? opened.close()
    }
}
