internal import BeaconFrames
public import BluetoothTypes

/// A network of tags and phones. The devices change address and data regularly, so they have no identity by which a
/// receiver outside the network could recognise them.
public enum DeviceNetwork: String, Hashable, Sendable, CaseIterable {
    /// Apple: AirTags and other accessories, and devices that are away from their owner.
    case findMy = "find-my"
    /// Google.
    case findHub = "find-hub"
    /// Samsung.
    case smartTag = "smarttag"
    case tile
    /// Google: earphones and other accessories that offer to be paired.
    case fastPair = "fast-pair"
    /// Exposure notifications, with which phones warn each other of infections.
    case exposureNotification = "exposure-notification"

    /// The network's name in texts.
    public var title: String {
        switch self {
        case .findMy: "Find My"
        case .findHub: "Find Hub"
        case .smartTag: "SmartTag"
        case .tile: "Tile"
        case .fastPair: "Fast Pair"
        case .exposureNotification: "Exposure Notification"
        }
    }

    /// Returns the network whose devices send this AD structure of `octets`; `nil` for any other structure.
    public init?(_ element: ADElement, in octets: Span<UInt8>) {
        let (start, count) = (element.data.lowerBound, element.data.count)
        guard start >= 0, element.data.upperBound <= octets.count else { return nil }
        switch element.type {
        case .manufacturerData:
            // Apple's messages have a type and a length; type 0x12 is that of Find My.
            guard count >= 4, octets.uint16LittleEndian(at: start) == CompanyName.apple, octets[start + 2] == 0x12
            else {
                return nil
            }
            self = .findMy
        case .serviceData16:
            guard count >= 2 else { return nil }
            let service = octets.uint16LittleEndian(at: start)
            if service == Eddystone.serviceUUID {
                guard count > 2, FindHub.FrameType(rawValue: octets[start + 2]) != nil else { return nil }
                self = .findHub
            } else {
                self.init(service: service)
            }
        case .complete16BitUUIDs, .incomplete16BitUUIDs:
            for offset in stride(from: start, to: start + count - 1, by: 2) {
                if let network = Self(service: octets.uint16LittleEndian(at: offset)) {
                    self = network
                    return
                }
            }
            return nil
        default: return nil
        }
    }

    /// Returns the network to which the Bluetooth SIG assigned this service UUID of 16 bits.
    private init?(service: UInt16) {
        switch service {
        case 0xFD5A: self = .smartTag
        case 0xFEED, 0xFEEC, 0xFD84: self = .tile
        case 0xFE2C: self = .fastPair
        case 0xFD6F: self = .exposureNotification
        default: return nil
        }
    }
}

/// Counts the devices of each network by their current addresses, and forgets an address after 30 s.
public struct NetworkSightings: Sendable {
    /// The devices of one network.
    public struct Summary: Hashable, Sendable {
        public let network: DeviceNetwork
        /// The number of addresses in the last 30 s, at most ``NetworkSightings/addressLimit`` for all networks.
        public let addresses: Int
        /// The number of reports in the current round.
        public let reports: Int
        /// The strongest of the addresses' last levels, in dBm; `nil` if no report had a level.
        public let strongest: Int8?
    }

    /// The largest number of addresses that are counted.
    public static let addressLimit = 1024
    /// The time after which an address is forgotten, in microseconds.
    public static let memoryMicroseconds = 30_000_000

    private struct Device {
        var network: DeviceNetwork
        var lastHeard: HeardInstant
        var level: Int8?
    }

    private var devices: [Sender: Device] = [:]
    /// The number of reports of each network in the current round.
    private var reports: [DeviceNetwork: Int] = [:]

    init() {}

    /// Returns the network of a sender that was counted; `nil` for any other sender.
    func network(of sender: Sender) -> DeviceNetwork? { devices.isEmpty ? nil : devices[sender]?.network }

    mutating func add(_ network: DeviceNetwork, _ sender: Sender, _ sighting: Sighting) {
        reports[network, default: 0] += 1
        if devices[sender] == nil, devices.count >= Self.addressLimit {
            devices = devices.filter { Self.isPresent($0.value, sighting.instant) }
            guard devices.count < Self.addressLimit else { return }
        }
        let level = sighting.rssi.flatMap { LevelTally.range.contains($0) ? $0 : nil }
        devices[sender] = Device(
            network: network, lastHeard: sighting.instant, level: level ?? devices[sender]?.level)
    }

    private static func isPresent(_ device: Device, _ now: HeardInstant) -> Bool {
        now.microseconds(since: device.lastHeard) <= memoryMicroseconds
    }

    mutating func beginRound() { reports.removeAll(keepingCapacity: true) }

    /// Returns the networks with a device in the last 30 s, in the order of ``DeviceNetwork``.
    public func summaries(until now: HeardInstant) -> [Summary] {
        DeviceNetwork.allCases.compactMap { network in
            let present = devices.values.filter { $0.network == network && Self.isPresent($0, now) }
            guard !present.isEmpty else { return nil }
            return Summary(
                network: network, addresses: present.count, reports: reports[network] ?? 0,
                strongest: present.compactMap(\.level).max())
        }
    }
}
