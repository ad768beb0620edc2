public import BluetoothTypes
public import HCI

/// The capabilities of a controller that advertising needs, as the controller reports them.
public struct ControllerCapabilities: Hashable, Sendable {
    public var version: HCIVersion
    public var manufacturer: CompanyIdentifier
    /// The controller's public address; all bytes are 0 if it has none.
    public var publicAddress: DeviceAddress
    public var leFeatures: LEFeatures
    public var supportedCommands: SupportedCommands
    /// The number of advertising sets; 1 without extended advertising.
    public var advertisingSets: Int
    /// The maximum length of the data of a set, in bytes; 31 without extended advertising.
    public var maximumDataLength: Int
    /// The range from LE Read Transmit Power; `nil` if the controller does not have the command.
    public var transmitPowerRange: ClosedRange<RadioPower>?
    /// The command that sets the radio power.
    public var powerControl: PowerControl

    /// `true` if the controller has the extended commands. Pharos then uses no legacy commands: after a command of one
    /// family, a controller refuses commands of the other family until it is reset (Core Specification 5.4, Vol 4 Part
    /// E 3.1.1).
    public var hasExtendedAdvertising: Bool { leFeatures.contains(.extendedAdvertising) }

    /// `true` if the host can select S=2 or S=8 on LE Coded. This requires version 2 of the command that sets the
    /// parameters.
    public var selectsCoding: Bool {
        leFeatures.contains(.advertisingCodingSelection)
            && supportedCommands.contains(LESetExtendedAdvertisingParametersV2.self)
    }

    /// Returns the shortest and the longest interval that the controller accepts for `pdu`.
    public func intervalRange(for pdu: AdvertisingPDU) -> ClosedRange<AdvertisingInterval> {
        if hasExtendedAdvertising { return AdvertisingInterval.extendedRange }
        let longest = AdvertisingInterval.legacyRange.upperBound
        // Core 4.x requires at least 100 ms for ADV_NONCONN_IND and ADV_SCAN_IND.
        if version < .core50 && pdu != .connectable {
            return AdvertisingInterval.nonconnectableMinimumBefore5...longest
        }
        return AdvertisingInterval.legacyRange
    }
}

extension ControllerCapabilities {
    /// Reads the capabilities of the controller behind `host`.
    ///
    /// - Parameter isExclusive: `true` if no other program uses the controller. If so, this function first resets the
    ///   controller and sets its event masks. Otherwise the kernel has already done so.
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
                // BlueZ's btvirt lists this command but refuses it. Every set accepts at least 31 bytes.
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

    /// Sends Reset up to three times, because a UART may lose the first bytes after it was opened.
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

    /// Enables the events that Pharos needs and that are off after Reset: the LE Meta event, and its subevents for
    /// extended reports and Advertising Set Terminated.
    public func openEventMasks(_ host: HCIHost) throws(HCICommandError) {
        let extendedMask = LEEventMask.standard.union([.extendedAdvertisingReport, .advertisingSetTerminated])
        _ = try host.execute(SetEventMask(.standardAndLE))
        _ = try host.execute(LESetEventMask(hasExtendedAdvertising ? extendedMask : .standard))
        if supportedCommands.contains(WriteLEHostSupported.self) {
            // Controllers that support only LE list the command but refuse it. They do not need it.
            _ = try host.executeOptional(WriteLEHostSupported(true))
        }
    }
}

/// The capabilities of the kernel's advertising manager on one adapter, and the adapter's settings.
public struct ManagedCapabilities: Hashable, Sendable {
    /// The N in the adapter's name hciN.
    public var index: UInt16
    public var address: DeviceAddress
    public var version: HCIVersion
    public var current: ManagementSettings
    /// `true` if the kernel can set interval and power (Add Extended Advertising Parameters and Data, Linux 5.11).
    public var hasExtendedForm: Bool
    public var flags: ManagementAdvertisingFlags
    /// The largest instance number; the smallest is 1.
    public var maximumInstances: UInt8
    /// The instances that the kernel lists as being in use.
    public var instances: [UInt8]
    public var maximumDataLength: Int
    public var maximumScanResponseLength: Int

