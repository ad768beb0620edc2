internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import HCITransports
internal import Inventory
internal import Listener
internal import Sightings

/// The options for receiving the beacons of an inventory.
struct ReceiverOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .hciAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(parsing: .singleValue, help: .recording, completion: .file())
    var replay: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Profile, fleet or listener file with intervals and measured powers; a virtual adapter receives these "
                + "beacons. May be repeated.",
            valueName: "file"), completion: .file())
    var known: [String] = []

    @Option(parsing: .unconditional, help: .timeLimit, transform: OptionValue.duration)
    var durationS: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Correction of the receiver, added to each level, -40...40 (default: 0).", valueName: "dB"),
        transform: { try OptionValue.integer($0, in: ListenerFile.levelOffsets) })
    var rssiOffsetDb: Int = 0

    @Option(help: ArgumentHelp("Path loss exponent, 1...6 (default: 2, as in free space).", valueName: "n"))
    var pathLossExponent: Double = 2

    var isGiven: Bool { adapter != nil || !replay.isEmpty || !known.isEmpty || durationS != nil }

    func validate() throws {
        if !replay.isEmpty && (adapter != nil || durationS != nil) {
            throw ValidationError("--replay reads a file; --adapter and --duration-s cannot be used with it.")
        }
        try OptionValue.check("--path-loss-exponent", pathLossExponent, in: 1...6)
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
