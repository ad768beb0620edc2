internal import BluetoothTypes

/// The kind of packet that holds advertising data. It decides how many bytes the data may have.
public enum AdvertisingContainer: Hashable, Sendable {
    /// A legacy advertising PDU (Core Specification 5.4, Vol 6 Part B 2.3.1): at most 31 bytes.
    case legacyPDU
    /// Android's `ScanRecord.getBytes()`: the data of a legacy advertisement, the data of its scan response, and zeros
    /// up to a length of 62 bytes.
    case androidScanRecord
    /// One extended advertising PDU (Vol 6 Part B 2.3.4): at most 254 bytes.
    case extendedPDU
    /// A chain of extended advertising PDUs, whose data was joined: at most 1650 bytes.
    case extendedChain

    /// The probable container of `count` bytes whose packet is unknown: 62 bytes are an Android scan record, which
    /// always has this length, and more bytes only fit into an extended advertisement.
    public init(count: Int) {
        self =
            switch count {
            case 62: .androidScanRecord
            case 63...254: .extendedPDU
            case 255...: .extendedChain
            default: .legacyPDU
            }
    }

    /// The largest number of bytes of advertising data in the container.
    public var limit: Int {
        switch self {
        case .legacyPDU: AdvertisingData.legacyLimit
        case .androidScanRecord: 2 * AdvertisingData.legacyLimit
        case .extendedPDU: AdvertisingData.extendedPDULimit
        case .extendedChain: AdvertisingData.extendedLimit
        }
    }

    /// The name with its article, such as `a legacy advertisement`.
    public var name: String {
        switch self {
        case .legacyPDU: "a legacy advertisement"
        case .androidScanRecord: "an Android scan record"
        case .extendedPDU: "an extended advertisement in one packet"
        case .extendedChain: "an extended advertisement"
        }
    }
}
