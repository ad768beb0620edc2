public import BluetoothTypes

/// What a Bluetooth proxy says of itself.
public struct ProxyIdentity: Hashable, Sendable {
    /// Letters, digits and hyphens: the host's name, as Home Assistant shows and stores it.
    public let name: String
    /// By which clients tell one proxy from another.
    public let address: DeviceAddress
    /// Of pharos.
    public let version: String

    /// An identity whose name has ESPHome's characters: what others there are becomes a hyphen.
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
}

/// How the proxy's scanner is, in ESPHome's words.
public enum ProxyScannerState: UInt64, Sendable {
    case idle = 0
    case starting = 1
    case running = 2
    case failed = 3
    case stopping = 4
    case stopped = 5
}

/// One client of a Bluetooth proxy: answers its messages, and knows what it wants to be told.
public struct ProxySession: Sendable {
    /// What Home Assistant takes for the version of ESPHome: that of the API which is spoken here.
    static let apiVersion = (major: UInt64(1), minor: UInt64(10), release: "2026.1.0")
    /// It scans without asking for scan responses, forwards advertisements as they are, and tells how its scanner is.
    static let features: UInt64 = 1 | 32 | 64

    private let identity: ProxyIdentity
    private let isActive: Bool
    private var scanner: ProxyScannerState
    /// Whether it wants advertisements.
    public private(set) var wantsAdvertisements = false
    /// Whether it has said that it goes, or has been told so: what is answered is the last.
    public private(set) var isOver = false

    /// A client that has just come.
    ///
    /// - Parameters:
    ///   - identity: What it is told of this proxy.
    ///   - isActive: Whether the scan asks for scan responses.
    ///   - scanner: How the scanner is now.
    public init(_ identity: ProxyIdentity, isActive: Bool, scanner: ProxyScannerState) {
        self.identity = identity
        self.isActive = isActive
        self.scanner = scanner
    }

    /// The answers to a message. What a Bluetooth proxy does not know it passes over, as ESPHome does.
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
        // Clients of before 2026 ask whether their password is right. There is none.
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
        // No connections are forwarded: none is free of none.
        case .subscribeConnectionsFreeRequest: return [APIMessage(.connectionsFreeResponse)]
        // How it scans was said when it was started; the answer tells.
        case .scannerSetModeRequest: return [scannerState]
        default: return []
        }
    }

    /// Notes how the scanner is; the message is for a client that wants advertisements.
    public mutating func change(_ state: ProxyScannerState) -> APIMessage? {
        guard state != scanner else { return nil }
        scanner = state
        return wantsAdvertisements ? scannerState : nil
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
            $0.add(3, isActive ? 1 : 0)
        }
    }
}

/// Advertisements on their way to clients: those of one message.
public struct RawAdvertisementBatch: Sendable {
    /// More in one message would make clients wait for nothing, and a longer one is not encrypted in one piece.
    private static let most = 64
    private static let mostOctets = 32 << 10

    /// Whether the next one belongs into another message.
    public var isFull: Bool { count >= Self.most || writer.octets.count >= Self.mostOctets }

    private var writer = ProtocolBufferWriter()
    /// How many there are.
    public private(set) var count = 0

    /// An empty batch.
    public init() {}

    /// Adds an advertisement.
    ///
    /// - Parameters:
    ///   - address: The sender's.
    ///   - isRandom: Whether that is a random address.
    ///   - level: In dBm; `nil` where the receiver does not tell, which is sent as 127 like HCI has it.
    ///   - data: AD structures, as they were heard.
    public mutating func add(_ address: DeviceAddress, isRandom: Bool, level: Int8?, data: some Collection<UInt8>) {
        var advertisement = ProtocolBufferWriter()
        advertisement.add(1, address.octets.octets.reduce(0) { $0 << 8 | UInt64($1) })
        advertisement.add(2, signed: Int32(level ?? 127))
        advertisement.add(3, isRandom ? 1 : 0)
        advertisement.add(4, data)
        writer.add(1, advertisement.octets)
        count += 1
    }

    /// The message of them all.
    public var message: APIMessage {
        APIMessage(type: APIMessageType.rawAdvertisementsResponse.rawValue, payload: writer.octets)
    }
}
