public import BluetoothTypes
public import HCI

/// The simulated radio channels that virtual controllers share. It is a discrete-event simulation, which uses no file
/// descriptors, no threads and no system clock.
///
/// Time advances only with ``advance(to:)``, and all random numbers are computed from the seed. So the same seed and
/// the same calls always give the same results. Only one thread may use an air at a time.
///
/// To run the simulation in real time, call ``advance(to:)`` with the time of the system clock before each packet of a
/// host and at each ``nextEvent``.
///
/// Two effects are not simulated. First, a real radio can do only one thing at a time; here, the sets of a controller,
/// its scanner and its scan responses do not wait for each other. Second, scan requests and scan responses never
/// collide.
public final class VirtualAir {
    /// The properties of the air.
    public struct Parameters: Hashable, Sendable {
        /// The seed of the random delays. The same seed always gives the same delays.
        public var seed: UInt64 = 1
        /// The path loss between any two antennas, in dB. The RSSI is the radio power minus the path loss.
        public var pathLoss = 50
        /// The time from the start of a PDU on one advertising channel to the start of the same PDU on the next
        /// channel, in microseconds. It is at least the airtime of the PDU.
        public var copySpacingMicroseconds = 1000
        /// `true` if overlapping packets of different controllers on the same channel are lost.
        public var packetsCollide = false

        /// - Parameters:
        ///   - seed: The seed of the random delays. The same seed always gives the same delays.
        ///   - pathLoss: The path loss between any two antennas, in dB.
        public init(seed: UInt64 = 1, pathLoss: Int = 50) {
            self.seed = seed
            self.pathLoss = pathLoss
        }
    }

    public let parameters: Parameters
    /// The current time.
    public private(set) var now: HCIInstant
    /// Returns the path loss in dB from the sender of a packet to a controller, at the current time; `nil` if the
    /// controller is too far away to receive the packet. If this property is `nil`, all antennas have the path loss of
    /// ``parameters``.
    public var pathLoss: ((AirPDU, VirtualController.ID) -> Int?)?
    /// Called with each packet at the instant at which its transmission starts.
    public var observer: ((AirPDU) -> Void)?

    var generator: SplitMix64
    /// The attached controllers by their ids.
    private var controllers: [VirtualController.ID: VirtualController] = [:]
    /// The controllers that are scanning, in the order of their ids.
    private(set) var scanners: [VirtualController] = []
    private var collisions = CollisionRecord()
    /// The number of controllers that have been attached so far. The next id is this number plus 1.
    private var attachedCount = 0
    private var heap = OccurrenceHeap()
    /// If there are more planned occurrences than this, occurrences without an effect are removed.
    private var cleaningSize = 1024

    /// An air without controllers, whose clock shows `now`.
    public init(_ parameters: Parameters = Parameters(), now: HCIInstant = HCIInstant(nanoseconds: 0)) {
        self.parameters = parameters
        self.now = now
        generator = SplitMix64(seed: parameters.seed)
    }

    /// The time of the next planned occurrence; `nil` if nothing happens until a host sends a command. Use the time
    /// only to decide when to call ``advance(to:)``, because the occurrence may have no effect.
    public var nextEvent: HCIInstant? { heap.nextInstant }

    /// Processes every occurrence up to and including `instant`. Does nothing if `instant` is in the past.
    public func advance(to instant: HCIInstant) {
        let instant = min(instant, .distantFuture)
        while let (due, occurrence) = heap.removeFirst(until: instant) {
            now = max(now, due)
            perform(occurrence)
        }
        now = max(now, instant)
    }

    /// Adds a controller that has just been powered on, without settings and transmissions.
    ///
    /// - Parameters:
    ///   - address: The public device address of the controller; by default a unique, locally administered address.
    ///   - sink: Receives each packet for the host at the instant at which the controller sends it.
    public func attach(
        _ model: VirtualControllerModel, address: DeviceAddress? = nil, sink: @escaping (HCIPacket) -> Void
    ) -> VirtualController {
        attachedCount += 1
        let id = VirtualController.ID(rawValue: attachedCount)
        let controller = VirtualController(
            id: id, model: model, address: address ?? Self.defaultAddress(attachedCount), air: self, sink: sink)
        controllers[id] = controller
        return controller
    }

    /// Removes a controller and all its advertising sets from the air.
    public func detach(_ controller: VirtualController) {
        guard controllers.removeValue(forKey: controller.id) != nil else { return }
        scanners.removeAll { $0 === controller }
        controller.leave()
    }

    func controller(_ id: VirtualController.ID) -> VirtualController? { controllers[id] }

    /// Updates the list of active scanners.
    func setScanning(_ controller: VirtualController, _ isScanning: Bool) {
        scanners.removeAll { $0 === controller }
        guard isScanning, controllers[controller.id] != nil else { return }
        let index = scanners.firstIndex { $0.id.rawValue > controller.id.rawValue } ?? scanners.count
        scanners.insert(controller, at: index)
    }

    func plan(_ occurrence: Occurrence, inMicroseconds delay: Int) {
        plan(occurrence, at: now.advanced(byMicroseconds: delay))
    }

