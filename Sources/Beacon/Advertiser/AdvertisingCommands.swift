internal import BluetoothTypes
public import HCI

/// The steps that both command families know, in the order in which a beacon takes them: configure, data, enable.
///
/// Data stands before enabling, so that no stale payload is ever on the air.
protocol AdvertisingCommands {
    /// Sets address, parameters and radio power. Advertising is off afterwards, whatever it was before.
    func configure(_ plan: AdvertisingPlan, _ host: HCIHost) throws(SessionError) -> RadioPowerGrant
    /// Replaces the data in place; used from the next advertising event on.
    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError)
    func setScanResponse(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError)
    func enable(_ host: HCIHost) throws(SessionError)
    /// No error when it was off already: controllers disagree on what to answer then.
    func disable(_ host: HCIHost) throws(SessionError)
    /// After ``disable(_:)``: gives back what the controller kept for us.
    func release(_ plan: AdvertisingPlan, _ host: HCIHost) throws(SessionError)
}

extension HCICommandError {
    /// The controller lives, and does not do what was asked: a beacon can go on without.
    var isRefusal: Bool {
        switch self {
        case .refused, .malformedReturn: true
        case .noAnswer, .notAccepted, .channel: false
        }
    }

    /// The same for vendors' commands, to which some controllers do not answer at all.
    var isVendorsRefusal: Bool {
        if case .noAnswer = self { return true }
        return isRefusal
    }
}

extension HCIHost {
    /// Executes a command that a beacon can do without: `nil` where the controller does not do it.
    func executeOptional<C: HCICommand>(_ command: C) throws(HCICommandError) -> C.ReturnParameters? {
        do throws(HCICommandError) {
            return try execute(command)
        } catch {
            guard C.opcode.isVendorSpecific ? error.isVendorsRefusal : error.isRefusal else { throw error }
            return nil
        }
    }

    /// Executes `command`, taking a refusal with one of `statuses` for success.
    func execute(_ command: some HCICommand, tolerating statuses: HCIStatus...) throws(HCICommandError) {
        do throws(HCICommandError) {
            _ = try execute(command)
        } catch {
            guard let status = error.status, statuses.contains(status) else { throw error }
        }
    }
}

/// The legacy family: one advertiser, no handle. Core Specification 5.4, Vol 4 Part E 7.8.4...7.8.9.
struct LegacyAdvertising: AdvertisingCommands {
    func configure(_ plan: AdvertisingPlan, _ host: HCIHost) throws(SessionError) -> RadioPowerGrant {
        // Neither the address nor the parameters can be changed while advertising is on.
        try disable(host)
        if let address = plan.randomAddress {
            let hint = "the adapter is scanning or connecting; end that first (bluetoothctl scan off)"
            try advertising(hints: [.commandDisallowed: hint]) { try Self.setAddress(address, host) }
        }
        let busy = "another program advertises on this adapter, or its controller wants another family"
        try advertising(hints: plan.parameterHints.merging([.commandDisallowed: busy]) { $1 }) {
            _ = try host.execute(plan.legacyParameters)
        }
        return try advertising { try setPower(plan, host) }
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
        // The specification calls a second disable without effect; Broadcom's firmware and btvirt refuse it.
        try advertising { try host.execute(LESetAdvertisingEnable(false), tolerating: .commandDisallowed) }
    }

    func release(_ plan: AdvertisingPlan, _ host: HCIHost) throws(SessionError) {
        try setData(AdvertisingData(octets: []), host)
        try setScanResponse(AdvertisingData(octets: []), host)
        if plan.radioPower != nil { try advertising { try VendorPower(plan.powerControl).giveBack(host) } }
    }

    /// A controller that scans takes no address. A listener of ours sees the refusal, and stops for a moment.
    private static func setAddress(_ address: DeviceAddress, _ host: HCIHost) throws(HCICommandError) {
        for _ in 0..<4 {
            do throws(HCICommandError) {
                try host.execute(LESetRandomAddress(address))
                return
            } catch {
                guard error.status == .commandDisallowed else { throw error }
            }
            try host.wait(until: host.now.advanced(byMicroseconds: 50_000))
        }
        try host.execute(LESetRandomAddress(address))
    }

