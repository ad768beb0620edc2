public import BluetoothTypes
public import HCI

/// A simulation of the kernel's advertising manager for hci0: settings, instances, and the checks of Linux 6.1.
public struct FakeKernel {
    public struct Instance: Hashable {
        public var flags = ManagementAdvertisingFlags()
        public var interval: AdvertisingInterval?
        public var duration: UInt16 = 0
        public var data: [UInt8] = []
        public var scanResponse: [UInt8] = []
        /// The number of times that parameters were set. Each time, the kernel draws a new random address.
        public var addresses = 0
    }

    public var settings: ManagementSettings = [.powered, .lowEnergy, .bredr]
    public var supported: ManagementSettings = [.powered, .lowEnergy, .bredr, .connectable, .discoverable]
    public var hasExtendedAdvertising = true
    /// The secondary channels of extended advertising.
    public var secondaryChannels: ManagementAdvertisingFlags = [.secondaryChannel1M]
    /// The largest number of data octets in extended advertising.
    public var extendedDataLimit: UInt8 = 31
    public var knowsExtendedForm = true
    public var maximumInstances: UInt8 = 5
    public var instances: [UInt8: Instance] = [:]
    /// The power that the controller selects for every request; `nil` to select the requested power.
    public var selectedPower: RadioPower?
    /// Sets that the kernel still believes to be enabled after a power cycle. The first command for such a set fails.
    public var stale: Set<UInt8> = []
    /// The commands that are refused, and the status of the refusal.
    public var refusals: [UInt16: ManagementStatus] = [:]

    /// The address of hci0.
    private static let address = DeviceAddress("C0:11:22:33:44:55") ?? DeviceAddress(FixedOctets())

    public init() {}

    public mutating func answer(_ packet: ManagementPacket) -> ManagementEvent {
        let opcode = packet.code
        func status(_ status: ManagementStatus) -> ManagementEvent {
            ManagementEvent(index: packet.index, .commandStatus(opcode: opcode, status: status))
        }
        func done(_ returned: [UInt8]) -> ManagementEvent {
            ManagementEvent(index: packet.index, .commandComplete(opcode: opcode, status: .success, returned: returned))
        }
        if let refusal = refusals[opcode] { return status(refusal) }
        let octets = packet.parameters
        if packet.index == ManagementPacket.noController {
            return switch opcode {
            case ReadControllerIndexList.opcode: done(ReadControllerIndexList.ReturnParameters([0]).octets)
            case ReadManagementSupportedCommands.opcode:
                done(
                    ReadManagementSupportedCommands.ReturnParameters(
                        commands: knowsExtendedForm ? [0x3E, 0x3F, 0x54, 0x55] : [0x3E, 0x3F], events: []
                    ).octets)
            default: status(.invalidIndex)
            }
        }
        guard packet.index == 0 else { return status(.invalidIndex) }
        switch opcode {
        case ReadControllerInformation.opcode:
            return done(
                ReadControllerInformation.ReturnParameters(
                    address: Self.address, version: .core50, manufacturer: .linuxFoundation, supported: supported,
                    current: settings
                ).octets)
        case SetPowered.opcode: return done(set(.powered, octets))
        case SetLowEnergy.opcode: return done(set(.lowEnergy, octets))
        case ReadAdvertisingFeatures.opcode:
            // Instances whose number is above the number of instances are left out.
            let told = instances.keys.filter { $0 <= instances.count }.sorted()
            return done(
                ReadAdvertisingFeatures.ReturnParameters(
                    supportedFlags: flags, maximumDataLength: dataLimit, maximumScanResponseLength: 31,
                    maximumInstances: maximumInstances, instances: told
                ).octets)
        case AddAdvertising.opcode: return add(octets).map { status($0) } ?? done([octets[0]])
        case AddExtendedAdvertisingParameters.opcode where knowsExtendedForm:
            if let refusal = parameters(octets) { return status(refusal) }
            let power = hasExtendedAdvertising ? selectedPower ?? RadioPower(octet: octets[17]) : .noPreference
            return done([octets[0], power.octet, dataLimit, 31])
        case AddExtendedAdvertisingData.opcode where knowsExtendedForm:
            return data(octets).map { status($0) } ?? done([octets[0]])
        case RemoveAdvertising.opcode:
            guard octets.count == 1, instances.removeValue(forKey: octets[0]) != nil else {
                return status(.invalidParameters)
            }
            return done(octets)
        default: return status(.unknownCommand)
        }
    }

    private var flags: ManagementAdvertisingFlags {
        var result: ManagementAdvertisingFlags = [.connectable, .discoverable, .addFlags]
        if knowsExtendedForm { result.formUnion([.useDuration, .useIntervals, .useTxPower, .scanResponse]) }
        if hasExtendedAdvertising { result.formUnion(secondaryChannels.union(.canSetTxPower)) }
        return result
    }

