public import BeaconFrames
public import BluetoothTypes
internal import HCI

/// The parameters of one advertising set on one controller. They are checked before anything is sent.
public struct SetParameters: Hashable, Sendable {
    /// The family of commands that sets these parameters.
    public enum Family: Hashable, Sendable {
        case legacy
        /// The extended commands, with the handle of the set.
        case extended(handle: UInt8)
    }

    public let family: Family
    public private(set) var interval: AdvertisingInterval
    public let pdu: AdvertisingPDU
    /// The physical layers of an extended advertisement; `nil` for legacy PDUs.
    public let phy: ExtendedPHY?
    public let channels: AdvertisingChannels
    /// The random address; `nil` for the public address.
    public private(set) var randomAddress: DeviceAddress?
    /// The address that receivers see.
    public private(set) var address: DeviceAddress
    public let radioPower: RadioPower?
    public let powerControl: PowerControl
    public let scanResponse: AdvertisingData

    /// The handle of the first set on a controller that the kernel uses too. Further sets use the handles below it. The
    /// kernel itself uses handle 0 and its instance numbers, which start at 1.
    public static let sharedHandle: UInt8 = 0xEF

    /// - Parameter isExclusive: `true` if no other program uses this controller.
    /// - Throws: `impossible` if the controller cannot send the advertisement.
    public init(
        _ advertisement: Advertisement, on capabilities: ControllerCapabilities, isExclusive: Bool
    ) throws(SessionError) {
        try self.init(advertisement, on: capabilities, handle: isExclusive ? 0 : Self.sharedHandle)
    }

    /// - Parameter handle: The set's handle; ignored if the controller has only the legacy commands.
    init(
        _ advertisement: Advertisement, on capabilities: ControllerCapabilities, handle: UInt8
    ) throws(SessionError) {
        let range = capabilities.intervalRange(for: advertisement.pdu)
        let intervals = advertisement.pattern?.parts.map(\.interval.interval) ?? [advertisement.interval]
        if let interval = intervals.first(where: { !range.contains($0) }) {
            throw .impossible(Self.refusal(interval, of: advertisement, range, capabilities))
        }
        if let phy = advertisement.phy { try Self.check(advertisement, on: phy, capabilities) }
        guard advertisement.scanResponse.octets.count <= AdvertisingData.legacyLimit else {
            throw .impossible(
                "the scan response has \(advertisement.scanResponse.octets.count) bytes; 31 is the limit")
        }
        guard advertisement.scanResponse.octets.isEmpty || advertisement.pdu != .nonconnectable else {
            throw .impossible(
                "a scan response needs --pdu scannable or connectable")
        }
        switch advertisement.address {
        case .public:
            guard capabilities.publicAddress != DeviceAddress(FixedOctets()) else {
                throw .impossible(
                    "this controller has no public address; use a static random one: --address random-static")
            }
            randomAddress = nil
            address = capabilities.publicAddress
        case .staticRandom(let chosen):
            guard chosen.isValidStaticRandom else {
                throw .impossible(
                    "\(chosen) is not a static random address: its first byte must be C0...FF")
            }
            randomAddress = chosen
            address = chosen
        case .random(let chosen):
            randomAddress = chosen
            address = chosen
        }
        family = capabilities.hasExtendedAdvertising ? .extended(handle: handle) : .legacy
        interval = intervals[0]
        pdu = advertisement.pdu
        phy = advertisement.phy
        channels = advertisement.channels
        radioPower = advertisement.radioPower
        powerControl = capabilities.powerControl
        scanResponse = advertisement.scanResponse
    }

    /// Throws the reason why the controller cannot send an extended advertisement.
    private static func check(
        _ advertisement: Advertisement, on phy: ExtendedPHY, _ capabilities: ControllerCapabilities
    ) throws(SessionError) {
        let name = "an extended advertisement (\"phy\": \"\(phy.rawValue)\")"
        guard capabilities.hasExtendedAdvertising else {
            throw .impossible(
                "this controller has no extended advertising, so it cannot send \(name): leave the PHY out to send "
                    + "legacy PDUs, or use another adapter, such as an Intel AX2xx or a Zephyr board (not the "
                    + "built-in adapter of a Raspberry Pi)")
        }
        let features = capabilities.leFeatures
        if phy == .le2M, !features.contains(.le2MPHY) {
            throw .impossible("this controller has no LE 2M, so it cannot send \(name): write 1M or coded")
        }
        if phy.isCoded, !features.contains(.leCodedPHY) {
            throw .impossible("this controller has no LE Coded, so it cannot send \(name): write 1M or 2M")
        }
        if phy == .codedS2 || phy == .codedS8, !capabilities.selectsCoding {
            throw .impossible(
                "this controller cannot select the coding (it lacks the feature Advertising Coding Selection of Bluetooth "
                    + "5.4), so it cannot send \(name): write coded, which leaves the choice to the controller")
        }
        let octets: Int
        do throws(PayloadError) { octets = try advertisement.payloadOctetCount() } catch { throw .payload("\(error)") }
        if let fault = advertisement.extendedFault(octets: octets) { throw .impossible(fault) }
        guard octets <= capabilities.maximumDataLength else {
            throw .impossible(
                "the advertisement has \(octets) bytes of data, and this controller accepts at most "
                    + "\(capabilities.maximumDataLength): shorten the data")
        }
    }

    private static func refusal(
        _ interval: AdvertisingInterval, of advertisement: Advertisement, _ range: ClosedRange<AdvertisingInterval>,
        _ capabilities: ControllerCapabilities
    ) -> String {
        let sentence =
            (advertisement.pattern == nil ? "" : "the pattern's ")
            + "interval \(interval) is out of this controller's range \(range.lowerBound)...\(range.upperBound)"
        guard interval < range.lowerBound, capabilities.version < .core50,
            advertisement.pdu != .connectable
        else { return sentence }
        return sentence + ": the controller implements \(capabilities.version), which requires at least 100 ms for "
            + advertisement.pdu.specificationName
    }
}

extension SetParameters {
    /// Returns these parameters with another random address.
    func replacingAddress(_ address: DeviceAddress) -> SetParameters {
        var copy = self
        copy.randomAddress = address
        copy.address = address
        return copy
    }

    /// Returns these parameters with another interval.
    func replacingInterval(_ interval: AdvertisingInterval) -> SetParameters {
        var copy = self
        copy.interval = interval
        return copy
    }

    /// Returns these parameters with the public address.
    func withPublicAddress() -> SetParameters {
        var copy = self
        copy.randomAddress = nil
        return copy
    }

    /// Explanations for the error codes with which the controller may refuse the parameters. They name only the
    /// interval, because all other parameters were checked before.
    var parameterHints: [HCIStatus: String] {
        let hint =
            "this controller does not support an interval of \(interval) with "
            + (phy.map { "extended advertising on \($0.name)" } ?? pdu.specificationName)
        return [.unsupportedFeatureOrParameterValue: hint, .invalidParameters: hint]
    }

    /// Own_Address_Type for the commands of both families.
    var ownAddressType: OwnAddressType { randomAddress == nil ? .publicDevice : .random }
}
