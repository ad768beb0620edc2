public import BeaconFrames
public import BluetoothTypes
public import HCI

/// Assigns each advertisement to an advertising instance of the kernel. The layout is checked before anything is sent.
/// It contains a warning for each setting that the kernel will not apply.
public struct InstanceLayout: Hashable, Sendable {
    /// The messages that add an instance.
    public enum Form: Hashable, Sendable {
        /// Add Extended Advertising Parameters, then Add Extended Advertising Data.
        case extended
        /// Add Advertising, which can set neither the interval nor the power.
        case plain
    }

    /// One advertisement in one instance.
    public struct Instance: Hashable, Sendable {
        /// The instance's number in the kernel.
        public let number: UInt8
        public let advertisement: Advertisement
        /// The interval that the kernel sends to the controller.
        public let interval: ClosedRange<AdvertisingInterval>
        let flags: ManagementAdvertisingFlags
        /// The time for which the kernel sends this instance before it changes to the next one, in seconds; 0 if the
        /// kernel chooses the time.
        let duration: UInt16
        /// `true` if the kernel can set the instance's radio power.
        let canSetPower: Bool
        /// `true` if the kernel adds a Flags structure to the data.
        let hasFlagsAdded: Bool
    }

    public let capabilities: ManagedCapabilities
    public let form: Form
    /// The instances, in the order of the advertisements.
    public let instances: [Instance]
    public let warnings: [ManagedWarning]
    /// `true` if the kernel sends the instances one after the other, because a legacy controller can send only one at a
    /// time.
    public let takesTurns: Bool

    /// The N in the adapter's name hciN.
    public var index: UInt16 { capabilities.index }

    /// - Throws: `impossible` if the kernel cannot send these advertisements on this adapter, `ended` if another
    ///   program keeps all instances off the air.
    public init(
        _ advertisements: [Advertisement], on capabilities: ManagedCapabilities
    ) throws(SessionError) {
        if let obstacle = capabilities.current.obstacle(index: capabilities.index) {
            throw .ended(.adapterBusy, obstacle)
        }
        let numbers = try Self.numbers(advertisements.count, capabilities)
        let otherInstances = capabilities.instances.count
        self.capabilities = capabilities
        form = capabilities.hasExtendedForm ? .extended : .plain
        takesTurns = !capabilities.hasExtendedAdvertising && advertisements.count + otherInstances > 1
        let duration: UInt16 = takesTurns && advertisements.count > 1 ? Self.turnSeconds : 0
        var warnings: [ManagedWarning] = []
        var instances: [Instance] = []
        for (position, advertisement) in advertisements.enumerated() {
            let builder = InstanceBuilder(
                advertisement, on: capabilities, form: form, position: advertisements.count > 1 ? position + 1 : nil)
            try builder.check()
            instances.append(builder.instance(numbers[position], duration: duration))
            warnings += builder.warnings
        }
        if takesTurns {
            let ownTurn = Int(duration == 0 ? Self.kernelTurnSeconds : Self.turnSeconds)
            let silence = ownTurn * (advertisements.count - 1) + Int(Self.kernelTurnSeconds) * otherInstances
            warnings.append(
                ManagedWarning(
                    .turns(instances: advertisements.count + otherInstances, silence: silence), advertisement: nil,
                    adapter: capabilities.name))
        }
        self.instances = instances
        self.warnings = warnings
    }

    /// The kernel's own length of a turn, in seconds.
    static let kernelTurnSeconds: UInt16 = 2
    /// The shortest turn that can be requested, in seconds.
    static let turnSeconds: UInt16 = 1

