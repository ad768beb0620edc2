public import BluetoothTypes
public import HCI

/// A controller in software: takes a host's packets, follows the rules of the Core Specification, and sends and hears
/// advertisements on its ``VirtualAir``.
///
/// Connections are not modelled. Like its air it belongs to one owner.
public final class VirtualController: Identifiable {
    /// Tells the controllers of one air apart.
    public struct ID: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        /// Given by ``VirtualAir`` in the order of attachment.
        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    public let id: ID
    public let model: VirtualControllerModel
    /// The public device address; all zero when it has none.
    public let address: DeviceAddress
    /// Is asked about each packet from the host before it is worked on.
    public var commandHook: ((HCIPacket) -> VirtualFault)?
    /// Is asked about each packet for the host before it is sent.
    public var eventHook: ((HCIPacket) -> VirtualFault)?
    /// How long an answer takes, in microseconds.
    public var latencyMicroseconds = 0
    /// Whether it is still on the air that made it. Nothing comes from it otherwise.
    public private(set) var isAttached = true

    weak var air: VirtualAir?
    let sink: (HCIPacket) -> Void
    let supported: Set<HCIOpcode>
    var state: ControllerState
    /// Set while a command is in work whose answer shall leave the host without credits.
    var withholding: CreditWithholding?
    private var runs: UInt64 = 0

    init(
        id: ID, model: VirtualControllerModel, address: DeviceAddress, air: VirtualAir,
        sink: @escaping (HCIPacket) -> Void
    ) {
        self.id = id
        self.model = model
        self.address = address
        self.air = air
        self.sink = sink
        supported = Self.supportedCommands(of: model)
        state = ControllerState(model)
    }

    /// Takes a packet from the host, at the instant that its air calls now. Whatever its octets are, it does no harm; a
    /// command gets an answer, during this call unless ``latencyMicroseconds`` or a hook delays it.
    public func receive(_ packet: HCIPacket) {
        guard isAttached else { return }
        take(packet, commandHook?(packet) ?? .pass)
    }

    /// Sends `packet` to the host as if the controller had come to it: a Hardware Error, or nonsense. No hook is asked.
    public func inject(_ packet: HCIPacket) {
        guard isAttached else { return }
        sink(packet)
    }

    /// Whether an advertising set is on the air.
    ///
    /// - Parameter handle: The host's number of the set; `nil` for the advertiser of the legacy commands.
    public func isAdvertising(handle: UInt8? = nil) -> Bool {
        state.sets[AdvertisingSetID(handle: handle)]?.isEnabled ?? false
    }

    /// How many advertising events a set has sent since it was last enabled; it keeps the number when it is disabled.
    ///
    /// - Parameter handle: The host's number of the set; `nil` for the advertiser of the legacy commands.
    public func advertisingEvents(handle: UInt8? = nil) -> Int {
        state.sets[AdvertisingSetID(handle: handle)]?.eventsSent ?? 0
    }

    public var isScanning: Bool { state.scanner != nil }

    /// A number that nothing planned so far bears.
    func newRun() -> UInt64 {
        runs += 1
        return runs
    }

    /// Everything off and forgotten, as after power-on.
    func reset() {
        state = ControllerState(model)
        air?.setScanning(self, false)
    }

    /// Out of range.
    func leave() {
        isAttached = false
        reset()
    }
}
