internal import BluetoothTypes
public import HCI

/// The steps of advertising in their order: configure, set the data, enable. Each command family (legacy and extended)
/// implements them.
///
/// The data is set before the set is enabled, so that the controller never sends an old payload.
protocol AdvertisingCommands {
    /// Turns advertising off, and sets the address, the parameters and the radio power.
    func configure(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError) -> SetConfiguration
    /// Replaces the data without turning the set off. The next advertising event contains the new data.
    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError)
    func setScanResponse(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError)
    /// Replaces the parameters of a set that is off, to change its interval. The address, the data and the power stay
    /// the same.
    func change(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError)
    /// Turns a set off and gives it another random address. The parameters and the power stay the same.
    ///
    /// - Returns: `false` if the controller refuses the address, because it scans.
    func move(to address: DeviceAddress, _ host: HCIHost) throws(SessionError) -> Bool
    func enable(_ host: HCIHost) throws(SessionError)
    /// Turns advertising off. If it is already off, some controllers refuse the command; this refusal is not an error.
    func disable(_ host: HCIHost) throws(SessionError)
    /// Frees the controller's memory for this set. Call it after ``disable(_:)``.
    func release(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError)
}

/// The settings that the controller has accepted.
struct SetConfiguration {
    let power: RadioPowerGrant
    /// The reason why the controller refused the set's own address; `nil` if it accepted the address. A controller
    /// refuses a new random address while it scans (Core Specification 5.4, Vol 4 Part E 7.8.4).
    var addressRefusal: SessionError?
}

extension SetParameters {
    /// The commands of the set's family.
    var commands: any AdvertisingCommands {
        switch family {
        case .legacy: LegacyAdvertising()
        case .extended(let handle): ExtendedAdvertising(handle: handle)
        }
    }
}

extension HCIHost {
    /// Returns true if the set with these parameters is enabled. To find out, the function sets the same parameters
    /// again, which a controller refuses for an enabled set. The state of the set does not change, whether the
    /// controller accepts or refuses (Core Specification 5.4, Vol 4 Part E 7.8.5 and 7.8.53).
    func isAdvertising(_ parameters: SetParameters) throws -> Bool {
        do {
            switch parameters.family {
            case .legacy: _ = try execute(parameters.legacyCommand)
            case .extended(let handle): _ = try setParameters(parameters, handle)
            }
            return false
        } catch HCICommandError.refused(_, _, .commandDisallowed) {
            return true
        }
    }

    /// Turns sets off and restores the controller. Returns the reason why advertising may still be on; `nil` if it is
    /// off.
    ///
    /// - Parameter isExclusive: `true` if no other program uses the controller, so that it may be reset.
    func turnOff(_ sets: [SetParameters], isExclusive: Bool) -> SessionError? {
        var failure: SessionError?
        for set in sets {
            // If the controller has disappeared or does not answer, no further commands are sent.
            if let failure, failure.isHopeless { break }
            failure = disableDespiteSignals(set) ?? failure
        }
        if isExclusive {
            // The session began with a reset, so a reset also restores the controller at the end.
            do throws(HCICommandError) {
                _ = try execute(HCIReset())
                return nil
            } catch {
                return failure
            }
        }
        for set in sets {
            do throws(SessionError) {
                try set.commands.release(set, self)
            } catch {
                if error.isHopeless { break }
            }
        }
        return failure
    }

    /// Disables a set. If a signal interrupts the command, it is sent once more, because a second Ctrl-C must not leave
    /// the beacon on the air.
    private func disableDespiteSignals(_ set: SetParameters) -> SessionError? {
        for _ in 0..<2 {
            do throws(SessionError) {
                try set.commands.disable(self)
                return nil
            } catch {
                guard case .command(.channel(.interrupted), _) = error else { return error }
            }
        }
        return .command(.channel(.interrupted), remedy: nil)
    }
}

