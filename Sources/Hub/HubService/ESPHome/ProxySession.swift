internal import BeaconService
public import BluetoothTypes
internal import LinuxHost
public import Listener

/// The identity that a Bluetooth proxy sends to clients.
public struct ProxyIdentity: Hashable, Sendable {
    /// The name in Home Assistant: letters, digits and hyphens.
    public let name: String
    /// The address by which clients distinguish proxies.
    public let address: DeviceAddress
    /// The version of Pharos.
    public let version: String

    /// Creates an identity. Characters of the name that ESPHome does not allow are replaced by hyphens.
    public init(name: String, address: DeviceAddress, version: String) {
        let characters = name.lowercased().utf8.map { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): octet
            default: UInt8(ascii: "-")
            }
        }
        let text = String(decoding: characters.prefix(31), as: UTF8.self)
        self.name = text.isEmpty ? "pharos" : text
        self.address = address
        self.version = version
    }

    /// Creates an identity. Without a name, this machine's host name is used. Without an address, the address of a
    /// network card is used.
    ///
    /// - Throws: An error if no address is given, and no network card has an address.
    public init(ofThisMachine name: String?, address: DeviceAddress?, version: String) throws(ListenerServiceError) {
        guard let address = address ?? Self.networkCardAddress else {
            throw .refused(
                .unavailable, "no network card has an address to identify the proxy: give one with --address")
        }
        let name = name ?? Files.firstLine("/proc/sys/kernel/hostname") ?? "pharos"
        self.init(name: name, address: address, version: version)
    }

    /// The first address of a network card, with the cards in the order of their names. This order makes the address
    /// the same after each start.
    private static var networkCardAddress: DeviceAddress? {
        let directory = "/sys/class/net"
        return Files.names(in: directory).lazy
            .compactMap { Files.firstLine("\(directory)/\($0)/address").flatMap { DeviceAddress($0) } }
            .first { $0.octets.octets.contains { $0 != 0 } }
    }
}

/// The state of the proxy's scanner, with the numbers of ESPHome.
public enum ProxyScannerState: UInt64, Sendable {
    case starting = 1
    case running = 2
    case failed = 3
    case stopped = 5
}

/// The session of one client: answers the client's messages, and stores whether the client wants advertisements.
public struct ProxySession: Sendable {
    /// The version of ESPHome's API, and the first release with this version. Home Assistant reads both.
    static let apiVersion = (major: UInt64(1), minor: UInt64(10), release: "2026.1.0")
    /// The flags of the proxy's features: passive scan (1), raw advertisements (32), scanner state and mode (64).
    static let features: UInt64 = 1 | 32 | 64

    private let identity: ProxyIdentity
    /// True if the configured scan requests scan responses.
    private let isConfiguredActive: Bool
    /// True if the scan requests scan responses now.
    private var isActive: Bool
    private var scanner: ProxyScannerState
    /// True if the client wants scan responses, false if it wants none; `nil` if it has not asked for a mode.
    public private(set) var wantsActive: Bool?
    /// True if the client wants advertisements.
    public private(set) var wantsAdvertisements = false
    /// True if one of the two sides has ended the session. The answer to the last message must still be sent.
    public private(set) var isOver = false

    /// Creates the session of a client that has just connected.
    ///
    /// - Parameters:
    ///   - isConfiguredActive: True if the configured scan requests scan responses.
    ///   - isActive: True if the scan requests scan responses now.
    ///   - scanner: The present state of the scanner.
    public init(_ identity: ProxyIdentity, isConfiguredActive: Bool, isActive: Bool, scanner: ProxyScannerState) {
        self.identity = identity
        self.isConfiguredActive = isConfiguredActive
        self.isActive = isActive
        self.scanner = scanner
    }

    /// Returns the answers to a message. Unknown messages are ignored, as in ESPHome.
    public mutating func answer(_ message: APIMessage) -> [APIMessage] {
        switch APIMessageType(rawValue: message.type) {
        case .helloRequest:
            return [
                APIMessage(.helloResponse) {
                    $0.add(1, Self.apiVersion.major)
                    $0.add(2, Self.apiVersion.minor)
                    $0.add(3, "pharos \(identity.version)")
                    $0.add(4, identity.name)
                }
            ]
        // Clients before 2026 send a password. The proxy has no password, so it accepts every password.
        case .authenticationRequest: return [APIMessage(.authenticationResponse)]
        case .disconnectRequest:
            isOver = true
            return [APIMessage(.disconnectResponse)]
        case .disconnectResponse:
            isOver = true
            return []
        case .pingRequest: return [APIMessage(.pingResponse)]
        case .deviceInfoRequest: return [deviceInfo]
        case .deviceCapabilitiesRequest: return [capabilities]
        case .listEntitiesRequest: return [APIMessage(.listEntitiesDoneResponse)]
        case .subscribeAdvertisementsRequest:
            wantsAdvertisements = true
            return [scannerState]
        case .unsubscribeAdvertisementsRequest:
            wantsAdvertisements = false
            return []
        // The proxy forwards no connections, so it reports 0 free connections of 0.
        case .subscribeConnectionsFreeRequest: return [APIMessage(.connectionsFreeResponse)]
        // The scanner changes its mode a little later. ``change(_:isActive:)`` then reports the new mode.
        case .scannerSetModeRequest:
            if let mode = Self.mode(message.payload) { wantsActive = mode }
            return [scannerState]
        default: return []
        }
    }

    /// Updates the state and the mode of the scanner. If one of them has changed and the client wants advertisements,
    /// returns a message for the client.
    public mutating func change(_ state: ProxyScannerState, isActive: Bool) -> APIMessage? {
        guard state != scanner || isActive != self.isActive else { return nil }
        (scanner, self.isActive) = (state, isActive)
        return wantsAdvertisements ? scannerState : nil
    }

    /// Returns the mode in a request: true for active, false for passive; `nil` for unknown modes. A payload without a
    /// field means passive, because that is the default value.
    private static func mode(_ payload: [UInt8]) -> Bool? {
        guard !payload.isEmpty else { return false }
        var remainder = payload[...]
        guard remainder.takeVarint() == 1 << 3, let mode = remainder.takeVarint(), mode <= 1 else { return nil }
        return mode == 1
    }

    private var deviceInfo: APIMessage {
        APIMessage(.deviceInfoResponse) {
            $0.add(2, identity.name)
            $0.add(3, identity.address.description)
            $0.add(4, Self.apiVersion.release)
            $0.add(6, "Linux with BlueZ")
            $0.add(8, "pharos.proxy")
            $0.add(9, identity.version)
            $0.add(12, "Pharos")
            $0.add(13, identity.name)
            $0.add(15, Self.features)
            $0.add(18, identity.address.description)
        }
    }

    private var capabilities: APIMessage {
        var proxy = ProtocolBufferWriter()
        proxy.add(1, Self.features)
        proxy.add(2, identity.address.description)
        return APIMessage(.deviceCapabilitiesResponse) { $0.add(1, proxy.octets) }
    }

    private var scannerState: APIMessage {
        APIMessage(.scannerStateResponse) {
            $0.add(1, scanner.rawValue)
            $0.add(2, isActive ? 1 : 0)
            $0.add(3, isConfiguredActive ? 1 : 0)
        }
    }
}