    private func setPower(_ plan: AdvertisingPlan, _ host: HCIHost) throws -> RadioPowerGrant {
        guard let asked = plan.radioPower else {
            return try Self.readPower(host).map { .reported($0) } ?? .unknown
        }
        let answer = try VendorPower(plan.powerControl).set(asked, host)
        if case .granted = answer { return answer }
        let reported = try Self.readPower(host)
        switch answer {
        case .unverified: return reported == asked ? .granted(asked) : .unverified(asked: asked, reported: reported)
        case .notSettable(let reason, _): return .notSettable(reason: reason, reported: reported)
        default: return answer
        }
    }

    /// LE Read Advertising Physical Channel TX Power; `nil` where the controller does not know.
    private static func readPower(_ host: HCIHost) throws(HCICommandError) -> RadioPower? {
        try host.executeOptional(LEReadAdvertisingPhysicalChannelTxPower())?.power
    }
}

extension AdvertisingPlan {
    /// What is asked for with the legacy commands.
    var legacyParameters: LESetAdvertisingParameters {
        get throws {
            try LESetAdvertisingParameters(
                intervalMinimum: interval, intervalMaximum: interval, type: pdu.legacyType,
                ownAddressType: ownAddressType, channels: channels)
        }
    }
}

extension AdvertisingPDU {
    /// Advertising_Type.
    fileprivate var legacyType: LegacyAdvertisingType {
        switch self {
        case .nonconnectable: .nonconnectable
        case .scannable: .scannable
        case .connectable: .connectable
        }
    }
}

/// The extended family, sending legacy PDUs from one set, so that every phone hears them.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.52...7.8.59.
struct ExtendedAdvertising: AdvertisingCommands {
    let handle: UInt8

    func configure(_ plan: AdvertisingPlan, _ host: HCIHost) throws(SessionError) -> RadioPowerGrant {
        // A set that an earlier run left behind would refuse new parameters while it is enabled.
        try disable(host)
        let stuck =
            "the controller still follows the legacy commands of an older kernel; use hciN:user, which resets it"
        let selected = try advertising(hints: plan.parameterHints.merging([.commandDisallowed: stuck]) { $1 }) {
            try host.execute(plan.extendedParameters(handle)).selectedPower
        }
        if let address = plan.randomAddress {
            try advertising {
                _ = try host.execute(LESetAdvertisingSetRandomAddress(handle: handle, address: address))
            }
        }
        // 0x7F is no level: some controllers echo the question.
        guard selected != .noPreference else { return .unknown }
        return plan.radioPower == nil ? .reported(selected) : .granted(selected)
    }

    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(SessionError) {
        try advertising { _ = try host.execute(LESetExtendedAdvertisingData(handle: handle, data: data.octets)) }
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

    func release(_ plan: AdvertisingPlan, _ host: HCIHost) throws(SessionError) {
        try advertising {
            try host.execute(LERemoveAdvertisingSet(handle: handle), tolerating: .unknownAdvertisingIdentifier)
        }
    }
}

extension AdvertisingPlan {
    /// What is asked for with the extended commands.
    func extendedParameters(_ handle: UInt8) throws -> LESetExtendedAdvertisingParameters {
        try LESetExtendedAdvertisingParameters(
            handle: handle, properties: pdu.legacyProperties, intervalMinimum: interval, intervalMaximum: interval,
            channels: channels, ownAddressType: ownAddressType, power: radioPower ?? .noPreference)
    }
}

extension AdvertisingPDU {
    /// Advertising_Event_Properties of the legacy PDU.
    fileprivate var legacyProperties: AdvertisingEventProperties {
        switch self {
        case .nonconnectable: .legacyNonconnectable
        case .scannable: .legacyScannable
        case .connectable: .legacyConnectable
        }
    }
}

/// Listening without asking: every advertisement is reported, duplicates too, on a window as long as its interval.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11, 7.8.64, 7.8.65.
public struct PassiveScan: Sendable {
    private let isExtended: Bool

    /// The family that goes with the controller: the legacy commands are banned where the extended ones are in use.
    public init(_ capabilities: ControllerCapabilities) {
        isExtended = capabilities.hasExtendedAdvertising
    }

    /// 60 ms.
    private static let window = ScanInterval(rawValue: 96)

    /// Sets the scan up and enables it; reports come as events of `host`.
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