    /// Returns the highest free instance numbers, because bluetoothd and other programs use the lowest ones, and the
    /// kernel's list of used numbers may be incomplete.
    private static func numbers(_ count: Int, _ capabilities: ManagedCapabilities) throws(SessionError) -> [UInt8] {
        let usedNumbers = Set(capabilities.instances)
        let limit = min(capabilities.maximumInstances, 254)
        let freeNumbers = limit == 0 ? [] : (1...limit).reversed().filter { !usedNumbers.contains($0) }
        guard freeNumbers.count >= count else {
            let needs = count == 1 ? "one advertisement needs one" : "\(count) advertisements need \(count)"
            throw .impossible(
                "\(capabilities.name): \(needs) of the kernel's advertising instances, and \(usedNumbers.count) of "
                    + "its \(limit) are in use; send fewer, or use --adapter hci\(capabilities.index)")
        }
        return Array(freeNumbers.prefix(count))
    }
}

// MARK: Messages

extension InstanceLayout {
    /// Returns the message with the parameters, which is sent before the data; `nil` in the plain form.
    public func parameters(_ instance: Instance) throws(SessionError) -> AddExtendedAdvertisingParameters? {
        guard form == .extended else { return nil }
        return try advertising {
            try AddExtendedAdvertisingParameters(
                instance: instance.number, flags: instance.flags, duration: instance.duration,
                intervalMinimum: instance.advertisement.interval, intervalMaximum: instance.advertisement.interval,
                power: instance.canSetPower ? instance.advertisement.radioPower ?? .noPreference : .noPreference)
        }
    }

    /// Returns the message that puts `data` on the air, or replaces the instance's data.
    public func data(_ instance: Instance, _ data: AdvertisingData) throws(SessionError) -> ManagementPacket {
        try check(data, instance)
        let response = instance.advertisement.scanResponse.octets
        return try advertising {
            switch form {
            case .extended:
                try AddExtendedAdvertisingData(
                    instance: instance.number, data: data.octets, scanResponse: response
                ).packet(index)
            case .plain:
                try AddAdvertising(
                    instance: instance.number, flags: instance.flags, duration: instance.duration, data: data.octets,
                    scanResponse: response
                ).packet(index)
            }
        }
    }

    /// Returns the message that takes an instance off the air (Remove Advertising).
    public func removal(_ instance: Instance) throws(SessionError) -> RemoveAdvertising {
        try advertising { try RemoveAdvertising(instance: instance.number) }
    }

    /// Throws an error that names the problem if the kernel would refuse the data. The kernel itself reports only
    /// Invalid Parameters.
    private func check(_ data: AdvertisingData, _ instance: Instance) throws(SessionError) {
        let isExtended = instance.advertisement.phy != nil
        let maximum =
            isExtended
            ? capabilities.maximumDataLength : min(capabilities.maximumDataLength, AdvertisingData.legacyLimit)
        let limit = maximum - (instance.hasFlagsAdded ? 3 : 0)
        guard data.octets.count <= limit else {
            throw .impossible(
                "hci\(index):mgmt: \(data.octets.count) bytes of data do not fit: the limit is \(limit)"
                    + (instance.hasFlagsAdded ? " next to the Flags structure that the kernel adds" : ""))
        }
        guard data.remainder.allSatisfy({ $0 == 0 }) else {
            throw .impossible(
                "hci\(index):mgmt: the kernel accepts only complete AD structures; use --adapter hci\(index)")
        }
    }
}

extension InstanceLayout {
    /// Returns the mean time between two events of one instance, in microseconds. If the instances take turns, this
    /// time is multiplied by the number of instances.
    func meanPeriodMicroseconds(_ position: Int) -> Int {
        let range = instances[position].interval
        let period = (range.lowerBound.meanPeriodMicroseconds + range.upperBound.meanPeriodMicroseconds) / 2
        return takesTurns ? period * max(1, instances.count) : period
    }
}

