public import BluetoothTypes

/// Advertisements that are sent to clients in one message.
public struct RawAdvertisementBatch: Sendable {
    /// The number of advertisements at which a batch is full.
    private static let countLimit = 64
    /// The size at which a batch is full, in bytes. An encrypted message has at most 64 KiB.
    private static let octetLimit = 32 << 10

    /// True if the next advertisement must go into another batch.
    public var isFull: Bool { count >= Self.countLimit || writer.octets.count >= Self.octetLimit }

    private var writer = ProtocolBufferWriter()
    /// The number of advertisements.
    public private(set) var count = 0

    /// Creates an empty batch.
    public init() {}

    /// Adds an advertisement.
    ///
    /// - Parameters:
    ///   - address: The sender's address.
    ///   - isRandom: True if the address is a random address.
    ///   - level: The level in dBm; `nil` if it is not known, which is sent as 127, as in HCI.
    ///   - data: The received AD structures.
    public mutating func add(_ address: DeviceAddress, isRandom: Bool, level: Int8?, data: some Collection<UInt8>) {
        var advertisement = ProtocolBufferWriter()
        advertisement.add(1, address.octets.octets.reduce(0) { $0 << 8 | UInt64($1) })
        advertisement.add(2, signed: Int32(level ?? 127))
        advertisement.add(3, isRandom ? 1 : 0)
        advertisement.add(4, data)
        writer.add(1, advertisement.octets)
        count += 1
    }

    /// The message with all advertisements.
    public var message: APIMessage {
        APIMessage(type: APIMessageType.rawAdvertisementsResponse.rawValue, payload: writer.octets)
    }
}