    func plan(_ occurrence: Occurrence, at instant: HCIInstant) {
        heap.insert(occurrence, at: instant)
        guard heap.count > cleaningSize else { return }
        // Without this removal, a host that restarts long advertisements again and again would fill the memory with
        // outdated occurrences.
        heap.keepOnly(where: mayHaveEffect)
        cleaningSize = 2 * heap.count + 1024
    }

    private func mayHaveEffect(_ occurrence: Occurrence) -> Bool {
        switch occurrence {
        case .advertisingEvent(let run), .durationOver(let run), .eventsOver(let run):
            controllers[run.controller]?.isRunning(run) ?? false
        case .scanPhaseOver(let id, let run): controllers[id]?.state.scanner?.run == run
        default: occurrence.controller.map { controllers[$0] != nil } ?? true
        }
    }

    private static func defaultAddress(_ number: Int) -> DeviceAddress {
        var octets = FixedOctets<6>()
        octets[0] = 0x02
        octets[1] = 0xBE
        octets[2] = 0xAC
        for (index, shift) in [(3, 16), (4, 8), (5, 0)] { octets[index] = UInt8(truncatingIfNeeded: number >> shift) }
        return DeviceAddress(octets)
    }
}

extension VirtualAir {
    /// T_IFS: the time between two packets of an exchange, in microseconds (Core Specification 5.4, Vol 6 Part B
    /// 4.1.1).
    private static let interFrameSpaceMicroseconds = 150
    /// The airtime of a SCAN_REQ on LE 1M, in microseconds: 8 µs for each of its 22 bytes. These are 12 bytes of
    /// addresses and the 10 other bytes of every packet.
    private static let scanRequestMicroseconds = 176

    private func perform(_ occurrence: Occurrence) {
        switch occurrence {
        case .advertisingEvent(let run): controller(run.controller)?.beginAdvertisingEvent(run)
        case .transmission(let event, let index): transmit(event, index: index)
        case .transmitted(let pdu, let event, let transmission): finish(pdu, of: event, transmission)
        case .scanResponse(let event, let channel, let scanner): respond(event, on: channel, to: scanner)
        case .durationOver(let run): controller(run.controller)?.durationIsOver(run)
        case .eventsOver(let run): controller(run.controller)?.eventsAreOver(run)
        case .scanPhaseOver(let id, let run): controller(id)?.scanPhaseIsOver(run)
        case .scanResponseReceived(let pdu, let scanner): controller(scanner)?.report(pdu)
        case .toController(let id, let packet): controller(id)?.process(packet)
        case .toHost(let id, let packet): controller(id)?.sink(packet)
        }
    }

    /// Sends the PDU of an advertising event on the channel at `index`, and plans the transmission on the next channel.
    func transmit(_ event: AdvertisingEvent, index: Int) {
        // If the set was disabled between two channels, it does not send on the remaining channels.
        guard let sender = controller(event.run.controller), sender.isRunning(event.run),
            index < event.channels.count
        else { return }
        var pdu = event.pdu
        pdu.start = now
        pdu.channel = event.channels[index]
        observer?(pdu)
        send(pdu, event)
        if index + 1 < event.channels.count {
            let spacing = max(parameters.copySpacingMicroseconds, pdu.airtimeMicroseconds)
            plan(.transmission(event, index: index + 1), inMicroseconds: spacing)
        } else {
            sender.completedAdvertisingEvent(event)
            if event.isLast { plan(.eventsOver(event.run), inMicroseconds: pdu.airtimeMicroseconds) }
        }
    }

    private func send(_ pdu: AirPDU, _ event: AdvertisingEvent) {
        var transmission: UInt64 = 0
        if parameters.packetsCollide {
            transmission = collisions.begin(pdu)
        } else if scanners.isEmpty {
            return
        }
        plan(.transmitted(pdu, event, transmission: transmission), inMicroseconds: pdu.airtimeMicroseconds)
    }

    private func finish(_ pdu: AirPDU, of event: AdvertisingEvent, _ transmission: UInt64) {
        if parameters.packetsCollide, !collisions.end(transmission) { return }
        for scanner in scanners where scanner.id != pdu.sender && scanner.receives(pdu) {
            scanner.report(pdu)
            if event.scanResponse != nil, scanner.asksForScanResponse(to: pdu) {
                let delay = 2 * Self.interFrameSpaceMicroseconds + Self.scanRequestMicroseconds
                plan(.scanResponse(event, channel: pdu.channel, to: scanner.id), inMicroseconds: delay)
            }
        }
    }

    private func respond(_ event: AdvertisingEvent, on channel: Int, to scanner: VirtualController.ID) {
        guard let sender = controller(event.run.controller), sender.isRunning(event.run),
            let requester = controller(scanner)?.state.scanner?.identity, var pdu = event.scanResponse,
            sender.answersScanRequest(of: requester, event.filterPolicy)
        else { return }
        pdu.start = now
        pdu.channel = channel
        observer?(pdu)
        sender.reportScanRequest(event.run.set, from: requester)
        // The scanner stays on the channel until the response has ended, so it always receives the response.
        plan(.scanResponseReceived(pdu, by: scanner), inMicroseconds: pdu.airtimeMicroseconds)
    }
}
