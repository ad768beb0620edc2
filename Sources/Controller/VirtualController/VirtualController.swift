public import BluetoothTypes
public import HCI

/// A simulated controller. It receives packets from a host, follows the rules of the Core Specification, and sends and
/// receives advertisements on its ``VirtualAir``.
///
/// Connections are not simulated. Only the thread that owns the air may use a controller.
public final class VirtualController: Identifiable {
    /// Identifies a controller on its air.
    public struct ID: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        /// ``VirtualAir`` numbers its controllers in the order of attachment.
        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    public let id: ID
    public let model: VirtualControllerModel
    /// The public device address; all zero if the controller has none.
    public let address: DeviceAddress
    /// Called for each packet from the host before it is processed.
    public var commandHook: ((HCIPacket) -> VirtualFault)?
    /// Called for each packet to the host before it is sent.
    public var eventHook: ((HCIPacket) -> VirtualFault)?
    /// The time until a command is answered, in microseconds.
    public var latencyMicroseconds = 0
    /// `true` if the controller is still attached to its air. A controller that is not attached sends nothing.
    public private(set) var isAttached = true

    weak var air: VirtualAir?
    let sink: (HCIPacket) -> Void
    let supportedOpcodes: Set<HCIOpcode>
    var state: ControllerState
    /// The time without credits, while a command is executed whose answer must contain no credits; otherwise `nil`.
    private var withholding: CreditWithholding?
    /// The number of the last run; see ``newRun()``.
    private var lastRun: UInt64 = 0

    init(
        id: ID, model: VirtualControllerModel, address: DeviceAddress, air: VirtualAir,
        sink: @escaping (HCIPacket) -> Void
    ) {
        self.id = id
        self.model = model
        self.address = address
        self.air = air
        self.sink = sink
        supportedOpcodes = Self.supportedCommands(of: model)
        state = ControllerState(model)
    }

    /// Receives a packet from the host at the current time of the air. Invalid packets are ignored or answered with an
    /// error. The answer to a command is sent during this call, or later if ``latencyMicroseconds`` or a hook delays
    /// it.
    public func receive(_ packet: HCIPacket) {
        guard isAttached else { return }
        process(packet, with: commandHook?(packet) ?? .pass)
    }

    /// Sends any packet to the host, such as a Hardware Error or invalid bytes. No hook is called.
    public func inject(_ packet: HCIPacket) {
        guard isAttached else { return }
        sink(packet)
    }

    /// Returns true if an advertising set is enabled.
    ///
    /// - Parameter handle: The host's number of the set; `nil` for the advertiser of the legacy commands.
    public func isAdvertising(handle: UInt8? = nil) -> Bool {
        state.sets[AdvertisingSetID(handle: handle)]?.isEnabled ?? false
    }

    /// Returns the number of advertising events that a set has sent since it was last enabled. The number stays the
    /// same after the set was disabled.
    ///
    /// - Parameter handle: The host's number of the set; `nil` for the advertiser of the legacy commands.
    public func advertisingEvents(handle: UInt8? = nil) -> Int {
        state.sets[AdvertisingSetID(handle: handle)]?.eventsSent ?? 0
    }

    public var isScanning: Bool { state.scanner != nil }

    /// Returns an unused number for a new run. A run is an uninterrupted period of advertising or scanning.
    func newRun() -> UInt64 {
        lastRun += 1
        return lastRun
    }

    /// Restores the state of a controller that has just been powered on.
    func reset() {
        state = ControllerState(model)
        air?.setScanning(self, false)
    }

    /// Removes the controller from the air.
    func leave() {
        isAttached = false
        reset()
    }
}

/// The status of a command, and its return parameters.
struct CommandReply {
    var status: HCIStatus
    var returned: [UInt8] = []
}

extension VirtualController {
    /// Processes a packet of the host, with the effects of `fault`.
    private func process(_ packet: HCIPacket, with fault: VirtualFault) {
        guard isAttached else { return }
        switch fault {
        case .pass: process(packet)
        case .drop: break
        case .delay(let microseconds): air?.plan(.toController(id, packet), inMicroseconds: microseconds)
        case .replace(let other): process(other)
        case .fail(let status):
            guard let opcode = packet.opcode else { return process(packet) }
            answer(opcode, CommandReply(status: status))
        case .withoutCredits(let microseconds):
            withholding = CreditWithholding(microseconds: microseconds)
            process(packet)
            withholding = nil
        case .vanish: air?.detach(self)
        }
    }

    /// Processes a packet from the host. Data packets are ignored, because there are no connections.
    func process(_ packet: HCIPacket) {
        guard isAttached, let opcode = packet.opcode else { return }
        guard supportedOpcodes.contains(opcode) else {
            let answer = CommandStatus(status: .unknownCommand, credits: credits(), opcode: opcode)
            return send(.commandStatus(answer), after: latencyMicroseconds)
        }
        guard let header = packet.commandHeader else {
            return answer(opcode, CommandReply(status: .invalidParameters))
        }
        let parameters = Array(packet.octets[header.parameters])
        answer(opcode, execute(opcode, parameters.span))
    }

    private func answer(_ opcode: HCIOpcode, _ reply: CommandReply) {
        let answer = CommandComplete(
            credits: credits(), opcode: opcode, returnOctets: [reply.status.rawValue] + reply.returned)
        send(.commandComplete(answer), after: latencyMicroseconds)
    }

    /// Returns the number of credits in the next answer: the number of further commands that the host may send.
    private func credits() -> UInt8 {
        guard let withholding else { return 1 }
        returnCredits(withholding)
        return 0
    }

    private func returnCredits(_ withholding: CreditWithholding) {
        guard let microseconds = withholding.microseconds else { return }
        air?.plan(.toHost(id, ControllerEvents.creditsReturned.packet), inMicroseconds: microseconds)
    }

    /// Sends an event to the host. ``eventHook`` can change, delay or drop it.
    func send(_ event: HCIEvent, after latency: Int = 0) {
        guard isAttached else { return }
        let packet = event.packet
        switch eventHook?(packet) ?? .pass {
        case .pass: deliver(packet, after: latency)
        case .drop: break
        case .delay(let microseconds): deliver(packet, after: max(0, microseconds) &+ latency)
        case .replace(let other): deliver(other, after: latency)
        case .fail(let status): deliver(ControllerEvents.settingStatus(status, of: packet), after: latency)
        case .withoutCredits(let microseconds):
            deliver(ControllerEvents.withoutCredits(packet), after: latency)
            returnCredits(CreditWithholding(microseconds: microseconds))
        case .vanish: air?.detach(self)
        }
    }

    private func deliver(_ packet: HCIPacket, after microseconds: Int) {
        if microseconds > 0 {
            air?.plan(.toHost(id, packet), inMicroseconds: microseconds)
        } else {
            sink(packet)
        }
    }

    /// Sends an LE Meta event if both event masks allow it.
    func sendMeta(_ event: HCIEvent, _ bit: LEEventMask) {
        guard state.eventMask.contains(.leMeta), state.leEventMask.contains(bit) else { return }
        send(event)
    }
}

extension HCIPacket {
    /// The opcode of a command, even if its length is wrong; `nil` for other packets.
    fileprivate var opcode: HCIOpcode? {
        guard kind == .command, octets.count >= 2 else { return nil }
        return HCIOpcode(rawValue: octets.span.uint16LittleEndian(at: 0))
    }
}