extension HCICommandError {
    /// `true` if the controller works but refuses the command.
    var isRefusal: Bool {
        switch self {
        case .refused, .malformedReturn: true
        case .noAnswer, .notAccepted, .channel: false
        }
    }

    /// `true` if the controller refuses a vendor command. Some controllers refuse by not answering.
    var isVendorsRefusal: Bool {
        if case .noAnswer = self { return true }
        return isRefusal
    }
}

extension HCIHost {
    /// Executes an optional command. Returns `nil` if the controller refuses it.
    func executeOptional<C: HCICommand>(_ command: C) throws(HCICommandError) -> C.ReturnParameters? {
        do throws(HCICommandError) {
            return try execute(command)
        } catch {
            guard C.opcode.isVendorSpecific ? error.isVendorsRefusal : error.isRefusal else { throw error }
            return nil
        }
    }

    /// Executes `command`. A refusal with one of `statuses` counts as success.
    func execute(_ command: some HCICommand, tolerating statuses: HCIStatus...) throws(HCICommandError) {
        do throws(HCICommandError) {
            _ = try execute(command)
        } catch {
            guard let status = error.status, statuses.contains(status) else { throw error }
        }
    }
}

/// The legacy commands, for one set without a handle. Core Specification 5.4, Vol 4 Part E 7.8.4...7.8.9.
struct LegacyAdvertising: AdvertisingCommands {
    func configure(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError) -> SetConfiguration {
        // Controllers refuse a new address and new parameters while advertising is on.
        try disable(host)
        let addressRefusal = try parameters.randomAddress.flatMap { address throws(SessionError) in
            try Self.refusal(of: address, attempts: Self.addressAttempts, host)
        }
        let busyHint = "another program advertises on this adapter, or has used extended commands since the last reset"
        try advertising(hints: parameters.parameterHints.merging([.commandDisallowed: busyHint]) { $1 }) {
            _ = try host.execute(parameters.legacyCommand)
        }
        let power = try advertising { try setPower(parameters, host) }
        return SetConfiguration(power: power, addressRefusal: addressRefusal)
    }

    func change(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError) {
        try advertising(hints: parameters.parameterHints) { _ = try host.execute(parameters.legacyCommand) }
    }

    func move(to address: DeviceAddress, _ host: HCIHost) throws(SessionError) -> Bool {
        try disable(host)
        return try Self.refusal(of: address, attempts: 1, host) == nil
    }

    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError) {
        try advertising { _ = try host.execute(LESetAdvertisingData(data.octets)) }
    }

    func setScanResponse(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError) {
        try advertising { _ = try host.execute(LESetScanResponseData(data.octets)) }
    }

    func enable(_ host: HCIHost) throws(SessionError) {
        try advertising { _ = try host.execute(LESetAdvertisingEnable(true)) }
    }

    func disable(_ host: HCIHost) throws(SessionError) {
        // The specification allows a second disable; Broadcom's firmware and btvirt refuse it.
        try advertising { try host.execute(LESetAdvertisingEnable(false), tolerating: .commandDisallowed) }
    }

    func release(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError) {
        try setData(AdvertisingData(octets: []), host)
        try setScanResponse(AdvertisingData(octets: []), host)
        if parameters.radioPower != nil {
            try advertising { try VendorPower(parameters.powerControl).restoreDefault(host) }
        }
    }

    /// The number of attempts to set an address. When an address is refused, a `pharos listen` on the same adapter
    /// pauses its scan, so a later attempt may succeed.
    private static let addressAttempts = 5
    /// The time between two attempts, in microseconds: 50 ms.
    private static let addressPauseMicroseconds = 50_000

    /// Sets the random address. Returns `nil` after success. If the controller refuses all attempts, because it is
    /// scanning or connecting, returns the last refusal.
    private static func refusal(
        of address: DeviceAddress, attempts: Int, _ host: HCIHost
    ) throws(SessionError) -> SessionError? {
        let hint = "the adapter is scanning or connecting; end the scan first (bluetoothctl scan off)"
        for attempt in 1...attempts {
            do throws(SessionError) {
                try advertising(hints: [.commandDisallowed: hint]) { try host.execute(LESetRandomAddress(address)) }
                return nil
            } catch {
                guard error.status == .commandDisallowed else { throw error }
                if attempt == attempts { return error }
            }
            try advertising { try host.wait(until: host.now.advanced(byMicroseconds: addressPauseMicroseconds)) }
        }
        return nil
    }

    private func setPower(_ parameters: SetParameters, _ host: HCIHost) throws -> RadioPowerGrant {
        guard let requested = parameters.radioPower else {
            return try Self.readPower(host).map { .reported($0) } ?? .unknown
        }
        let grant = try VendorPower(parameters.powerControl).set(requested, host)
        if case .granted = grant { return grant }
        let reported = try Self.readPower(host)
        switch grant {
        case .unverified:
            return reported == requested
                ? .granted(requested) : .unverified(requested: requested, reported: reported)
        case .notSettable(let reason, _): return .notSettable(reason: reason, reported: reported)
        default: return grant
        }
    }

    /// Returns the power from LE Read Advertising Physical Channel TX Power; `nil` if the controller refuses.
    private static func readPower(_ host: HCIHost) throws(HCICommandError) -> RadioPower? {
        try host.executeOptional(LEReadAdvertisingPhysicalChannelTxPower())?.power
    }
}

