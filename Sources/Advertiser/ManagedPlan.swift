public import BeaconFrames
public import BluetoothTypes
public import HCI

/// How advertisements are to be sent through the kernel's advertising manager, one instance each: decided, checked and
/// with what will not be honoured, before anything is sent.
public struct ManagedPlan: Hashable, Sendable {
    /// By which commands the kernel takes instances.
    public enum Form: Hashable, Sendable {
        /// Add Extended Advertising Parameters, then Add Extended Advertising Data.
        case extended
        /// Add Advertising, which takes neither interval nor power.
        case plain
    }

    /// One advertisement in one instance.
    public struct Instance: Hashable, Sendable {
        /// The kernel's number of it.
        public let number: UInt8
        public let advertisement: Advertisement
        /// What the controller is asked for in the end.
        public let interval: ClosedRange<AdvertisingInterval>
        let flags: ManagementAdvertisingFlags
        /// Seconds before the next one's turn; 0 leaves it to the kernel.
        let duration: UInt16
        let isPowerTaken: Bool
        let hasFlagsAdded: Bool
    }

    /// What it was made for.
    public let capabilities: ManagedCapabilities
    public let form: Form
    /// In the order of the advertisements.
    public let instances: [Instance]
    public let warnings: [ManagedWarning]
    /// On a legacy controller only one instance is on the air at a time.
    public let takesTurns: Bool

    /// The N of hciN.
    public var index: UInt16 { capabilities.index }

    /// - Throws: `impossible` when the kernel cannot do it on this adapter.
    public init(
        _ advertisements: [Advertisement], on capabilities: ManagedCapabilities
    ) throws(AdvertisingError) {
        guard !capabilities.current.contains(.advertising) else {
            throw .impossible(
                "\(capabilities.name): a program has turned the adapter's own advertising on, which keeps all others "
                    + "off the air; `btmgmt --index \(capabilities.index) advertising off` ends it")
        }
        let numbers = try Self.numbers(advertisements.count, capabilities)
        let others = capabilities.instances.count
        self.capabilities = capabilities
        form = capabilities.hasExtendedForm ? .extended : .plain
        takesTurns = !capabilities.hasExtendedAdvertising && advertisements.count + others > 1
        let duration: UInt16 = takesTurns && advertisements.count > 1 ? Self.turnSeconds : 0
        var warnings: [ManagedWarning] = []
        var instances: [Instance] = []
        for (position, advertisement) in advertisements.enumerated() {
            let draft = InstanceDraft(
                advertisement, on: capabilities, form: form, position: advertisements.count > 1 ? position + 1 : nil)
            try draft.check()
            instances.append(draft.instance(numbers[position], duration: duration))
            warnings += draft.warnings
        }
        if takesTurns {
            let own = Int(duration == 0 ? Self.kernelTurnSeconds : Self.turnSeconds)
            let silence = own * (advertisements.count - 1) + Int(Self.kernelTurnSeconds) * others
            warnings.append(
                ManagedWarning(
                    .turns(instances: advertisements.count + others, silence: silence), advertisement: nil,
                    adapter: capabilities.name))
        }
        self.instances = instances
        self.warnings = warnings
    }

    /// What the kernel gives each instance where nothing else is asked for.
    static let kernelTurnSeconds: UInt16 = 2
    /// The shortest turn there is.
    static let turnSeconds: UInt16 = 1

    /// The highest free numbers: bluetoothd and others begin at 1, whatever the kernel's list says.
    private static func numbers(_ count: Int, _ capabilities: ManagedCapabilities) throws(AdvertisingError) -> [UInt8] {
        let taken = Set(capabilities.instances)
        let limit = min(capabilities.maximumInstances, 254)
        let free = limit == 0 ? [] : (1...limit).reversed().filter { !taken.contains($0) }
        guard free.count >= count else {
            let needs = count == 1 ? "one advertisement needs one" : "\(count) advertisements need \(count)"
            throw .impossible(
                "\(capabilities.name): \(needs) of the kernel's advertising instances, and of its \(limit) "
                    + "\(taken.count) are in use; send fewer, or use --adapter hci\(capabilities.index)")
        }
        return Array(free.prefix(count))
    }
}

/// The messages, each complete: what a session sends, and what a dry run shows.
extension ManagedPlan {
    /// What stands before the data: the parameters, where they have a message of their own.
    public func parameters(_ instance: Instance) throws(AdvertisingError) -> AddExtendedAdvertisingParameters? {
        guard form == .extended else { return nil }
        return try advertising {
            try AddExtendedAdvertisingParameters(
                instance: instance.number, flags: instance.flags, duration: instance.duration,
                intervalMinimum: instance.advertisement.interval, intervalMaximum: instance.advertisement.interval,
                power: instance.isPowerTaken ? instance.advertisement.radioPower ?? .noPreference : .noPreference)
        }
    }

    /// Puts `data` on the air, or replaces what is there.
    public func data(_ instance: Instance, _ data: AdvertisingData) throws(AdvertisingError) -> ManagementPacket {
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

    /// The command that takes an instance off the air again (Remove Advertising).
    public func removal(_ instance: Instance) throws(AdvertisingError) -> RemoveAdvertising {
        try advertising { try RemoveAdvertising(instance: instance.number) }
    }

    /// What the kernel would refuse with no more than Invalid Parameters.
    private func check(_ data: AdvertisingData, _ instance: Instance) throws(AdvertisingError) {
        let maximum = min(capabilities.maximumDataLength, AdvertisingData.legacyLimit)
        let room = maximum - (instance.hasFlagsAdded ? 3 : 0)
        guard data.octets.count <= room else {
            throw .impossible(
                "hci\(index):mgmt: \(data.octets.count) octets of data are more than the \(room) that there is room for"
                    + (instance.hasFlagsAdded ? " beside the Flags structure that the kernel adds" : ""))
        }
        guard data.remainder.allSatisfy({ $0 == 0 }) else {
            throw .impossible("hci\(index):mgmt: the kernel takes nothing but whole AD structures; use hci\(index)")
        }
    }
}
