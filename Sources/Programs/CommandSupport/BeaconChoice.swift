package import ArgumentParser
internal import BeaconFrames
package import BluetoothTypes
package import LinuxHost
package import Listener
package import Sightings

/// The beacon that the user has chosen for a command, with a sighting table that recognizes it.
package struct BeaconChoice {
    package let table: SightingTable
    /// The indices of the beacon's tracks in the table; `nil` for the beacon with the highest level.
    package let trackIndices: Set<Int>?

    /// - Parameter beacon: The name of a known beacon, an identity with or without its kind, or an address; `nil` for
    ///   the beacon with the highest level.
    package init(_ beacon: String?, _ known: KnownBeacons, _ clock: HearingClock) throws {
        guard let beacon else {
            table = known.table(clock)
            trackIndices = nil
            return
        }
        if known.names.contains(beacon) {
            table = known.table(clock, strangers: .counted)
            trackIndices = Set(known.beacons.indices.filter { known.beacons[$0].name == beacon })
        } else if let identity = BeaconQuery.identity(beacon) {
            // If the identity is that of a known beacon, use the known beacon, which has a calibration.
            let knownBeacon = known.beacons.first { $0.identity == identity }
            table = SightingTable(
                known: [knownBeacon ?? KnownBeacon(name: beacon, identity: identity)], strangers: .counted)
            trackIndices = [0]
        } else {
            throw Failure(
                .usage,
                "\(beacon): this is not an identity such as ibeacon:UUID-1-2 or AA:BB:CC:DD:EE:FF, and no beacon of --known "
                    + "has that name")
        }
    }
}

/// The options of a command about one beacon: the adapter or recording to receive from, and files of known beacons.
package struct BeaconSourceOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .hciAdapter, completion: .adapters, transform: OptionValue.adapter)
    package var adapter: AdapterName?

    @Option(help: .recording, completion: .file())
    package var replay: String?

    @Option(parsing: .singleValue, help: .knownBeacons, completion: .file())
    package var known: [String] = []

    package init() {}

    package func validate() throws {
        if replay != nil && adapter != nil {
            throw ValidationError("--replay reads a file: leave out --adapter.")
        }
        if case .managed(let index)? = adapter {
            throw ValidationError(
                "The kernel drops repeated reports on hci\(index):mgmt, so levels cannot be averaged: use hci\(index).")
        }
        if replay == "-" && known.contains("-") {
            throw ValidationError("Standard input cannot be both the recording and the known beacons.")
        }
    }

    /// Opens the recording, or else the adapter.
    ///
    /// - Parameters:
    ///   - duration: How long to receive from an adapter, in microseconds; `nil` for no limit.
    ///   - isActive: True to request scan responses, in which many devices send their names.
    ///   - signals: The descriptor that receives signals, if several sources share it; `nil` to create one.
    package func open(
        _ known: KnownBeacons, duration: Int?, isActive: Bool = false, signals: SignalDescriptor? = nil
    ) throws -> SightingSource {
        if let replay { return try .recording(replay) }
        var options = SightingSource.Options(adapter: adapter)
        options.signals = signals
        if isActive {
            let standard = ScanSettings.standard
            options.settings = try ScanSettings(isActive: true, interval: standard.interval, window: standard.window)
        }
        options.durationMicroseconds = duration
        options.virtualBeacons = known.virtualBeacons
        return try .live(options)
    }

    /// The name of the receiver for messages: the adapter or the recording.
    package var receiver: String { adapter?.description ?? replay ?? "the first adapter" }

    /// Asks the user to press Enter, and waits until the user does. Does nothing without a terminal.
    package static func prompt(_ text: String) {
        guard Terminal.inputIsTerminal, Terminal.errorIsTerminal else { return }
        Terminal.writeError("\(text), then press Enter ")
        _ = answer()
    }

    /// Waits for a line from the user, and returns it. While it waits, Ctrl-C ends the program.
    package static func answer() -> String? { SignalDescriptor.withDefaultActions { readLine() } }
}
