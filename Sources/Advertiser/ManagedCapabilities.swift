public import BluetoothTypes
public import HCI

/// What the kernel's advertising manager offers on one adapter, and what the adapter is set to.
public struct ManagedCapabilities: Hashable, Sendable {
    /// The N of hciN.
    public var index: UInt16
    public var address: DeviceAddress
    public var version: HCIVersion
    public var supported: ManagementSettings
    public var current: ManagementSettings
    /// Whether the kernel takes interval and power (Add Extended Advertising Parameters and Data, Linux 5.11).
    public var hasExtendedForm: Bool
    public var flags: ManagementAdvertisingFlags
    /// Instances are numbered from 1 to this.
    public var maximumInstances: UInt8
    /// Those that are in use, as far as the kernel tells.
    public var instances: [UInt8]
    public var maximumDataLength: Int
    public var maximumScanResponseLength: Int

    public init(
        index: UInt16, address: DeviceAddress, version: HCIVersion, supported: ManagementSettings,
        current: ManagementSettings, hasExtendedForm: Bool, features: ReadAdvertisingFeatures.ReturnParameters
    ) {
        self.index = index
        self.address = address
        self.version = version
        self.supported = supported
        self.current = current
        self.hasExtendedForm = hasExtendedForm
        flags = features.supportedFlags
        maximumInstances = features.maximumInstances
        instances = features.instances
        maximumDataLength = Int(features.maximumDataLength)
        maximumScanResponseLength = Int(features.maximumScanResponseLength)
    }

    /// Whether the controller has extended advertising. The kernel says so only by offering its PHYs.
    public var hasExtendedAdvertising: Bool { flags.contains(.secondaryChannel1M) }

    public var name: String { "hci\(index):mgmt" }

    /// Whether every advertisement is sent as connectable, from the adapter's own address, because a program has set
    /// the whole adapter so.
    public var makesConnectable: Bool { current.contains(.connectable) }
}

/// An adapter that has been made ready for the kernel's advertising manager, and what is to be undone afterwards.
public final class ManagedAdapter {
    public let host: ManagementHost
    public let capabilities: ManagedCapabilities
    /// Whether the adapter was off, and has been powered for this.
    public private(set) var raisedPower = false
    private var raisedLowEnergy = false

    /// Asks the kernel about hci`index`; turns LE on and powers the adapter where they are off.
    ///
    /// - Throws: `impossible` for an adapter without LE, `management` for what the kernel refuses. What was changed
    ///   until then has been undone.
    public init(_ host: ManagementHost, index: UInt16) throws(AdvertisingError) {
        self.host = host
        let information = try advertising { try host.execute(ReadControllerInformation(), index: index) }
        guard information.supported.contains(.lowEnergy) else {
            throw .impossible("hci\(index):mgmt: this adapter has no LE; only LE sends beacons")
        }
        var raised = ManagementSettings()
        do throws(AdvertisingError) {
            capabilities = try advertising {
                var current = information.current
                if !current.contains(.lowEnergy) {
                    current = try host.execute(SetLowEnergy(true), index: index).settings
                    raised.insert(.lowEnergy)
                }
                if !current.contains(.powered) {
                    current = try host.execute(SetPowered(true), index: index).settings
                    raised.insert(.powered)
                }
                let known = Set(try host.execute(ReadManagementSupportedCommands()).commands)
                return ManagedCapabilities(
                    index: index, address: information.address, version: information.version,
                    supported: information.supported, current: current,
                    hasExtendedForm: known.isSuperset(
                        of: [AddExtendedAdvertisingParameters.opcode, AddExtendedAdvertisingData.opcode]),
                    features: try host.execute(ReadAdvertisingFeatures(), index: index))
            }
        } catch {
            Self.lower(raised, host, index)
            throw error
        }
        raisedPower = raised.contains(.powered)
        raisedLowEnergy = raised.contains(.lowEnergy)
    }

    /// Puts power and LE back to what they were, if we changed them. Call it when our instances are gone.
    public func restore() {
        var raised = ManagementSettings()
        if raisedPower { raised.insert(.powered) }
        if raisedLowEnergy { raised.insert(.lowEnergy) }
        raisedPower = false
        raisedLowEnergy = false
        Self.lower(raised, host, capabilities.index)
    }

    private static func lower(_ raised: ManagementSettings, _ host: ManagementHost, _ index: UInt16) {
        if raised.contains(.powered) { _ = try? host.execute(SetPowered(false), index: index) }
        if raised.contains(.lowEnergy) { _ = try? host.execute(SetLowEnergy(false), index: index) }
    }
}
