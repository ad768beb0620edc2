internal import Advertiser
internal import Auditing
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost
internal import Sightings

/// One radio of a qualification: opened once, then it sends and listens in turn, or at the same time.
///
/// For the thread that made it.
final class RadioUnderTest {
    let label: String
    let name: AdapterName
    let capabilities: ControllerCapabilities
    /// What it hears while it listens.
    private(set) var delivery: Delivery?

    private let claims: [AdapterClaim]
    private let opened: OpenAdapter
    private let host: HCIHost
    private var beacon: BeaconSession?
    private var extended: ExtendedBeacon?
    private var scan: ScanSession?
    private var lostBefore: Int?

    /// Opens it: nothing is sent, and nobody listens yet.
    ///
    /// - Throws: where it is not there, where another program has it, or where this user may not use it.
    init(
        _ label: String, _ name: AdapterName, signals: SignalDescriptor, air: VirtualAirServer?,
        runtimeDirectory: String
    ) throws {
        self.label = label
        self.name = name
        if let index = name.kernelIndex { _ = try BlueZAdapter(index: index) }
        if BlueZAdapter.kernelHasBluetooth, let missing = LiveFeed.missingRight(for: name, Privileges.effective) {
            throw missing
        }
        // The user channel takes both at once.
        let roles: [AdapterLock.Role] = if case .raw = name { [.send, .listen] } else { [.send] }
        claims = try roles.map { try AdapterClaim(name, $0, for: "pharos qualify", in: runtimeDirectory) }
        // A listener beside us would be disturbed, and would disturb.
        if let listener = claims.lazy.compactMap(\.shared).first { throw listener }
        opened = try OpenAdapter(name, isListening: true, interruption: signals, air: air)
        host = HCIHost(channel: opened.channel)
        do {
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: opened.isExclusive)
        } catch {
            try? opened.close()
            throw error
        }
    }

    /// To wait for together with others.
    var descriptors: [Descriptor] { opened.descriptors }

    /// For the report.
    var facts: QualifiedRadio {
        QualifiedRadio(
            label: label, adapter: name.description,
            controller: "\(capabilities.version), \(capabilities.manufacturer)",
            claimsExtended: capabilities.hasExtendedAdvertising)
    }

    // MARK: Sending

    /// Sends an advertisement in legacy PDUs.
    func send(_ advertisement: Advertisement) throws {
        let session = BeaconSession(host: host, plan: try plan(advertisement))
        try session.start()
        beacon = session
    }

    /// Sends another one from the same address, without a break.
    func send(instead advertisement: Advertisement) throws {
        try beacon?.replace(with: try plan(advertisement))
    }

    /// As beside others: a session that has a controller for itself ends with a reset, which closes the event masks.
    private func plan(_ advertisement: Advertisement) throws(SessionError) -> SendingPlan {
        try SendingPlan([PayloadSource(advertisement)], on: capabilities, isExclusive: false)
    }

    /// Sends octets in extended PDUs.
    func send(extended octets: [UInt8], _ advertisement: Advertisement) throws {
        let set = ExtendedBeacon(host: host, interval: advertisement.interval)
        extended = set
        try set.start(octets, advertisement.address)
    }

    /// Whether the controller says that it sends.
    func isSending() throws -> Bool {
        if let extended { return try extended.isOnAir() }
        return try beacon?.verify() ?? false
    }

    // MARK: Listening

    /// Listens for what `isWanted` knows.
    ///
    /// - Parameters:
    ///   - delivery: What it is counted in.
    ///   - judge: Whether data is the beacon's; `nil` for another sender's.
    func listen(
        _ delivery: Delivery, filtersDuplicates: Bool = false, _ judge: @escaping ([UInt8]) -> OctetsJudgement?
    ) throws {
        self.delivery = delivery
        lostBefore = opened.lostPackets
        var settings = ScanSettings.standard
        settings.filtersDuplicates = filtersDuplicates
        let session = ScanSession(host: host, capabilities, settings, isExclusive: opened.isExclusive)
        var reader = ReportReader()
        session.onPacket = { [weak self] packet, isFromController, time in
            guard isFromController, packet.kind == .event else { return }
            reader.take(
                event: packet.octets.span, in: packet.octets.indices, at: HeardInstant(nanoseconds: time.nanoseconds)
            ) { report, octets, range in
                self?.take(report, judge(range.map { octets[$0] }))
            }
        }
        session.onState = { [weak self] state, now in
            let now = HeardInstant(nanoseconds: now.nanoseconds)
            // Another program's scan may leave repeats out. A radio that is deaf listens all the same.
            switch state {
            case .listening, .deaf: self?.delivery?.begin(at: now)
            case .off, .foreign, .paused, .reset: self?.delivery?.end(at: now)
            }
        }
        scan = session
        try session.start()
    }

    private func take(_ report: HeardReport, _ judgement: OctetsJudgement?) {
        delivery?.reportsOfAll += 1
        guard !report.sighting.isScanResponse else { return }
        switch judgement {
        case .right: delivery?.hear(at: report.sighting.instant, rssi: report.sighting.rssi)
        case .wrong: delivery?.damaged += 1
        case nil: break
        }
    }

    /// The beacon sends other octets from now on.
    func noteChange() { delivery?.changeData(at: HeardInstant(nanoseconds: host.now.nanoseconds)) }

    /// Takes what has arrived, without waiting.
    func receive() throws {
        guard let scan else {
            while let event = try host.nextEvent(until: host.now) { try beacon?.handle(event) }
            return
        }
        try scan.receive()
        do throws(SessionError) {
            if let due = scan.nextWakeUp, due <= host.now { try scan.wake(host.now) }
        } catch .ended(.noAnswer, _) {
            // That is what is to be found out.
        }
    }

    // MARK: The end

    /// Ends the phase: what was heard in it; `nil` where it did not listen.
    func stopListening() throws -> Delivery? {
        guard let scan else { return nil }
        try scan.receive()
        if let before = lostBefore { delivery?.lostInKernel = opened.lostPackets.map { $0 - before } }
        delivery?.restarts = scan.restarts
        delivery?.end(at: HeardInstant(nanoseconds: host.now.nanoseconds))
        defer { forgetScan() }
        try scan.stop()
        return delivery
    }

    /// What it has heard so far, of a phase that could not be begun or was broken off.
    func abandon(_ refusal: String?) -> Delivery? {
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

    /// Takes off the air what it sends.
    func stopSending() throws {
        defer { (beacon, extended) = (nil, nil) }
        try extended?.stop()
        try beacon?.stop()
    }

    /// What ending may take at most, in microseconds.
    private static let shutdownTimeout = 800_000

    /// Turns off whatever is on, as far as the controller answers, and leaves the adapter as it was.
    func close() {
        host.latestAnswer = host.now.advanced(byMicroseconds: Self.shutdownTimeout)
        try? scan?.stop(by: host.latestAnswer)
        try? extended?.stop()
        try? beacon?.stop()
        try? opened.close()
    }
}
