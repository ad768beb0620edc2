internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import HCI
internal import HCITransports
internal import LinuxHost

/// What a listener has heard so far.
struct HeardOnAir {
    var reports = 0
    var last: AdvertisingReport?

    var text: String {
        guard let last else { return "nothing yet" }
        let what = BeaconFrame(decoding: last.data).map(FrameText.sentence) ?? "\(last.data.octets.count) octets"
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
