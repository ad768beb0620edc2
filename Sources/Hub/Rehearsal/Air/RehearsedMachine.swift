internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import EddystoneSecurity
internal import HCI
internal import Listener
internal import Sightings
internal import Sites
internal import VirtualController

/// A packet on the air, on one channel: one copy of an advertising event, or an auxiliary packet of this event.
struct AirPacket: Sendable {
    /// The kind of advertising, which decides which scanners receive it.
    enum Kind: UInt8 {
        case legacy
        /// Extended advertising on LE 1M, with auxiliary packets on LE 1M or LE 2M.
        case extended
        /// Extended advertising on LE Coded.
        case coded
    }

    /// The start of the packet, in µs from the beginning of the rehearsal.
    var start: Int
    /// The duration of the packet in µs.
    var airtime: Int32
    /// The time from the start of the advertising event to the start of the packet, in µs.
    var offset: Int32
    /// The index of the emitter, which is a beacon or a device that sends a clone; see ``Transmitters/emitters``.
    var emitter: Int32
    /// The index of the advertisement among those of the beacon; -1 for data that the beacon should not send.
    var advertisement: Int16
    /// The slot with the packet's data in the ring of its emitter; see ``RehearsedMachine/ringSize``.
    var payload: Int16
    /// 0, 1 and 2 for the channels 37, 38 and 39; 3...39 for the secondary channels 0...36.
    var channel: UInt8
    var kind = Kind.legacy
    /// True for the last auxiliary packet of an event.
    var isLast = false
    /// The radio power minus the power that the plan expects, in dB.
    var powerOffset: Float

    var isAuxiliary: Bool { channel > 2 }
    /// The time at which the advertising event of the packet started, in µs from the beginning of the rehearsal.
    var event: Int { start - Int(offset) }
}

/// The data of packets. They are passed on once, when an emitter begins to send packets with these data. Only
/// recordings need them.
struct AirPayload: Sendable {
    let emitter: Int32
    /// The slot in the ring of the emitter.
    let slot: Int16
    /// The first packet with these data.
    let pdu: AirPDU
}

/// A simulated machine with one beacon. It runs the supervisor and the session of Pharos on a virtual controller, and
/// has an ideal receiver next to it, which counts what is sent.
///
/// Each machine has its own simulated air; the rehearsal merges the packets of all machines.
final class RehearsedMachine {
    private let beacon: RehearsedBeacon
    private let emitter: Int
    private let air: VirtualAir
    private let seed: UInt64
    private let startUnixSeconds: Int
    private var virtual: VirtualChannel?
    private var isOpen = false
    private var runner: AdapterRunner?
    private var beaconSession: BeaconSession?
    /// The advertisements that are sent now.
    private var sources: [PayloadSource]
    /// The advertisements that are sent after the next reload of the profile.
    private var nextSources: [PayloadSource]
    /// The planted faults of this machine that have not begun yet, the earliest first.
    private var faults: [RehearsalFault]
    /// The power that the transmitter loses because of a planted fault, in dB.
    private var lostPower = 0.0
    /// The time by which the machine's wall clock is ahead because of a planted fault, in s.
    private var clockLeap = 0.0
    /// The time at which the machine is switched on.
    private let begin: HCIInstant

    // Counts of the ideal receiver.
    private(set) var tally: RehearsalTallies.Beacon
    private let partMicroseconds: Int
    private let endMicroseconds: Int
    /// By advertisement: the time of its last event in µs; nil before the first event.
    private var lastEvent: [Int?]
    /// By advertisement: the start of its current event in µs. The last element is for data that the beacon should not
    /// send.
    private var eventStart: [Int]
    /// By advertisement: the data that were sent last.
    private var lastData: [[UInt8]]
    /// By advertisement: the slot of its last data in the ring.
    private var slots: [Int16]
    private var nextSlot: Int16 = 0
    /// The time of the first event of any advertisement, in µs; nil before this event.
    private var onAirAt: Int?
    /// By advertisement: the uptime in the telemetry that was sent last, in µs; nil for other types.
    private var uptimeAtSend: [Int?]
    /// By advertisement: true if the last ephemeral id was correct for its time.
    private var isRightID: [Bool]
    private var lastID: [FixedOctets<8>?]
    /// By advertisement: true if its set was enabled again with a new id, so that the next event comes early.
    private var hasNewID: [Bool]
    /// The last data that the beacon should not send, and their slot in the ring; -1 before such data are sent.
    private var unexpectedOctets: [UInt8] = []
    private var unexpectedSlot: Int16 = -1

