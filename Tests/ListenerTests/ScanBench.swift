import Advertiser
import BeaconFrames
import BluetoothTypes
import HCI
import Listener
import Sightings
import VirtualController

/// A listener and a beacon, each with its own virtual controller, in range of each other.
final class ScanBench: AdapterEnvironment {
    let air: VirtualAir
    var channel: VirtualChannel
    var host: HCIHost
    private let model: VirtualControllerModel
    private let isExclusive: Bool
    /// True if another listener shares the controller.
    var isAmongListeners = false
    /// True if an earlier run could not end its scan.
    var hasLeftover = false
    private var beacon: HCIHost?
    /// The times of all reports.
    var reports: [HCIInstant] {
        takeEvents()
        return takenReports
    }
    var states: [ScanSession.State] {
        takeEvents()
        return takenStates
    }
    var commands: [HCIOpcode] {
        takeEvents()
        return takenCommands
    }
    private var takenReports: [HCIInstant] = []
    private var takenStates: [ScanSession.State] = []
    private var takenCommands: [HCIOpcode] = []
    private(set) var logged: [String] = []
    private(set) var notices: [Supervisor.Notice] = []
    var isStopWanted = false
    /// The faults of the next attempts to open the adapter.
    var openFaults: [AdapterFault] = []
    private(set) var opened = 0

    init(_ model: VirtualControllerModel = .raspberryPi, isExclusive: Bool = true) {
        self.model = model
        self.isExclusive = isExclusive
        air = VirtualAir()
        channel = VirtualChannel(model, on: air)
        host = HCIHost(channel: channel)
    }

    var now: HCIInstant { air.now }
    var controller: VirtualController { channel.controller }

    func newSession() throws -> ScanSession { try makeSession(after: nil) }

    private(set) var scan: ScanSession?
    var session: (any AdapterSession)? { scan }

    func startSession() throws(SessionError) -> any AdapterSession {
        let started = try makeSession(after: scan)
        scan = started
        try started.start()
        return started
    }

    func runner(_ adapter: String, _ pacing: SupervisorPacing) -> AdapterRunner {
        AdapterRunner(Supervisor(adapter: adapter, sessionKind: .listening, pacing: pacing, at: now), in: self)
    }

    func state(_ runner: AdapterRunner) -> ListeningState { ListeningState(runner.supervisor.state, scan?.state) }

    func makeSession(after previous: ScanSession?) throws(SessionError) -> ScanSession {
        let capabilities: ControllerCapabilities
        do throws(HCICommandError) {
            // The kernel has set up a shared controller.
            capabilities = try ControllerCapabilities.read(from: host, isExclusive: isExclusive || opened < 2)
        } catch {
            throw .command(error, remedy: nil)
        }
        let session = ScanSession(
            host: host, capabilities, isExclusive: isExclusive, isAmongListeners: isAmongListeners,
            hasLeftover: hasLeftover, after: previous)
        sessions.append(session)
        return session
    }

    private var sessions: [ScanSession] = []

    private func takeEvents() {
        for session in sessions {
            session.takeEvents { event in
                switch event {
                case .packet(let packet, isFromController: false, _):
                    takenCommands.append(HCIOpcode(rawValue: packet.octets.span.opcode))
                case .packet(let packet, _, let time):
                    let octets = packet.octets
                    guard octets.count > 2, octets[0] == 0x3E, [0x02, 0x0D].contains(octets[2]) else { return }
                    takenReports.append(time)
                case .state(let state, _): takenStates.append(state)
                }
            }
        }
    }

    /// Sends an iBeacon every 100 ms.
    func startBeacon() throws {
        let host = HCIHost(channel: VirtualChannel(.core4, on: air))
        try host.execute(HCIReset())
        try host.execute(
            LESetAdvertisingParameters(
                intervalMinimum: AdvertisingInterval(rawValue: 160),
                intervalMaximum: AdvertisingInterval(rawValue: 160), type: .nonconnectable,
                ownAddressType: .publicDevice))
        try host.execute(LESetAdvertisingData([2, 1, 6]))
        try host.execute(LESetAdvertisingEnable(true))
        beacon = host
    }

    func stopBeacon() throws {
        try beacon?.execute(LESetAdvertisingEnable(false))
    }

    /// Advances the time and runs the session.
    func run(_ session: ScanSession, seconds: Double) throws {
        let end = now.advanced(byMicroseconds: Int(seconds * 1_000_000))
        while now < end {
            let due = session.nextWakeUp ?? end
            _ = try host.nextEvent(until: min(due, end))
            try session.receive(until: .distantPast)
            if let due = session.nextWakeUp, due <= now { try session.wake(now) }
        }
    }

    func run(_ runner: AdapterRunner, seconds: Double) {
        let end = now.advanced(byMicroseconds: Int(seconds * 1_000_000))
        while now < end, runner.ended == nil {
            let due = min(runner.nextWakeUp ?? end, end, now.advanced(byMicroseconds: 100_000))
            air.advance(to: max(now, due))
            runner.receive()
            if isStopWanted { runner.handle(.stop) }
            runner.wake()
        }
    }

    /// Sends a command of another program. The kernel also shows its answer to the session.
    func foreign(_ packet: HCIPacket) { controller.receive(packet) }

    /// Returns the number of reports since `instant`.
    func heard(since instant: HCIInstant) -> Int { reports.count { $0 >= instant } }

    func open() throws(AdapterFault) {
        if !openFaults.isEmpty { throw openFaults.removeFirst() }
        opened += 1
        if opened > 1 {
            // A shared controller keeps its settings.
            if isExclusive || !controller.isAttached { channel = VirtualChannel(model, on: air) }
            host = HCIHost(channel: channel)
        }
    }

    func close() {}
    func explain(_ error: HCIChannelError) -> AdapterFault { AdapterFault(.adapterGone, "\(error)") }
    func log(_ priority: Supervisor.LogPriority, _ text: String) { logged.append(text) }
    func notify(_ notice: Supervisor.Notice) { notices.append(notice) }
}

extension Span<UInt8> {
    /// The opcode of a command packet.
    fileprivate var opcode: UInt16 { uint16LittleEndian(at: 0) }
}
