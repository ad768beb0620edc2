import BluetoothTypes
import HCI

/// Which advertising set of a controller: a host's handle, or the one advertiser of the legacy commands.
struct AdvertisingSetID: Hashable {
    /// `nil` for the legacy advertiser.
    let handle: UInt8?

    static let legacy = Self(handle: nil)
}

/// An advertising set: what the host made of it, and how far it has come.
struct AdvertisingSet {
    let id: AdvertisingSetID
    var properties: AdvertisingEventProperties = .legacyConnectable
    /// 1.28 s is the default of the legacy commands (Core Specification 5.4, Vol 4 Part E 7.8.5).
    var interval = AdvertisingInterval(rawValue: 0x0800)
    var channels = AdvertisingChannels.all
    var ownAddressType = OwnAddressType.publicDevice
    var peer = DeviceIdentity(.publicDevice, DeviceAddress(FixedOctets()))
    var filterPolicy = AdvertisingFilterPolicy.all
    var power: RadioPower
    var primaryPHY = AdvertisingPHY.le1M
    var secondaryPHY = AdvertisingPHY.le1M
    var setIdentifier: UInt8 = 0
    var notifiesScanRequests = false
    /// Of an extended set; the legacy advertiser uses the device's.
    var randomAddress: DeviceAddress?
    var data = AdvertisingContent()
    var scanResponse = AdvertisingContent()
    /// Advertising DID.
    var dataID: UInt16 = 0

    /// What is planned belongs to this run; `nil` while disabled.
    var run: AdvertisingRun?
    /// With which it advertises since it was last enabled.
    var identity: DeviceIdentity?
    /// When its next event is due.
    var nextEvent: HCIInstant?
    var eventsSent = 0
    /// 0 has no maximum.
    var maximumEvents = 0

    init(_ id: AdvertisingSetID, power: RadioPower) {
        self.id = id
        self.power = power
    }

    var isEnabled: Bool { run != nil }
    var isLegacyPDU: Bool { properties.contains(.legacyPDU) }
    var isHighDuty: Bool { properties.contains(.highDutyDirected) }

    /// Whether PDUs of these properties carry AdvData: neither directed legacy ones nor scannable extended ones do.
    static func takesData(_ properties: AdvertisingEventProperties) -> Bool {
        properties.contains(.legacyPDU) ? !properties.contains(.directed) : !properties.contains(.scannable)
    }

    /// Microseconds from one event to the next, without advDelay: an event of high duty cycle takes 3.75 ms at most
    /// (Core Specification 5.4, Vol 6 Part B 4.4.2.4.3).
    var periodMicroseconds: Int { isHighDuty ? 3750 : interval.microseconds }
}

/// Advertising or scan response data, perhaps still without its last fragments.
struct AdvertisingContent {
    var octets: [UInt8] = []
    /// The last fragment is still to come.
    var isPartial = false
}
