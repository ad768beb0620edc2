internal import BluetoothTypes
internal import HCI

/// The legacy family: one advertiser, no handle. Core Specification 5.4, Vol 4 Part E 7.8.4...7.8.9.
struct LegacyAdvertising: AdvertisingCommands {
    func configure(_ plan: AdvertisingPlan, _ host: HCIHost) throws(AdvertisingError) -> RadioPowerGrant {
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

    func setData(_ data: AdvertisingData, _ host: HCIHost) throws(AdvertisingError) {
        try advertising { _ = try host.execute(LESetAdvertisingData(data.octets)) }
    }

    func setScanResponse(_ data: AdvertisingData, _ host: HCIHost) throws(AdvertisingError) {
        try advertising { _ = try host.execute(LESetScanResponseData(data.octets)) }
    }

    func enable(_ host: HCIHost) throws(AdvertisingError) {
        try advertising { _ = try host.execute(LESetAdvertisingEnable(true)) }
    }

    func disable(_ host: HCIHost) throws(AdvertisingError) {
        // The specification calls a second disable without effect; Broadcom's firmware and btvirt refuse it.
        try advertising { try host.execute(LESetAdvertisingEnable(false), tolerating: .commandDisallowed) }
    }

    func release(_ plan: AdvertisingPlan, _ host: HCIHost) throws(AdvertisingError) {
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