    /// The auxiliary packets that start after the current slice of time.
    private var laterPackets: [AirPacket] = []
    /// Draws the secondary channels.
    private var channelRandom: SplitMix64

    // The results for the current slice of time.
    private(set) var packets: [AirPacket] = []
    private(set) var payloads: [AirPayload] = []

    /// The number of slots in the ring that stores the last data of an emitter. In one slice of time, the data change
    /// fewer times than this.
    static let ringSize = 64

    /// - Parameters:
    ///   - emitter: The index of the machine among all emitters.
    ///   - isClone: True for a device that sends the beacon's advertisements from another address.
    ///   - begin: The time at which the machine is switched on, in µs.
    init(
        _ beacon: RehearsedBeacon, emitter: Int, isClone: Bool, faults: [RehearsalFault], seed: UInt64, begin: Int,
        endMicroseconds: Int, startUnixSeconds: Int, tally: RehearsalTallies.Beacon
    ) {
        self.beacon = beacon
        self.emitter = emitter
        self.seed = RehearsalSeed.mix(seed, 1, emitter)
        self.startUnixSeconds = startUnixSeconds
        self.endMicroseconds = endMicroseconds
        self.faults = faults.sorted { $0.atS < $1.atS }
        self.begin = HCIInstant(nanoseconds: UInt64(begin) * 1000)
        self.tally = tally
        partMicroseconds = max(1, endMicroseconds / RehearsalTallies.parts)
        var initialSources = beacon.sent.map(\.source)
        if isClone {
            var random = SplitMix64(seed: RehearsalSeed.mix(seed, 2, emitter))
            let address = DeviceAddress.staticRandom(
                from: FixedOctets<6>((0..<6).map { _ in UInt8(truncatingIfNeeded: random.next()) }) ?? FixedOctets())
            initialSources = initialSources.map { source in
                var advertisement = source.advertisement
                advertisement.address = .staticRandom(address)
                return beacon.source(of: advertisement)
            }
        }
        sources = initialSources
        nextSources = initialSources
        var parameters = VirtualAir.Parameters()
        parameters.seed = self.seed
        air = VirtualAir(parameters, now: HCIInstant(nanoseconds: 0))
        channelRandom = SplitMix64(seed: RehearsalSeed.mix(seed, 7, emitter))
        let count = beacon.sent.count
        lastEvent = Array(repeating: nil, count: count)
        eventStart = Array(repeating: Int.min / 2, count: count + 1)
        lastData = Array(repeating: [], count: count)
        slots = Array(repeating: -1, count: count)
        uptimeAtSend = Array(repeating: nil, count: count)
        isRightID = Array(repeating: true, count: count)
        lastID = Array(repeating: nil, count: count)
        hasNewID = Array(repeating: false, count: count)
    }

    private var nowMicroseconds: Int { Int(air.now.nanoseconds / 1000) }

    /// Advances the machine to the time `end` in µs. Afterwards, ``packets`` and ``payloads`` contain what was sent
    /// since the previous call.
    func run(until end: Int) {
        packets.removeAll(keepingCapacity: true)
        payloads.removeAll(keepingCapacity: true)
        run(until: HCIInstant(nanoseconds: UInt64(end) * 1000))
        guard !laterPackets.isEmpty else { return }
        packets += laterPackets.filter { $0.start <= end }
        laterPackets.removeAll { $0.start <= end }
        packets.sort { $0.start < $1.start }
    }

    private func run(until end: HCIInstant) {
        while air.now < end {
            guard let runner else {
                guard begin <= end else { return air.advance(to: end) }
                air.advance(to: begin)
                switchOn()
                continue
            }
            let due = faults.first.map { HCIInstant(nanoseconds: UInt64($0.atS * 1e9)) }
            let wake = runner.ended == nil ? runner.nextWakeUp : nil
            let next = min(wake ?? .distantFuture, due ?? .distantFuture, end)
            air.advance(to: max(air.now, next))
            if let due, due <= air.now { plant(faults.removeFirst()) }
            if runner.ended == nil, let wake = runner.nextWakeUp, wake <= air.now { runner.wake() }
        }
    }