/// A warning about a setting that the kernel will not apply. It is found before anything is sent.
public struct ManagedWarning: Hashable, Sendable {
    /// The reason for the warning: what the kernel does instead of applying the setting.
    public enum Reason: Hashable, Sendable {
        /// The kernel always uses 100...150 ms on a legacy controller.
        case intervalForced(requested: AdvertisingInterval)
        /// This kernel uses the adapter's own interval.
        case intervalDefault(requested: AdvertisingInterval)
        case powerIgnored(requested: RadioPower, oldKernel: Bool)
        /// The kernel chooses a non-resolvable random address: a new one at each change of the data if `eachChange` is
        /// true, otherwise only at the start.
        case addressChosenByKernel(eachChange: Bool)
        /// Connectable advertisements are sent from the adapter's own address.
        case addressOfAdapter
        /// The whole adapter is connectable, so the advertisement is connectable too.
        case sentConnectable
        case channelsIgnored
        /// The kernel adds a Flags structure before the data, because the adapter supports only LE and the data has no
        /// Flags.
        case flagsAdded
        /// Instances take turns on a legacy controller, with `silence` seconds between two turns.
        case turns(instances: Int, silence: Int)
    }

    public let reason: Reason
    /// The advertisement's number, from 1; `nil` for all advertisements.
    public let advertisement: Int?
    /// The adapter, such as `hci0:mgmt`.
    public let adapter: String

    /// - Parameter advertisement: The advertisement's number, from 1; `nil` for all advertisements.
    public init(_ reason: Reason, advertisement: Int?, adapter: String) {
        self.reason = reason
        self.advertisement = advertisement
        self.adapter = adapter
    }
}

extension ManagedWarning: CustomStringConvertible {
    public var description: String {
        "\(adapter): \(advertisement.map { "advertisement \($0): " } ?? "")\(sentence)"
    }

    private var sentence: String {
        switch reason {
        case .intervalForced(let requested):
            "the interval is not \(requested): on this legacy controller the kernel always uses 100...150 ms; "
                + "\(remedy) uses the requested interval"
        case .intervalDefault(let requested):
            "the interval is not \(requested): this kernel uses the adapter's own interval (1280 ms unless configured)"
                + "; for the requested interval, use Linux 5.11 or newer, or \(remedy)"
        case .powerIgnored(let requested, oldKernel: true):
            "the radio power of \(requested) is ignored: this kernel cannot set it; use Linux 5.11 or newer, or "
                + remedy
        case .powerIgnored(let requested, oldKernel: false):
            "the radio power of \(requested) is ignored: the kernel cannot set it on a controller without "
                + "extended advertising; \(remedy) tries the controller's own command"
        case .addressChosenByKernel(eachChange: true):
            "the kernel chooses a new random address at each change of the data and at each turn; \(remedy) keeps one address"
        case .addressChosenByKernel(eachChange: false):
            "the kernel chooses a new random address at each start; \(remedy) keeps one address"
        case .addressOfAdapter:
            "connectable advertisements are sent from the adapter's own address; \(remedy) uses the requested address"
        case .sentConnectable:
            "a program has made the adapter connectable, so it is sent as ADV_IND from the adapter's own address; "
                + "`btmgmt connectable off` ends that, and \(remedy) avoids it"
        case .channelsIgnored:
            "the advertisement is sent on all three channels; \(remedy) uses only the requested channels"
        case .flagsAdded:
            "the data has no Flags structure and the adapter is LE only, so the kernel adds 02 01 04 in front; "
                + "\(remedy) sends the data unchanged"
        case .turns(let instances, let silence):
            "\(instances) advertisements take turns on this legacy controller: each is off the air for \(silence) s "
                + "between its turns; \(remedy) sends all of them at their own intervals"
        }
    }

    /// The values of the option `--adapter` with which the setting is applied.
    private var remedy: String {
        let device = adapter.prefix { $0 != ":" }
        return "--adapter \(device) or \(device):user"
    }
}

