public import BluetoothTypes
public import HCI

/// What a controller says it can do, as far as an advertiser cares.
public struct ControllerCapabilities: Hashable, Sendable {
    public var version: HCIVersion
    public var manufacturer: CompanyIdentifier
    /// All zero where the controller has none.
    public var publicAddress: DeviceAddress
    public var leFeatures: LEFeatures
    public var supportedCommands: SupportedCommands
    /// Advertising sets; 1 without extended advertising.
    public var advertisingSets: Int
    /// Octets of data a set may hold; 31 without extended advertising.
    public var maximumDataLength: Int
    /// What LE Read Transmit Power says; `nil` where there is no such command.
    public var transmitPowerRange: ClosedRange<RadioPower>?
    /// By which way the radio's power can be set.
    public var powerControl: PowerControl

    /// Whether the extended commands are there. They are used whenever they are: a controller that has once seen one
    /// family refuses the other until it is reset (Core Specification 5.4, Vol 4 Part E 3.1.1).
    public var hasExtendedAdvertising: Bool { leFeatures.contains(.extendedAdvertising) }

    /// The shortest and longest interval for `pdu` on this controller.
    public func intervalRange(for pdu: AdvertisingPDU) -> ClosedRange<AdvertisingInterval> {
        if hasExtendedAdvertising { return AdvertisingInterval.extendedRange }
        let longest = AdvertisingInterval.legacyRange.upperBound
        // Core 4.x: ADV_NONCONN_IND and ADV_SCAN_IND not below 100 ms.
        if version < .core50 && pdu != .connectable {
            return AdvertisingInterval.nonconnectableMinimumBefore5...longest
        }
        return AdvertisingInterval.legacyRange
    }
}

extension ControllerCapabilities {
    /// Asks the controller behind `host`.
    ///
    /// - Parameter isExclusive: nobody else has set this controller up, so it is reset first and its event masks are
    ///   opened. Beside the kernel's stack neither is done.
    public static func read(
        from host: HCIHost, isExclusive: Bool
    ) throws(HCICommandError) -> ControllerCapabilities {
        if isExclusive { try reset(host) }
        let version = try host.execute(ReadLocalVersionInformation())
        let commands = try host.execute(ReadLocalSupportedCommands()).commands
        let address = try host.execute(ReadBDADDR()).address
        let features = try host.execute(LEReadLocalSupportedFeatures()).features
        var result = ControllerCapabilities(
            version: version.version, manufacturer: version.company, publicAddress: address,
            leFeatures: features, supportedCommands: commands, advertisingSets: 1,
            maximumDataLength: AdvertisingData.legacyLimit, transmitPowerRange: nil, powerControl: .none)
        if isExclusive { try result.openEventMasks(host) }
        if result.hasExtendedAdvertising {
            result.advertisingSets = Int(try host.execute(LEReadNumberOfSupportedAdvertisingSets()).count)
            if commands.contains(LEReadMaximumAdvertisingDataLength.self) {
                // BlueZ's btvirt lists the command and does not know it; 31 octets are what every set must hold.
                let maximum = try host.executeOptional(LEReadMaximumAdvertisingDataLength())
                result.maximumDataLength = maximum.map { Int($0.maximumLength) } ?? AdvertisingData.legacyLimit
            }
        }
        if commands.contains(LEReadTransmitPower.self) {
            let range = try host.executeOptional(LEReadTransmitPower())
            if let range, range.minimum <= range.maximum {
                result.transmitPowerRange = range.minimum...range.maximum
            }
        }
        result.powerControl = try PowerControl.find(for: result, host: host)
        return result
    }

    /// A UART may swallow the first octets after it was opened, so Reset is tried three times.
    private static func reset(_ host: HCIHost) throws(HCICommandError) {
        for _ in 0..<2 {
            do throws(HCICommandError) {
                _ = try host.execute(HCIReset())
                return
            } catch {
                guard case .noAnswer = error else { throw error }
            }
        }
        _ = try host.execute(HCIReset())
    }

    /// After Reset the LE Meta event is masked, and of its subevents extended reports and Advertising Set Terminated are.
    public func openEventMasks(_ host: HCIHost) throws(HCICommandError) {
        let extendedMask = LEEventMask.standard.union([.extendedAdvertisingReport, .advertisingSetTerminated])
        _ = try host.execute(SetEventMask(.standardAndLE))
        _ = try host.execute(LESetEventMask(hasExtendedAdvertising ? extendedMask : .standard))
        if supportedCommands.contains(WriteLEHostSupported.self) {
            // Controllers with LE alone list the command and refuse it; they need no telling.
            _ = try host.executeOptional(WriteLEHostSupported(true))
        }
    }
}

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
    /// Whether LE was off, and has been turned on for this.
    public private(set) var raisedLowEnergy = false

    /// Asks the kernel about hci`index`; turns LE on and powers the adapter where they are off.
    ///
    /// - Throws: `impossible` for an adapter without LE, `management` for what the kernel refuses. What was changed
    ///   until then has been undone.
    public init(_ host: ManagementHost, index: UInt16) throws(SessionError) {
        self.host = host
        let information = try advertising { try host.execute(ReadControllerInformation(), index: index) }
        guard information.supported.contains(.lowEnergy) else {
            throw .impossible("hci\(index):mgmt: this adapter has no LE; only LE sends beacons")
        }
        var raised = ManagementSettings()
        do throws(SessionError) {
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
