internal import BluetoothTypes

/// The kind of packet that contained the advertising data. It limits the number of bytes.
public enum AdvertisingContainer: Hashable, Sendable {
    /// A legacy advertising PDU (Core Specification 5.4, Vol 6 Part B 2.3.1): at most 31 bytes.
    case legacyPDU
    /// Android's `ScanRecord.getBytes()`: the data of a legacy advertisement, the data of its scan response, and zeros
    /// up to a length of 62 bytes.
    case androidScanRecord
    /// One extended advertising PDU (Vol 6 Part B 2.3.4): at most 254 bytes.
    case extendedPDU
    /// The joined data of a chain of extended advertising PDUs: at most 1650 bytes.
    case extendedChain

    /// The probable container of `count` bytes of unknown origin. An Android scan record always has 62 bytes. Data of
    /// more than 62 bytes fits only into an extended advertisement. All other data is taken for a legacy advertisement.
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