    public init(
        index: UInt16, address: DeviceAddress, version: HCIVersion, current: ManagementSettings, hasExtendedForm: Bool,
        features: ReadAdvertisingFeatures.ReturnParameters
    ) {
        self.index = index
        self.address = address
        self.version = version
        self.current = current
        self.hasExtendedForm = hasExtendedForm
        flags = features.supportedFlags
        maximumInstances = features.maximumInstances
        instances = features.instances
        maximumDataLength = Int(features.maximumDataLength)
        maximumScanResponseLength = Int(features.maximumScanResponseLength)
    }

    /// `true` if the controller has extended advertising. The kernel offers a secondary channel only on such a
    /// controller.
    public var hasExtendedAdvertising: Bool { flags.contains(.secondaryChannel1M) }

    public var name: String { "hci\(index):mgmt" }

    /// `true` if a program has made the whole adapter connectable. Every advertisement is then connectable, and is sent
    /// from the adapter's own address.
    public var makesConnectable: Bool { current.contains(.connectable) }
}

extension ManagementSettings {
    /// Returns the reason why no instance can be on the air with these settings of hci`index`; `nil` if these settings
    /// allow instances.
    func obstacle(index: UInt16) -> String? {
        guard contains(.advertising) else { return nil }
        return
            "hci\(index):mgmt: off the air, because a program has turned the adapter's own advertising on, which keeps "
            + "all other advertisements off the air; `btmgmt --index \(index) advertising off` ends it"
    }
}

/// An adapter that is ready for the kernel's advertising manager. It also stores which settings ``restore()`` must
/// undo.
public final class ManagedAdapter {
    public let host: ManagementHost
    public let capabilities: ManagedCapabilities
    /// `true` if the adapter was off, and has been powered on.
    public private(set) var raisedPower = false
    /// `true` if LE was off, and has been turned on.
    public private(set) var raisedLowEnergy = false

    /// Reads the kernel's capabilities on hci`index`, and turns on LE and power if they are off.
    ///
    /// - Throws: `impossible` for an adapter without LE, `management` if the kernel refuses a command. In both cases,
    ///   the settings are restored first.
    public init(_ host: ManagementHost, index: UInt16) throws(SessionError) {
        self.host = host
        let information = try advertising { try host.execute(ReadControllerInformation(), index: index) }
        guard information.supported.contains(.lowEnergy) else {
            throw .impossible("hci\(index):mgmt: this adapter has no Bluetooth Low Energy, which beacons need")
        }
        var changes = ManagementSettings()
        do throws(SessionError) {
            capabilities = try advertising {
                var current = information.current
                if !current.contains(.lowEnergy) {
                    current = try host.execute(SetLowEnergy(true), index: index).settings
                    changes.insert(.lowEnergy)
                }
                if !current.contains(.powered) {
                    current = try host.execute(SetPowered(true), index: index).settings
                    changes.insert(.powered)
                }
                let supportedCommands = Set(try host.execute(ReadManagementSupportedCommands()).commands)
                return ManagedCapabilities(
                    index: index, address: information.address, version: information.version,
                    current: current,
                    hasExtendedForm: supportedCommands.isSuperset(
                        of: [AddExtendedAdvertisingParameters.opcode, AddExtendedAdvertisingData.opcode]),
                    features: try host.execute(ReadAdvertisingFeatures(), index: index))
            }
        } catch {
            Self.undo(changes, host, index)
            throw error
        }
        raisedPower = changes.contains(.powered)
        raisedLowEnergy = changes.contains(.lowEnergy)
    }

    /// Undoes the changes of power and LE. Call it after the instances have been removed.
    public func restore() {
        var changes = ManagementSettings()
        if raisedPower { changes.insert(.powered) }
        if raisedLowEnergy { changes.insert(.lowEnergy) }
        raisedPower = false
        raisedLowEnergy = false
        Self.undo(changes, host, capabilities.index)
    }

    /// - Parameter changes: The settings that were turned on.
    private static func undo(_ changes: ManagementSettings, _ host: ManagementHost, _ index: UInt16) {
        if changes.contains(.powered) { _ = try? host.execute(SetPowered(false), index: index) }
        if changes.contains(.lowEnergy) { _ = try? host.execute(SetLowEnergy(false), index: index) }
    }
}
