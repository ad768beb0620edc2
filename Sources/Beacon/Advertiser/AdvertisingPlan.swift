public import BeaconFrames
public import BluetoothTypes
internal import HCI

/// How one advertisement is to be sent on one controller: decided, and checked, before anything is sent.
public struct AdvertisingPlan: Hashable, Sendable {
    /// Which commands carry it.
    public enum Family: Hashable, Sendable {
        case legacy
        /// With the handle of the advertising set.
        case extended(handle: UInt8)
    }

    public let family: Family
    public let interval: AdvertisingInterval
    public let pdu: AdvertisingPDU
    public let channels: AdvertisingChannels
    /// `nil` sends from the public address.
    public private(set) var randomAddress: DeviceAddress?
    /// The address that listeners see.
    public private(set) var address: DeviceAddress
    public let radioPower: RadioPower?
    public let powerControl: PowerControl
    public let scanResponse: AdvertisingData

    /// The kernel takes its handles from its instance numbers, counted from 1, and 0 for itself; the last legal
    /// handle, and those below it for further sets, stay out of its way.
    public static let sharedHandle: UInt8 = 0xEF

    /// - Parameter isExclusive: nobody else uses this controller.
    /// - Throws: `impossible` when the controller cannot do it.
    public init(
        _ advertisement: Advertisement, on capabilities: ControllerCapabilities, isExclusive: Bool
    ) throws(SessionError) {
        try self.init(advertisement, on: capabilities, handle: isExclusive ? 0 : Self.sharedHandle)
    }

    /// - Parameter handle: of the set, where the controller has sets.
    init(
        _ advertisement: Advertisement, on capabilities: ControllerCapabilities, handle: UInt8
    ) throws(SessionError) {
        let range = capabilities.intervalRange(for: advertisement.pdu)
        guard range.contains(advertisement.interval) else {
            throw .impossible(Self.refusal(advertisement, range, capabilities))
        }
        guard advertisement.scanResponse.octets.count <= AdvertisingData.legacyLimit else {
            throw .impossible(
                "the scan response has \(advertisement.scanResponse.octets.count) bytes; 31 is the limit")
        }
        guard advertisement.scanResponse.octets.isEmpty || advertisement.pdu != .nonconnectable else {
            throw .impossible(
                "a scan response needs --pdu scannable or connectable: other advertisements cannot be asked for one")
        }
        switch advertisement.address {
        case .public:
            guard capabilities.publicAddress != DeviceAddress(FixedOctets()) else {
                throw .impossible("this controller has no public address; use a static random one (--address)")
            }
            randomAddress = nil
            address = capabilities.publicAddress
        case .staticRandom(let chosen):
            guard chosen.isValidStaticRandom else {
                throw .impossible(
                    "\(chosen) is no static random address: its two top bits must be 11 (first byte C0...FF)")
            }
            randomAddress = chosen
            address = chosen
        }
        family = capabilities.hasExtendedAdvertising ? .extended(handle: handle) : .legacy
        interval = advertisement.interval
        pdu = advertisement.pdu
        channels = advertisement.channels
        radioPower = advertisement.radioPower
        powerControl = capabilities.powerControl
        scanResponse = advertisement.scanResponse
    }

    private static func refusal(
        _ advertisement: Advertisement, _ range: ClosedRange<AdvertisingInterval>,
        _ capabilities: ControllerCapabilities
    ) -> String {
        let what =
            "interval \(advertisement.interval) is out of this controller's range \(range.lowerBound)...\(range.upperBound)"
        guard advertisement.interval < range.lowerBound, capabilities.version < .core50,
            advertisement.pdu != .connectable
        else { return what }
        return what + ": it follows \(capabilities.version), where 100 ms is the least for "
            + advertisement.pdu.specificationName
    }
}

extension AdvertisingPlan {
    /// The same plan from another random address.
    func replacingAddress(_ address: DeviceAddress) -> AdvertisingPlan {
        var copy = self
        copy.randomAddress = address
        copy.address = address
        return copy
    }

    /// What the controller means when it refuses the parameters: of all that they hold, only this is its own choice.
    var parameterHints: [HCIStatus: String] {
        let hint = "this controller does not take an interval of \(interval) with \(pdu.specificationName)"
        return [.unsupportedFeatureOrParameterValue: hint, .invalidParameters: hint]
    }

    /// Own_Address_Type for the commands of both families.
    var ownAddressType: OwnAddressType { randomAddress == nil ? .publicDevice : .random }
}
