internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
public import HCI
internal import HCITransports
internal import LinuxHost

/// What a second controller on the same virtual air has heard so far.
public struct HeardOnAir: Sendable {
    /// Advertising reports.
    public internal(set) var reports = 0
    /// `nil` while there was none.
    public internal(set) var last: AdvertisingReport?

    /// In a few words.
    public var text: String {
        guard let last else { return "nothing yet" }
        let what = BeaconFrame(decoding: last.data).map(\.sentence) ?? "\(last.data.octets.count) octets"
        return "\(reports) times\(last.rssi.map { " at \($0) dBm" } ?? ""): \(what)"
    }
}

/// A second controller on the same virtual air: proof that what the first one sends can be received and decoded.
final class VirtualListener {
    private let host: HCIHost
    private(set) var heard = HeardOnAir()

    init(_ air: VirtualAirServer) throws {
        host = HCIHost(channel: H4Channel(try air.connect(), name: "listener"))
        let capabilities = try ControllerCapabilities.read(from: host, isExclusive: true)
        try PassiveScan(capabilities).start(host)
    }

    /// Takes in what has arrived, without waiting.
    func listen() throws {
        while let event = try host.nextEvent(until: host.now) {
            switch event {
            case .advertisingReports(let reports), .extendedAdvertisingReports(let reports):
                heard.reports += reports.count
                heard.last = reports.last ?? heard.last
            default: break
            }
        }
    }
}