    /// Completes the counts at the end of the rehearsal.
    func finish() {
        defer { runner = nil }
        for index in beacon.sent.indices { noteSilence(index, until: endMicroseconds) }
        for index in beacon.sent.indices where beacon.sent[index].type == "eddystone-eid" {
            guard let key = beacon.sent[index].source.advertisement.content.rotatingKey, let onAirAt else { continue }
            let period = 1_000_000 << Int(key.rotationExponent)
            tally.advertisements[index].dueIDs = max(1, (endMicroseconds - onAirAt) / period)
        }
        if tally.refusal.isEmpty, onAirAt == nil, let failure = runner?.failure { tally.refusal = "\(failure)" }
    }

    private func switchOn() {
        let channel = VirtualChannel(beacon.model, on: air)
        virtual = channel
        air.observer = { [unowned self] pdu in take(pdu) }
        let runner = AdapterRunner(Supervisor(adapter: "hci0", at: air.now), in: self)
        self.runner = runner
        runner.wake()
    }

    // MARK: Faults

    private func plant(_ fault: RehearsalFault) {
        switch fault.kind {
        case .stops:
            if let virtual { air.detach(virtual.controller) }
            virtual = nil
        case .interval:
            nextSources = sources.map { source in
                var advertisement = source.advertisement
                let units = Double(advertisement.interval.rawValue) * fault.factor
                advertisement.interval = AdvertisingInterval(
                    rawValue: UInt32(min(16_384, max(32, units.rounded()))))
                return beacon.source(of: advertisement)
            }
            runner?.handle(.reloadRequested)
        case .identity:
            nextSources = sources.map { beacon.source(of: Self.withOtherIdentity($0.advertisement)) }
            runner?.handle(.reloadRequested)
        case .weak: lostPower = fault.byDb
        case .clockJump:
            clockLeap += fault.byS
            synchronize()
        case .clone, .deaf, .brokerAway: break
        }
    }

    /// Returns an advertisement with another identity. A frame without an identity is returned unchanged.
    private static func withOtherIdentity(_ original: Advertisement) -> Advertisement {
        var advertisement = original
        switch advertisement.content {
        case .iBeacon(let uuid, let major, let minor, let flags):
            advertisement.content = .iBeacon(uuid: uuid, major: major ^ 0x5000, minor: minor, flags: flags)
        case .altBeacon(let company, var id, let reserved, let flags):
            id[19] ^= 0x55
            advertisement.content = .altBeacon(companyID: company, beaconID: id, reserved: reserved, flags: flags)
        case .eddystoneUID(let namespace, var instance):
            instance[0] ^= 0x55
            advertisement.content = .eddystoneUID(namespace: namespace, instance: instance)
        case .eddystoneURL(let url):
            if let other = try? CompressedURL("https://pharos.example") {
                advertisement.content = .eddystoneURL(other == url ? url : other)
            }
        case .raw(let data):
            var octets = data.octets
            if let last = octets.indices.last { octets[last] ^= 0x55 }
            advertisement.content = .raw(AdvertisingData(octets: octets))
        case .eddystoneTLM, .eddystoneEID, .btHome: break
        }
        return advertisement
    }

    private func synchronize() {
        let unix = startUnixSeconds * 1_000_000 + nowMicroseconds + Int(clockLeap * 1e6)
        _ = beaconSession?.synchronize(unixMicroseconds: unix, isTrusted: true)
    }

    // MARK: The ideal receiver

