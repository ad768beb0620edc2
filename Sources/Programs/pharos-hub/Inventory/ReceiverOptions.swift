internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import HCITransports
internal import Inventory
internal import Listener
internal import Sightings

/// The options for receiving the beacons of an inventory.
struct ReceiverOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "hci0, hci0:user, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.", valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Read a btsnoop, pcap or pcapng file, or - for standard input.", valueName: "file"),
        completion: .file())
    var replay: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Profile, fleet or listener file with intervals and measured powers; a virtual adapter receives the "
                + "profiles. May be repeated.",
            valueName: "file"), completion: .file())
    var known: [String] = []

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after this time.", valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Correction of the receiver, added to each level, -40...40 (default: 0).", valueName: "dB"),
        transform: { try OptionValue.integer($0, in: ListenerFile.levelOffsets) })
    var rssiOffsetDb: Int = 0

    @Option(help: ArgumentHelp("Path loss exponent, 1...6 (default: 2, as in the open).", valueName: "n"))
    var pathLossExponent: Double = 2

    var isGiven: Bool { adapter != nil || !replay.isEmpty || !known.isEmpty || durationS != nil }

    func validate() throws {
        if !replay.isEmpty && (adapter != nil || durationS != nil) {
            throw ValidationError("--replay reads a file; --adapter and --duration-s cannot be used with it.")
        }
        guard (1...6).contains(pathLossExponent) else {
            throw ValidationError("--path-loss-exponent \(pathLossExponent) is out of range 1...6.")
        }
        if case .managed(let index)? = adapter {
            throw ValidationError(
                "The kernel drops repeated advertisements on hci\(index):mgmt: use hci\(index).")
        }
    }

    var settings: InventoryReceiver {
        var settings = InventoryReceiver()
        settings.duration = durationS
        settings.levelOffset = rssiOffsetDb
        settings.distances.exponent = pathLossExponent
        return settings
    }
}
