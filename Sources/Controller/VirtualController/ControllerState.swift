import BluetoothTypes
import HCI

/// The family of advertising and scanning commands that a host uses. The first command of either family after a reset
/// determines it. Until the next reset, commands of the other family are refused (Core Specification 5.4, Vol 4 Part E
/// 3.1.1).
enum CommandFamily {
    case legacy
    case extended

    /// The family of a command; `nil` for commands that belong to neither family.
    init?(_ opcode: HCIOpcode) {
        switch opcode.rawValue {
        case 0x2006...0x200C: self = .legacy
        case 0x2035...0x203D, 0x2041, 0x2042, 0x207F: self = .extended
        default: return nil
        }
    }
}

/// The part of a virtual controller's state that a reset clears.
struct ControllerState {
    var family: CommandFamily?
    var eventMask = HCIEventMask.standard
    var leEventMask = LEEventMask.standard
    var randomAddress: DeviceAddress?
    var sets: [AdvertisingSetID: AdvertisingSet] = [:]
    var scanParameters = ScanParameters()
    var scanner: Scanner?
    var acceptList: Set<DeviceIdentity> = []
    /// `true` if the host can decode S=2 and S=8 in advertising reports: see `LESetHostFeature`.
    var reportsCoding = false

    init(_ model: VirtualControllerModel) {
        sets[.legacy] = AdvertisingSet(.legacy, power: model.defaultPower)
    }

    /// The number of advertising sets that the host has created, without the legacy advertiser.
    var extendedSetCount: Int { sets.count - 1 }
}

/// Identifies an advertising set of a controller, by the host's handle or as the advertiser of the legacy commands.
struct AdvertisingSetID: Hashable {
    /// The host's number of the set; `nil` for the legacy advertiser.
    let handle: UInt8?

    static let legacy = Self(handle: nil)
}

/// The state of an advertising set: the settings from the host, and the progress of its advertising.
struct AdvertisingSet {
    let id: AdvertisingSetID
    var properties: AdvertisingEventProperties = .legacyConnectable
    /// The advertising interval. 1.28 s is the default of the legacy commands (Core Specification 5.4, Vol 4 Part E
    /// 7.8.5).
    var interval = AdvertisingInterval(rawValue: 0x0800)
    var channels = AdvertisingChannels.all
    var ownAddressType = OwnAddressType.publicDevice
    var peer = DeviceIdentity(.publicDevice, DeviceAddress(FixedOctets()))
    var filterPolicy = AdvertisingFilterPolicy.all
    var power: RadioPower
    var primaryPHY = AdvertisingPHY.le1M
    /// The coding on the primary channels, if they use LE Coded.
    var primaryOptions = AdvertisingPHYOptions.noPreference
    /// The coding on the secondary channels, if they use LE Coded.
    var secondaryOptions = AdvertisingPHYOptions.noPreference
    var secondaryPHY = AdvertisingPHY.le1M
    var setIdentifier: UInt8 = 0
    var notifiesScanRequests = false
    /// The random address of an extended set. The legacy advertiser uses ``ControllerState/randomAddress``.
    var randomAddress: DeviceAddress?
    var data = AdvertisingContent()
    var scanResponse = AdvertisingContent()
    /// The Advertising DID of the data.
    var dataID: UInt16 = 0

    /// The current period of advertising; `nil` while the set is disabled. Each planned occurrence contains its period,
    /// so that it can be ignored after the end of the period.
    var run: AdvertisingRun?
    /// The address from which the set has sent since it was last enabled; `nil` before it is first enabled.
    var identity: DeviceIdentity?
    /// The time of the set's next advertising event.
    var nextEvent: HCIInstant?
    var eventsSent = 0
    /// The maximum number of advertising events; 0 means no maximum.
    var maximumEvents = 0

    init(_ id: AdvertisingSetID, power: RadioPower) {
        self.id = id
        self.power = power
    }

    var isEnabled: Bool { run != nil }
    var isLegacyPDU: Bool { properties.contains(.legacyPDU) }
    /// The rate on the primary channels. If the host does not select a coding, this controller sends LE Coded with S=8.
    var primaryRate: PacketRate {
        guard primaryPHY == .leCoded else { return .le1M }
        return primaryOptions == .prefersS2 || primaryOptions == .requiresS2 ? .codedS2 : .codedS8
    }
    var isSecondaryS2: Bool {
        secondaryPHY == .leCoded && (secondaryOptions == .prefersS2 || secondaryOptions == .requiresS2)
    }
    var isHighDuty: Bool { properties.contains(.highDutyDirected) }

    /// Returns true if PDUs with these properties contain AdvData. Directed legacy PDUs and scannable extended PDUs do
    /// not contain it.
    static func allowsData(_ properties: AdvertisingEventProperties) -> Bool {
        properties.contains(.legacyPDU) ? !properties.contains(.directed) : !properties.contains(.scannable)
    }

    /// The time from one advertising event to the next, without advDelay, in microseconds. With a high duty cycle, this
    /// time is at most 3.75 ms (Core Specification 5.4, Vol 6 Part B 4.4.2.4.3).
    var periodMicroseconds: Int { isHighDuty ? 3750 : interval.microseconds }
}

/// Advertising data or scan response data. The host may not have sent the last fragments yet.
struct AdvertisingContent {
    var octets: [UInt8] = []
    /// `true` if the last fragment has not arrived yet.
    var isPartial = false
}

/// Creates events of a virtual controller, and changes answers for a ``VirtualFault``.
enum ControllerEvents {
    /// Command Complete for opcode 0, which only reports the number of accepted commands (Core Specification 5.4,
    /// Vol 4 Part E 7.7.14).
    static let creditsReturned = HCIEvent.commandComplete(
        CommandComplete(credits: 1, opcode: .noOperation, returnOctets: []))

    /// LE Scan Timeout (7.7.65.17).
    static let scanTimeout = meta([0x11])

    /// LE Scan Request Received (7.7.65.19).
    static func scanRequestReceived(handle: UInt8, from scanner: DeviceIdentity) -> HCIEvent {
        meta([0x13, handle, scanner.type.rawValue] + scanner.address.littleEndian)
    }

    /// LE Connection Complete (7.7.65.1) that ends high duty cycle directed advertising without a connection.
    static let directedAdvertisingTimeout = meta(
        [0x01, HCIStatus.advertisingTimeout.rawValue] + [UInt8](repeating: 0, count: 17))

    private static func meta(_ parameters: [UInt8]) -> HCIEvent { .unknown(code: 0x3E, parameters: parameters) }

    /// Returns an answer with `status` instead of the answer's own status. Other packets are returned unchanged.
    static func settingStatus(_ status: HCIStatus, of packet: HCIPacket) -> HCIPacket {
        settingOctet(of: packet, complete: 5, status: 2, to: status.rawValue)
    }

    /// Returns an answer with zero credits, so that the host must not send a further command. Other packets are
    /// returned unchanged.
    static func withoutCredits(_ packet: HCIPacket) -> HCIPacket {
        settingOctet(of: packet, complete: 2, status: 3, to: 0)
    }

    /// Sets the byte at offset `complete` in a Command Complete event, or at offset `status` in a Command Status event.
    private static func settingOctet(of packet: HCIPacket, complete: Int, status: Int, to octet: UInt8) -> HCIPacket {
        guard packet.kind == .event, let code = packet.octets.first else { return packet }
        let offset = code == 0x0E ? complete : code == 0x0F ? status : packet.octets.count
        guard offset < packet.octets.count else { return packet }
        var packet = packet
        packet.octets[offset] = octet
        return packet
    }
}