    private func take(_ pdu: AirPDU) {
        guard !pdu.isScanResponse, (37...39).contains(pdu.channel) else { return }
        let start = Int(pdu.start.nanoseconds / 1000)
        guard start < endMicroseconds else { return }
        let index = advertisement(of: pdu, at: start)
        let eventIndex = index ?? beacon.sent.count
        // The copies of an event on the three channels start within 4 ms, and events of one advertisement are at least
        // 20 ms apart.
        if start - eventStart[eventIndex] > 5000 {
            eventStart[eventIndex] = start
            if let index { count(index, at: start) } else { tally.unexpectedEvents += 1 }
        }
        let nominal = beacon.place.radioPower
        let requested = index.flatMap { beacon.sent[$0].source.advertisement.radioPower } ?? nil
        let power = (requested == nil ? nominal : Double(pdu.power.dBm)) - lostPower
        let packet = AirPacket(
            start: start, airtime: Int32(pdu.airtimeMicroseconds), offset: Int32(start - eventStart[eventIndex]),
            emitter: Int32(emitter), advertisement: Int16(index ?? -1),
            payload: index.map { slots[$0] } ?? unexpectedSlot, channel: UInt8(pdu.channel - 37),
            kind: pdu.isLegacy ? .legacy : pdu.primaryPHY == .leCoded ? .coded : .extended,
            powerOffset: Float(power - nominal))
        packets.append(packet)
        let channels = beacon.sent[index ?? beacon.fastest].source.advertisement.channels.numbers
        if Int(pdu.channel) == channels.last, let event = pdu.extendedEvent {
            sendAuxiliaryPackets(of: event, after: packet)
        }
    }

    /// Adds the auxiliary packets of an event to ``laterPackets``. The virtual controller sends only the packets on the
    /// primary channels. Each auxiliary packet starts as soon as possible, as in the plan (see `ExtendedTraffic`).
    ///
    /// - Parameter primary: The last packet on the primary channels.
    private func sendAuxiliaryPackets(of event: ExtendedEvent, after primary: AirPacket) {
        var packet = primary
        for (index, airtime) in event.auxiliaryMicroseconds.enumerated() {
            packet.start += Int(packet.airtime) + ExtendedEvent.gapMicroseconds
            packet.airtime = Int32(airtime)
            packet.offset = Int32(packet.start - primary.event)
            packet.channel = 3 + UInt8(channelRandom.next(upTo: UInt32(ExtendedEvent.secondaryChannels - 1)))
            packet.isLast = index == event.auxiliaryMicroseconds.count - 1
            laterPackets.append(packet)
        }
    }

    /// The index of the advertisement that has the data of a packet; nil if the beacon should not send these data.
    private func advertisement(of pdu: AirPDU, at start: Int) -> Int? {
        for index in lastData.indices where lastData[index] == pdu.data {
            return index
        }
        if pdu.data == unexpectedOctets, unexpectedSlot >= 0 { return nil }
        let frame = frame(in: pdu.data)
        let index = beacon.sent.firstIndex { sent in
            switch (sent.type, frame) {
            case ("eddystone-tlm", .eddystoneTLM?), ("eddystone-tlm", .eddystoneEncryptedTLM?): true
            case ("eddystone-eid", .eddystoneEID?), ("bthome", .btHome?): true
            case ("raw", _):
                if case .raw(let data) = sent.source.advertisement.content { data.octets == pdu.data } else { false }
            case (_, let frame?): sent.identity != nil && BeaconIdentity(frame) == sent.identity
            case (_, nil): false
            }
        }
        let slot = nextSlot
        nextSlot = (nextSlot + 1) % Int16(Self.ringSize)
        payloads.append(AirPayload(emitter: Int32(emitter), slot: slot, pdu: pdu))
        guard let index else {
            (unexpectedOctets, unexpectedSlot) = (pdu.data, slot)
            return nil
        }
        (lastData[index], slots[index]) = (pdu.data, slot)
        switch frame {
        case .eddystoneTLM(let telemetry)?: uptimeAtSend[index] = Int(telemetry.uptimeDeciseconds) * 100_000
        case .eddystoneEID(let frame)?: check(frame.id, index, at: start)
        default: break
        }
        return index
    }

    private func frame(in octets: [UInt8]) -> BeaconFrame? {
        var cursor = ADStructureCursor(octets.indices)
        let span = octets.span
        while let element = cursor.next(in: span) {
            if let frame = BeaconFrame(element, in: span) { return frame }
        }
        return nil
    }

