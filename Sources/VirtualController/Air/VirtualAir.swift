public import BluetoothTypes
public import HCI

/// The air that virtual controllers share: a simulation of discrete events, without descriptor, thread or system clock.
///
/// Time stands still until ``advance(to:)`` moves it; everything random comes from the seed, so that one seed and one
/// sequence of calls give one history. It isn't Sendable: whoever owns it lets one thread in at a time.
///
/// To run it in real time: before each packet of a host, and at each ``nextEvent``, ``advance(to:)`` the instant that the
/// system clock shows.
///
/// Not modelled: a radio that cannot do two things at once (the sets of one controller, its scanner, and its scan
/// responses don't wait for each other), and collisions of scan requests and responses.
public final class VirtualAir {
    /// What the air is like.
    public struct Parameters: Hashable, Sendable {
        public var seed: UInt64 = 1
        /// Between any two antennas, in dB: RSSI is radio power less this.
        public var pathLoss = 50
        /// From the start of a copy on one channel to the start of the next channel's, in microseconds. Never less than
        /// a packet's own airtime.
        public var copySpacingMicroseconds = 1000
        /// Packets of two controllers that overlap on one channel destroy each other.
        public var packetsCollide = false

        /// The same `seed` gives the same random delays; `pathLoss`, in dB, is the same between all antennas.
        public init(seed: UInt64 = 1, pathLoss: Int = 50) {
            self.seed = seed
            self.pathLoss = pathLoss
        }
    }

    public let parameters: Parameters
    /// Now.
    public private(set) var now: HCIInstant
    /// Is shown each packet at the instant when it is put on the air.
    public var observer: ((AirPDU) -> Void)?

    var generator: SplitMix64
    /// By id; in ``scanners`` those that are scanning, in the order of their ids.
    private var controllers: [VirtualController.ID: VirtualController] = [:]
    private(set) var scanners: [VirtualController] = []
    var collisions = CollisionRecord()
    private var attached = 0
    private var heap = OccurrenceHeap()
    private var cleaningSize = 1024

    /// An empty air whose clock stands at `now`.
    public init(_ parameters: Parameters = Parameters(), now: HCIInstant = HCIInstant(nanoseconds: 0)) {
        self.parameters = parameters
        self.now = now
        generator = SplitMix64(seed: parameters.seed)
    }

    /// When the next thing happens; `nil` when nothing will, unless a host does something. Sometimes that thing turns
    /// out to have become pointless: do not take it for more than a reason to call ``advance(to:)``.
    public var nextEvent: HCIInstant? { heap.next }

    /// Lets everything happen up to and including `instant`. An earlier instant than now does nothing.
    public func advance(to instant: HCIInstant) {
        let instant = min(instant, .distantFuture)
        while let (due, occurrence) = heap.removeFirst(until: instant) {
            now = max(now, due)
            perform(occurrence)
        }
        now = max(now, instant)
    }

    /// Brings a controller into range, as after power-on: nothing set, nothing on the air.
    ///
    /// - Parameters:
    ///   - address: Its public device address; one of its own, locally administered, when left out.
    ///   - sink: Takes each packet for the host at the instant when the controller sends it.
    public func attach(
        _ model: VirtualControllerModel, address: DeviceAddress? = nil, sink: @escaping (HCIPacket) -> Void
    ) -> VirtualController {
        attached += 1
        let id = VirtualController.ID(rawValue: attached)
        let controller = VirtualController(
            id: id, model: model, address: address ?? Self.defaultAddress(attached), air: self, sink: sink)
        controllers[id] = controller
        return controller
    }

    /// Takes a controller out of range, with all that it advertises. Nothing comes from it any more.
    public func detach(_ controller: VirtualController) {
        guard controllers.removeValue(forKey: controller.id) != nil else { return }
        scanners.removeAll { $0 === controller }
        controller.leave()
    }

    func controller(_ id: VirtualController.ID) -> VirtualController? { controllers[id] }

    /// Keeps the list of those who may hear something.
    func setScanning(_ controller: VirtualController, _ isScanning: Bool) {
        scanners.removeAll { $0 === controller }
        guard isScanning, controllers[controller.id] != nil else { return }
        let place = scanners.firstIndex { $0.id.rawValue > controller.id.rawValue } ?? scanners.count
        scanners.insert(controller, at: place)
    }

    func plan(_ occurrence: Occurrence, inMicroseconds delay: Int) {
        plan(occurrence, at: now.advanced(byMicroseconds: delay))
    }

    func plan(_ occurrence: Occurrence, at instant: HCIInstant) {
        heap.insert(occurrence, at: instant)
        guard heap.count > cleaningSize else { return }
        // A host that keeps restarting long advertisements must not fill the memory with their expired plans.
        heap.keepOnly(where: isWanted)
        cleaningSize = 2 * heap.count + 1024
    }

    private func isWanted(_ occurrence: Occurrence) -> Bool {
        switch occurrence {
        case .advertisingEvent(let run), .durationOver(let run), .eventsOver(let run):
            controllers[run.controller]?.isRunning(run) ?? false
        case .scanTurn(let id, let run): controllers[id]?.state.scanner?.run == run
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