/// Creates the instance and the warnings for one advertisement.
///
/// The kernel's rules are in its net/bluetooth/hci_sync.c (hci_setup_ext_adv_instance_sync,
/// hci_enable_advertising_sync, hci_update_random_address_sync).
private struct InstanceBuilder {
    private let advertisement: Advertisement
    private let capabilities: ManagedCapabilities
    private let form: InstanceLayout.Form
    /// The advertisement's number for warnings, from 1; `nil` if it is the only one.
    private let position: Int?

    init(
        _ advertisement: Advertisement, on capabilities: ManagedCapabilities, form: InstanceLayout.Form, position: Int?
    ) {
        self.advertisement = advertisement
        self.capabilities = capabilities
        self.form = form
        self.position = position
    }

    func check() throws(SessionError) {
        let range =
            capabilities.hasExtendedAdvertising ? AdvertisingInterval.extendedRange : AdvertisingInterval.legacyRange
        guard range.contains(advertisement.interval) else {
            throw .impossible(
                "interval \(advertisement.interval) is out of this controller's range "
                    + "\(range.lowerBound)...\(range.upperBound)")
        }
        guard advertisement.pattern == nil else {
            throw .impossible(
                "a pattern of intervals is not sent through the kernel's advertising manager, which draws a new address at "
                    + "each change of the interval, or chooses the interval itself: use --adapter hci\(capabilities.index) "
                    + "or hci\(capabilities.index):user")
        }
        try checkPHY()
        if case .btHome(let source) = advertisement.content, source.isEncrypted {
            throw .impossible(
                "encrypted BTHome needs a fixed device address, and the kernel's advertising manager chooses its own: "
                    + "use --adapter hci\(capabilities.index)")
        }
        let limit = min(capabilities.maximumScanResponseLength, AdvertisingData.legacyLimit)
        let response = advertisement.scanResponse.octets.count
        guard response <= limit else {
            throw .impossible("the scan response has \(response) bytes; \(limit) is the limit")
        }
        guard response == 0 || advertisement.pdu != .nonconnectable else {
            throw .impossible(
                "a scan response needs --pdu scannable or connectable")
        }
        guard response > 0 || advertisement.pdu != .scannable || form == .extended else {
            throw .impossible("on this kernel a scannable advertisement needs a scan response; add --local-name")
        }
    }

    /// Throws the reason why the kernel cannot send an extended advertisement.
    private func checkPHY() throws(SessionError) {
        guard let phy = advertisement.phy else { return }
        let name = "an extended advertisement (\"phy\": \"\(phy.rawValue)\")"
        guard capabilities.hasExtendedAdvertising else {
            throw .impossible(
                "\(capabilities.name): this controller has no extended advertising, so it cannot send \(name): leave the "
                    + "PHY out to send legacy PDUs, or use another adapter (not the built-in one of a Raspberry Pi)")
        }
        guard let flag = phy.secondaryChannel else {
            throw .impossible(
                "\(capabilities.name): the kernel's advertising manager does not select S=2 or S=8: write coded, which "
                    + "leaves the choice to the controller, or use --adapter hci\(capabilities.index)")
        }
        guard capabilities.flags.contains(flag) else {
            throw .impossible("\(capabilities.name): this controller has no \(phy.name), so it cannot send \(name)")
        }
        let octets: Int
        do throws(PayloadError) { octets = try advertisement.payloadOctetCount() } catch { throw .payload("\(error)") }
        if let fault = advertisement.extendedFault(octets: octets) { throw .impossible(fault) }
    }

    func instance(_ number: UInt8, duration: UInt16) -> InstanceLayout.Instance {
        InstanceLayout.Instance(
            number: number, advertisement: advertisement, interval: interval, flags: flags(duration),
            duration: duration, canSetPower: canSetPower, hasFlagsAdded: hasFlagsAdded)
    }