extension SetParameters {
    /// The legacy command with these parameters.
    var legacyCommand: LESetAdvertisingParameters {
        get throws {
            try LESetAdvertisingParameters(
                intervalMinimum: interval, intervalMaximum: interval, type: pdu.legacyType,
                ownAddressType: ownAddressType, channels: channels)
        }
    }
}

extension AdvertisingPDU {
    /// The Advertising_Type of the legacy command.
    fileprivate var legacyType: LegacyAdvertisingType {
        switch self {
        case .nonconnectable: .nonconnectable
        case .scannable: .scannable
        case .connectable: .connectable
        }
    }
}

/// The extended commands for one advertising set. If the advertisement has no PHY, the set sends legacy PDUs, which
/// every phone receives.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.52...7.8.59.
struct ExtendedAdvertising: AdvertisingCommands {
    let handle: UInt8

    func configure(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError) -> SetConfiguration {
        // A set that an earlier run left enabled would refuse new parameters.
        try disable(host)
        let legacyHint =
            "an older kernel has used legacy commands on this controller; use hciN:user, which resets the controller"
        let hints = parameters.parameterHints.merging([.commandDisallowed: legacyHint]) { $1 }
        let selectedPower = try advertising(hints: hints) { try host.setParameters(parameters, handle) }
        if let address = parameters.randomAddress {
            try advertising {
                _ = try host.execute(LESetAdvertisingSetRandomAddress(handle: handle, address: address))
            }
        }
        // Some controllers return 0x7F (no preference) from the command, which is not a power level.
        guard selectedPower != .noPreference else { return SetConfiguration(power: .unknown) }
        return SetConfiguration(
            power: parameters.radioPower == nil ? .reported(selectedPower) : .granted(selectedPower))
    }

    func change(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError) {
        try advertising(hints: parameters.parameterHints) { _ = try host.setParameters(parameters, handle) }
    }

    func move(to address: DeviceAddress, _ host: HCIHost) throws(SessionError) -> Bool {
        try disable(host)
        try advertising { _ = try host.execute(LESetAdvertisingSetRandomAddress(handle: handle, address: address)) }
        return true
    }

    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError) {
        try advertising {
            for command in try LESetExtendedAdvertisingData.all(handle: handle, data: data.octets) {
                _ = try host.execute(command)
            }
        }
    }

    func setScanResponse(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError) {
        try advertising { _ = try host.execute(LESetExtendedScanResponseData(handle: handle, data: data.octets)) }
    }

    func enable(_ host: HCIHost) throws(SessionError) {
        try advertising {
            _ = try host.execute(LESetExtendedAdvertisingEnable(true, [.init(handle: handle)]))
        }
    }

    func disable(_ host: HCIHost) throws(SessionError) {
        try advertising {
            try host.execute(
                LESetExtendedAdvertisingEnable(false, [.init(handle: handle)]),
                tolerating: .unknownAdvertisingIdentifier, .commandDisallowed)
        }
    }

    func release(_ parameters: SetParameters, _ host: HCIHost) throws(SessionError) {
        try advertising {
            try host.execute(LERemoveAdvertisingSet(handle: handle), tolerating: .unknownAdvertisingIdentifier)
        }
    }
}