    private mutating func set(_ setting: ManagementSettings, _ octets: [UInt8]) -> [UInt8] {
        if octets == [1] { settings.insert(setting) } else { settings.remove(setting) }
        return ManagementCurrentSettings(settings).octets
    }

    private mutating func add(_ octets: [UInt8]) -> ManagementStatus? {
        guard settings.contains(.lowEnergy) else { return .rejected }
        guard let command = AddAdvertising(parameters: octets.span), isValid(command.instance, command.flags),
            isWhole(command.data, command.flags), isWhole(command.scanResponse)
        else { return .invalidParameters }
        instances[command.instance] = Instance(
            flags: command.flags, duration: command.duration, data: command.data, scanResponse: command.scanResponse,
            addresses: (instances[command.instance]?.addresses ?? 0) + 1)
        return nil
    }

    private mutating func parameters(_ octets: [UInt8]) -> ManagementStatus? {
        guard let command = AddExtendedAdvertisingParameters(parameters: octets.span),
            isValid(command.instance, command.flags)
        else { return .invalidParameters }
        guard settings.contains([.powered, .lowEnergy]) else { return .rejected }
        if stale.remove(command.instance) != nil { return .failed }
        instances[command.instance] = Instance(
            flags: command.flags,
            interval: command.intervalMinimum == command.intervalMaximum ? command.intervalMinimum : nil,
            duration: command.duration, addresses: (instances[command.instance]?.addresses ?? 0) + 1)
        return nil
    }

    private mutating func data(_ octets: [UInt8]) -> ManagementStatus? {
        guard let command = AddExtendedAdvertisingData(parameters: octets.span) else { return .invalidParameters }
        guard let instance = instances[command.instance] else { return .invalidParameters }
        guard isWhole(command.data, instance.flags), isWhole(command.scanResponse) else {
            // A refused change removes the instance.
            instances[command.instance] = nil
            return .invalidParameters
        }
        instances[command.instance]?.data = command.data
        instances[command.instance]?.scanResponse = command.scanResponse
        return nil
    }

    private func isValid(_ instance: UInt8, _ requested: ManagementAdvertisingFlags) -> Bool {
        instance >= 1 && instance <= maximumInstances && flags.isSuperset(of: requested)
    }

    private var dataLimit: UInt8 { hasExtendedAdvertising ? extendedDataLimit : 31 }

    /// Legacy PDUs, without a secondary channel, hold 31 bytes.
    private func isWhole(_ data: [UInt8], _ flags: ManagementAdvertisingFlags = []) -> Bool {
        let limit = flags.isDisjoint(with: secondaryChannels) ? 31 : Int(dataLimit)
        return data.count <= limit && AdvertisingData(octets: data).remainder.allSatisfy { $0 == 0 }
    }
}

extension FakeKernel.Instance {
    /// An instance of another program.
    public init(data: [UInt8] = []) {
        self.init(flags: ManagementAdvertisingFlags(), data: data)
    }
}

/// A channel to a fake kernel, with a simulated clock. It records the sent packets and delivers scripted events.
public final class KernelChannel: ManagementChannel {
    public private(set) var now = HCIInstant(nanoseconds: 0)
    public var kernel: FakeKernel
    public private(set) var sent: [ManagementPacket] = []
    /// The events that other programs cause, in order of time, in milliseconds.
    public var script: [(time: Int, event: ManagementEvent)] = []
    /// The number of the following waits that a signal interrupts.
    public var interruptions = 0
    private var answers: [ManagementEvent] = []

    public init(_ kernel: FakeKernel) {
        self.kernel = kernel
    }

    public var host: ManagementHost { ManagementHost(channel: self) }

    public func forget() { sent = [] }

    /// The opcodes of the sent packets, each with the first parameter octet: `54:5`.
    public var steps: [String] {
        sent.map { packet in
            let code = Hexadecimal.text([UInt8(truncatingIfNeeded: packet.code)])
            return packet.parameters.first.map { "\(code):\($0)" } ?? code
        }
    }

    public func send(_ packet: ManagementPacket) throws(HCIChannelError) {
        sent.append(packet)
        answers.append(kernel.answer(packet))
    }

    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket? {
        if interruptions > 0 {
            interruptions -= 1
            throw .interrupted
        }
        if !answers.isEmpty { return answers.removeFirst().packet }
        if let next = script.first {
            let time = HCIInstant(nanoseconds: 0).advanced(byMicroseconds: next.time * 1000)
            if time <= deadline {
                now = max(now, time)
                return script.removeFirst().event.packet
            }
        }
        now = max(now, deadline)
        return nil
    }
}
