internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// One advertisement on its way into a plan: what it becomes, and what is lost.
///
/// What the kernel does stands in its net/bluetooth/hci_sync.c (hci_setup_ext_adv_instance_sync,
/// hci_enable_advertising_sync, hci_update_random_address_sync).
struct InstanceDraft {
    private let advertisement: Advertisement
    private let capabilities: ManagedCapabilities
    private let form: ManagedPlan.Form
    private let position: Int?

    init(
        _ advertisement: Advertisement, on capabilities: ManagedCapabilities, form: ManagedPlan.Form, position: Int?
    ) {
        self.advertisement = advertisement
        self.capabilities = capabilities
        self.form = form
        self.position = position
    }

    func check() throws(AdvertisingError) {
        let range =
            capabilities.hasExtendedAdvertising ? AdvertisingInterval.extendedRange : AdvertisingInterval.legacyRange
        guard range.contains(advertisement.interval) else {
            throw .impossible(
                "interval \(advertisement.interval) is out of this controller's range "
                    + "\(range.lowerBound)...\(range.upperBound)")
        }
        let room = min(capabilities.maximumScanResponseLength, AdvertisingData.legacyLimit)
        let response = advertisement.scanResponse.octets.count
        guard response <= room else {
            throw .impossible("the scan response has \(response) octets; \(room) is the limit")
        }
        guard response == 0 || advertisement.pdu != .nonconnectable else {
            throw .impossible("a scan response needs --pdu scannable or connectable: nobody may ask for it otherwise")
        }
        guard response > 0 || advertisement.pdu != .scannable || form == .extended else {
            throw .impossible("this kernel sends as scannable only what has a scan response; add --local-name")
        }
    }

    func instance(_ number: UInt8, duration: UInt16) -> ManagedPlan.Instance {
        ManagedPlan.Instance(
            number: number, advertisement: advertisement, interval: interval, flags: flags(duration),
            duration: duration, isPowerTaken: takesPower, hasFlagsAdded: hasFlagsAdded)
    }

    var warnings: [ManagedWarning] {
        var reasons: [ManagedWarning.Reason] = []
        switch intervalRule {
        case .asked: break
        case .forced: reasons.append(.intervalForced(asked: advertisement.interval))
        case .adapters: reasons.append(.intervalDefault(asked: advertisement.interval))
        }
        if let power = advertisement.radioPower, !takesPower {
            reasons.append(.powerIgnored(asked: power, oldKernel: capabilities.hasExtendedAdvertising))
        }
        reasons += addressReasons
        if advertisement.channels != .all { reasons.append(.channelsIgnored) }
        if hasFlagsAdded { reasons.append(.flagsAdded) }
        return reasons.map { ManagedWarning($0, advertisement: position, adapter: capabilities.name) }
    }

    private enum IntervalRule {
        case asked
        /// 100...150 ms.
        case forced
        case adapters
    }

    /// Connectable as asked for, or because the whole adapter is.
    private var isConnectable: Bool { advertisement.pdu == .connectable || capabilities.makesConnectable }

    private var intervalRule: IntervalRule {
        if !capabilities.hasExtendedAdvertising && !isConnectable && !capabilities.current.contains(.discoverable) {
            return .forced
        }
        return form == .extended ? .asked : .adapters
    }

    private var interval: ClosedRange<AdvertisingInterval> {
        switch intervalRule {
        case .asked: advertisement.interval...advertisement.interval
        case .forced: AdvertisingInterval(rawValue: 0xA0)...AdvertisingInterval(rawValue: 0xF0)
        case .adapters: AdvertisingInterval(rawValue: 0x800)...AdvertisingInterval(rawValue: 0x800)
        }
    }

    private var takesPower: Bool { form == .extended && capabilities.hasExtendedAdvertising }

    private var addressReasons: [ManagedWarning.Reason] {
        if capabilities.makesConnectable && advertisement.pdu != .connectable { return [.sentConnectable] }
        if isConnectable {
            if case .staticRandom = advertisement.address { return [.addressOfAdapter] }
            return []
        }
        // An ephemeral id wants a new address with each new id, which is what the kernel gives it.
        if case .eddystoneEID = advertisement.content { return [] }
        return [.addressDrawn(eachChange: !capabilities.hasExtendedAdvertising)]
    }

    /// Where BR/EDR is off the kernel says so in the data, unless the data has a Flags structure of its own.
    private var hasFlagsAdded: Bool {
        guard !capabilities.current.contains(.bredr) else { return false }
        return switch advertisement.content {
        case .iBeacon(_, _, _, let flags): flags == nil
        case .altBeacon(_, _, _, let flags): flags == nil
        case .raw(let data): !data.structures.contains { $0.type == .flags }
        case .eddystoneUID, .eddystoneURL, .eddystoneTLM, .eddystoneEID: false
        }
    }

    private func flags(_ duration: UInt16) -> ManagementAdvertisingFlags {
        var flags = ManagementAdvertisingFlags()
        if advertisement.pdu == .connectable { flags.insert(.connectable) }
        guard form == .extended else { return flags }
        flags.insert(.useIntervals)
        if takesPower && advertisement.radioPower != nil { flags.insert(.useTxPower) }
        if duration > 0 { flags.insert(.useDuration) }
        if advertisement.pdu == .scannable || !advertisement.scanResponse.octets.isEmpty {
            flags.insert(.scanResponse)
        }
        return flags.intersection(capabilities.flags)
    }
}