    /// Checks that an ephemeral id is the id of the current rotation period, or of the period before or after it.
    private func check(_ id: FixedOctets<8>, _ index: Int, at start: Int) {
        guard let key = beacon.sent[index].source.advertisement.content.rotatingKey,
            let exponent = RotationExponent(rawValue: key.rotationExponent), let epoch = beacon.epoch,
            let identityKey = beacon.key
        else { return }
        if lastID[index] != id {
            lastID[index] = id
            hasNewID[index] = true
            tally.advertisements[index].sentIDs += 1
        }
        let seconds = Int(IdentityKey.firstCounter) + startUnixSeconds + start / 1_000_000 - epoch
        let period = Int(exponent.periodSeconds)
        isRightID[index] = [0, -period, period].contains { shift in
            guard let counter = UInt32(exactly: seconds + shift) else { return false }
            return (try? identityKey.ephemeralID(at: counter, exponent: exponent)) == id
        }
    }

    private func count(_ index: Int, at start: Int) {
        let part = min(RehearsalTallies.parts - 1, start / partMicroseconds)
        if onAirAt == nil { onAirAt = start }
        noteSilence(index, until: start)
        tally.advertisements[index].events[part] += 1
        if let last = lastEvent[index], !hasNewID[index] {
            tally.advertisements[index].gaps[part] += 1
            tally.advertisements[index].gapSum[part] += start - last
        }
        hasNewID[index] = false
        lastEvent[index] = start
        if let uptime = uptimeAtSend[index], let onAirAt {
            let age = start - onAirAt - uptime
            tally.advertisements[index].oldestTelemetry = max(tally.advertisements[index].oldestTelemetry, age)
        }
        if beacon.sent[index].type == "eddystone-eid" {
            if isRightID[index] {
                tally.advertisements[index].rightIDs += 1
            } else {
                tally.advertisements[index].wrongIDs += 1
            }
        }
    }

    private func noteSilence(_ index: Int, until now: Int) {
        let from = lastEvent[index] ?? Int(begin.nanoseconds / 1000)
        guard now - from > tally.advertisements[index].longestSilence else { return }
        tally.advertisements[index].longestSilence = now - from
        tally.advertisements[index].silenceFrom = from
    }
}

extension RehearsedMachine: AdapterEnvironment {
    var now: HCIInstant { air.now }
    var isStopWanted: Bool { false }
    var session: (any AdapterSession)? { beaconSession }

    func open() throws(AdapterFault) {
        guard virtual != nil else { throw AdapterFault(.adapterMissing, "there is no hci0") }
        isOpen = true
    }

    func close() { isOpen = false }

    func startSession() throws(SessionError) -> any AdapterSession {
        guard let virtual, isOpen else { throw .ended(.adapterGone, "the adapter is closed") }
        let host = HCIHost(channel: virtual)
        let capabilities: ControllerCapabilities
        do throws(HCICommandError) {
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: false)
        } catch {
            throw .command(error, remedy: nil)
        }
        let allocation = try SetAllocation(sources, on: capabilities, isExclusive: false)
        if let beaconSession {
            try beaconSession.rearm(on: host, allocation: allocation)
            return beaconSession
        }
        let session = BeaconSession(
            host: host, allocation: allocation,
            clock: EIDClock(epochUnixSeconds: beacon.epoch, at: host.now), telemetry: FixedSensors.shared,
            randomness: SplitMix64(seed: seed ^ 0x5E55))
        beaconSession = session
        synchronize()
        try session.start()
        return session
    }

    func changeOver() throws(SessionError) -> any AdapterSession {
        guard let beaconSession else { throw .ended(.adapterGone, "the adapter is closed") }
        let capabilities = beaconSession.allocation.capabilities
        try beaconSession.replace(with: SetAllocation(nextSources, on: capabilities, isExclusive: false))
        return beaconSession
    }

    func readProfile() -> Supervisor.Input { .reloadGood(adapter: "hci0") }
    func adoptProfile() { sources = nextSources }

    func explain(_ error: HCIChannelError) -> AdapterFault {
        virtual == nil
            ? AdapterFault(.adapterGone, "hci0 was unplugged") : AdapterFault(.controllerReset, "hci0 was reset")
    }

    func log(_ priority: Supervisor.LogPriority, _ text: String) {}
    func notify(_ notice: Supervisor.Notice) {}
}
