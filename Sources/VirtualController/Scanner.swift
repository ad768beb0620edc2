import BluetoothTypes
import HCI

/// What the scan parameter commands set. Before the first of them: passive, 10 ms of every 10 ms, on LE 1M.
struct ScanParameters {
    /// How one physical layer is listened on.
    struct Listening {
        let phy: AdvertisingPHY
        let isActive: Bool
        let intervalMicroseconds: Int
        let windowMicroseconds: Int
    }

    var ownAddressType = OwnAddressType.publicDevice
    var filterPolicy = ScanFilterPolicy.all
    var listening = [
        Listening(phy: .le1M, isActive: false, intervalMicroseconds: 10_000, windowMicroseconds: 10_000)
    ]
}

/// A scan that is going on.
struct Scanner {
    let run: UInt64
    let parameters: ScanParameters
    /// With which it asks for scan responses.
    let identity: DeviceIdentity
    /// Of the extended family: hears extended PDUs too, and reports in extended form.
    let isExtended: Bool
    let durationMicroseconds: Int
    let periodMicroseconds: Int
    /// Start of the first scan interval, on channel 37.
    var start: HCIInstant
    /// Between two scan periods it does not listen.
    var isListening = true
    let startsFilterAnew: Bool
    /// `nil` without filter.
    var duplicates: DuplicateMemory?

    /// Whether a packet lies wholly inside one scan window, on that interval's channel, and is of a kind that this scan
    /// knows.
    func receives(_ pdu: AirPDU) -> Bool {
        guard isListening, pdu.start >= start, isExtended || pdu.isLegacy, let way = listening(for: pdu) else {
            return false
        }
        let elapsed = Int(clamping: (pdu.start.nanoseconds - start.nanoseconds) / 1000)
        let channel = 37 + elapsed / way.intervalMicroseconds % 3
        let offset = elapsed % way.intervalMicroseconds
        return channel == pdu.channel && offset + pdu.airtimeMicroseconds <= way.windowMicroseconds
    }

    /// Whether the advertiser of such a packet is asked for its scan response.
    func asks(_ pdu: AirPDU) -> Bool {
        pdu.properties.contains(.scannable) && listening(for: pdu)?.isActive ?? false
    }

    private func listening(for pdu: AirPDU) -> ScanParameters.Listening? {
        parameters.listening.first { $0.phy == pdu.primaryPHY && $0.intervalMicroseconds > 0 }
    }
}

/// What a duplicate filter has let through: one report of each kind for each device and each extended data set.
///
/// As in real controllers the memory is finite, and the oldest is forgotten first. That the data has changed makes no
/// legacy report a new one (Core Specification 5.4, Vol 6 Part B 4.4.3.5).
struct DuplicateMemory {
    private struct Key: Hashable {
        let device: DeviceIdentity
        let isScanResponse: Bool
        let setID: UInt8?
        let dataID: UInt16
    }

    private static let capacity = 1024

    private var known: Set<Key> = []
    private var order: [Key] = []
    private var oldest = 0

    /// Whether this is the first of its kind; it won't be again.
    mutating func isFirst(_ pdu: AirPDU) -> Bool {
        let key = Key(
            device: DeviceIdentity(pdu.addressType, pdu.address), isScanResponse: pdu.isScanResponse,
            setID: pdu.setID, dataID: pdu.dataID)
        guard known.insert(key).inserted else { return false }
        if order.count < Self.capacity {
            order.append(key)
        } else {
            known.remove(order[oldest])
            order[oldest] = key
            oldest = (oldest + 1) % Self.capacity
        }
        return true
    }
}