    var warnings: [ManagedWarning] {
        var reasons: [ManagedWarning.Reason] = []
        switch intervalRule {
        case .requested: break
        case .forced: reasons.append(.intervalForced(requested: advertisement.interval))
        case .adapterDefault: reasons.append(.intervalDefault(requested: advertisement.interval))
        }
        if let power = advertisement.radioPower, !canSetPower {
            reasons.append(.powerIgnored(requested: power, oldKernel: capabilities.hasExtendedAdvertising))
        }
        reasons += addressReasons
        if advertisement.channels != .all { reasons.append(.channelsIgnored) }
        if hasFlagsAdded { reasons.append(.flagsAdded) }
        return reasons.map { ManagedWarning($0, advertisement: position, adapter: capabilities.name) }
    }

    private enum IntervalRule {
        case requested
        /// The kernel always uses 100...150 ms.
        case forced
        /// The kernel uses the adapter's own interval.
        case adapterDefault
    }

    /// `true` if the advertisement is connectable, by request or because the whole adapter is.
    private var isConnectable: Bool { advertisement.pdu == .connectable || capabilities.makesConnectable }

    private var intervalRule: IntervalRule {
        if !capabilities.hasExtendedAdvertising && !isConnectable && !capabilities.current.contains(.discoverable) {
            return .forced
        }
        return form == .extended ? .requested : .adapterDefault
    }

    private var interval: ClosedRange<AdvertisingInterval> {
        switch intervalRule {
        case .requested: advertisement.interval...advertisement.interval
        case .forced: AdvertisingInterval(rawValue: 0xA0)...AdvertisingInterval(rawValue: 0xF0)
        case .adapterDefault: AdvertisingInterval(rawValue: 0x800)...AdvertisingInterval(rawValue: 0x800)
        }
    }

    private var canSetPower: Bool { form == .extended && capabilities.hasExtendedAdvertising }

    private var addressReasons: [ManagedWarning.Reason] {
        if capabilities.makesConnectable && advertisement.pdu != .connectable { return [.sentConnectable] }
        if isConnectable {
            if advertisement.address != .public { return [.addressOfAdapter] }
            return []
        }
        // No warning is needed: a new ephemeral id needs a new address anyway.
        if case .eddystoneEID = advertisement.content { return [] }
        return [.addressChosenByKernel(eachChange: !capabilities.hasExtendedAdvertising)]
    }

    /// `true` if the kernel adds a Flags structure. It does so if BR/EDR is off and the data contains no Flags.
    private var hasFlagsAdded: Bool {
        guard !capabilities.current.contains(.bredr) else { return false }
        return switch advertisement.content {
        case .iBeacon(_, _, _, let flags): flags == nil
        case .altBeacon(_, _, _, let flags): flags == nil
        case .raw(let data): !data.structures.contains { $0.type == .flags }
        case .eddystoneUID, .eddystoneURL, .eddystoneTLM, .eddystoneEID, .btHome: false
        }
    }

    private func flags(_ duration: UInt16) -> ManagementAdvertisingFlags {
        var flags = ManagementAdvertisingFlags()
        if advertisement.pdu == .connectable { flags.insert(.connectable) }
        if let channel = advertisement.phy?.secondaryChannel { flags.insert(channel) }
        guard form == .extended else { return flags }
        flags.insert(.useIntervals)
        if canSetPower && advertisement.radioPower != nil { flags.insert(.useTxPower) }
        if duration > 0 { flags.insert(.useDuration) }
        if advertisement.pdu == .scannable || !advertisement.scanResponse.octets.isEmpty {
            flags.insert(.scanResponse)
        }
        return flags.intersection(capabilities.flags)
    }
}

extension ExtendedPHY {
    /// The kernel's flag for the secondary channel, which also sets the primary channel; `nil` for S=2 and S=8, which
    /// the kernel cannot select.
    fileprivate var secondaryChannel: ManagementAdvertisingFlags? {
        switch self {
        case .le1M: .secondaryChannel1M
        case .le2M: .secondaryChannel2M
        case .coded: .secondaryChannelCoded
        case .codedS2, .codedS8: nil
        }
    }
}