extension HCIHost {
    /// Sets the parameters of an advertising set. Version 2 of the command is used only if the profile requires S=2 or
    /// S=8.
    ///
    /// - Returns: The power that the controller has selected.
    func setParameters(_ parameters: SetParameters, _ handle: UInt8) throws -> RadioPower {
        let command = try parameters.extendedCommand(handle)
        guard let coding = parameters.phy?.coding else { return try execute(command).selectedPower }
        return try execute(
            LESetExtendedAdvertisingParametersV2(command, primaryOptions: coding, secondaryOptions: coding)
        ).selectedPower
    }
}

extension SetParameters {
    /// The extended command with these parameters.
    fileprivate func extendedCommand(_ handle: UInt8) throws -> LESetExtendedAdvertisingParameters {
        try LESetExtendedAdvertisingParameters(
            handle: handle, properties: phy == nil ? pdu.legacyProperties : pdu.extendedProperties,
            intervalMinimum: interval, intervalMaximum: interval,
            channels: channels, ownAddressType: ownAddressType, power: radioPower ?? .noPreference,
            primaryPHY: phy?.isCoded == true ? .leCoded : .le1M,
            secondaryPHY: phy?.isCoded == true ? .leCoded : phy == .le2M ? .le2M : .le1M)
    }
}

extension ExtendedPHY {
    /// The coding (S=2 or S=8) that the profile requires; `nil` if the controller chooses.
    fileprivate var coding: AdvertisingPHYOptions? {
        switch self {
        case .codedS2: .requiresS2
        case .codedS8: .requiresS8
        case .le1M, .le2M, .coded: nil
        }
    }
}

extension AdvertisingPDU {
    /// Advertising_Event_Properties of the extended PDU.
    fileprivate var extendedProperties: AdvertisingEventProperties {
        switch self {
        case .nonconnectable: []
        case .scannable: .scannable
        case .connectable: .connectable
        }
    }

    /// Advertising_Event_Properties of the legacy PDU.
    fileprivate var legacyProperties: AdvertisingEventProperties {
        switch self {
        case .nonconnectable: .legacyNonconnectable
        case .scannable: .legacyScannable
        case .connectable: .legacyConnectable
        }
    }
}

/// A passive scan that reports every advertisement, including duplicates. It scans without pauses: its window is as
/// long as its interval.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11, 7.8.64, 7.8.65.
public struct PassiveScan: Sendable {
    private let isExtended: Bool

    /// Creates a scan. It uses the extended commands if the controller has them, because a controller refuses legacy
    /// commands after extended commands.
    public init(_ capabilities: ControllerCapabilities) {
        isExtended = capabilities.hasExtendedAdvertising
    }

    /// The scan window and the scan interval: 60 ms.
    private static let window = ScanInterval(rawValue: 96)

    /// Enables the scan. Its reports arrive as events of `host`.
    public func start(_ host: HCIHost) throws(SessionError) {
        try advertising {
            if isExtended {
                _ = try host.execute(
                    LESetExtendedScanParameters(
                        le1M: .init(type: .passive, interval: Self.window, window: Self.window)))
                _ = try host.execute(LESetExtendedScanEnable(true))
            } else {
                _ = try host.execute(
                    LESetScanParameters(type: .passive, interval: Self.window, window: Self.window))
                _ = try host.execute(LESetScanEnable(true))
            }
        }
    }
}
