internal import Advertiser
internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import EddystoneSecurity
internal import LinuxHost
internal import VirtualController

struct Advertise: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise", abstract: "Advertise a profile or a frame until you stop it.",
        discussion: """
            pharos sample lobby-ibeacon --output lobby.json
            pharos advertise lobby.json --adapter virtual
            pharos advertise url --url https://example.org --interval-ms 500 --adapter virtual

            `pharos advertise profile --help` shows the options for a profile, `pharos advertise url --help` those for \
            an Eddystone-URL.
            """,
        subcommands: [
            AdvertiseProfile.self, AdvertiseFrame<IBeaconOptions>.self, AdvertiseFrame<AltBeaconOptions>.self,
            AdvertiseFrame<UIDOptions>.self, AdvertiseFrame<URLOptions>.self, AdvertiseFrame<TLMOptions>.self,
            AdvertiseFrame<EIDOptions>.self, AdvertiseFrame<BTHomeOptions>.self, AdvertiseFrame<RawOptions>.self,
        ], defaultSubcommand: AdvertiseProfile.self)
}

/// The options that `advertise` has for both profiles and frames.
struct OnAirOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .sendingAdapter, completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(parsing: .unconditional, help: .timeLimitInSeconds, transform: OptionValue.duration)
    var durationS: Int?

    @Flag(help: "Print each HCI command in hex with its fields, and send nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Controller that a dry run or the virtual adapter imitates: \(OptionValue.modelNames) (default: "
                + "raspberry-pi).",
            valueName: "model"),
        completion: .models, transform: OptionValue.model)
    var like: VirtualControllerModel = .raspberryPi

    @Option(help: ArgumentHelp("Write all HCI packets to a new btsnoop file.", valueName: "file"), completion: .file())
    var capture: String?

    @Flag(help: "Replace the file of --capture if it exists.")
    var force = false

    @Flag(help: "Print a line of JSON when the beacon is on the air, and another at the end.")
    var json = false

    @Flag(name: .shortAndLong, help: "Do not show the live view.")
    var quiet = false

    /// Advertises until a signal arrives or the duration is over.
    func advertise(_ job: ServiceJob) throws(BeaconServiceError) {
        // Like --record of `scan`, this option may name an empty file, a pipe or a device that exists.
        if let capture, !force, let size = Files.size(capture), size > 0 {
            throw .refused(.request, "\(capture): this file exists; choose another name, or use --force")
        }
        var foreground = ForegroundOptions()
        foreground.duration = durationS
        foreground.dryRun = dryRun
        foreground.like = like
        foreground.capture = capture
        foreground.json = json
        try Service.advertise(job, options: foreground, output: TerminalOutput(options: self))
    }

    func validate() throws {
        if dryRun && capture != nil {
            throw ValidationError("--capture cannot be combined with --dry-run, which sends nothing.")
        }
        if capture == "-" {
            throw ValidationError("--capture needs the name of a file: standard output shows the state of the beacon.")
        }
        if force, capture == nil { throw ValidationError("--force needs --capture.") }
    }
}

/// `advertise PROFILE`: advertises a beacon profile.
struct AdvertiseProfile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Advertise a beacon profile from a JSON file (the word profile may be left out).")

    @Argument(help: "Beacon profile, such as lobby.json.", completion: .file())
    var profile: String

    @Option(
        help: ArgumentHelp(
            "Send only this advertisement of the profile, counted from 1.", valueName: "number"))
    var advertisement: Int?

    @OptionGroup var options: OnAirOptions

    func run() throws {
        if ["http://", "https://"].contains(where: profile.lowercased().hasPrefix), !Files.exists(profile) {
            throw Failure(
                .usage,
                "\(profile): this is a web address, not a profile; to send it, use `pharos advertise url --url \(profile)`"
            )
        }
        let loaded = try LoadedProfile(path: profile)
        for warning in loaded.warnings { Terminal.writeMessage(warning) }
        let frames = try chosenIndices(in: loaded.advertisements.indices).map { index in
            let chosen = loaded.advertisements[index]
            if let problem = ServiceSensors.problem(chosen) { throw Failure(.configuration, "\(profile): \(problem)") }
            return WantedFrame(source: try loaded.source(chosen), interval: loaded.interval(of: index))
        }
        try options.advertise(
            ServiceJob(
                name: loaded.name, frames: frames, adapter: options.adapter ?? loaded.adapter,
                eidTime: loaded.eidTime()))
    }

    /// Returns the index of the chosen advertisement, or all indices if none is chosen.
    private func chosenIndices(in indices: Range<Int>) throws -> [Int] {
        guard let advertisement else { return Array(indices) }
        guard advertisement >= 1, advertisement <= indices.count else {
            throw Failure(
                .usage, "--advertisement \(advertisement): the profile has advertisements 1...\(indices.count)")
        }
        return [advertisement - 1]
    }
}

/// `advertise FRAME …`: advertises one frame, with the same frame options as `encode`.
struct AdvertiseFrame<Frame: FrameOptions>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Frame.frameName, abstract: "Advertise \(Frame.title).", aliases: Frame.otherNames)
    }

    @OptionGroup var frame: Frame
    @OptionGroup var radio: RadioOptions
    @OptionGroup var options: OnAirOptions

    func validate() throws {
        _ = try radio.advertisement(frame, name: Frame.frameName)
    }

    func run() throws {
        let advertisement = try radio.advertisement(frame, name: Frame.frameName)
        let live = try frame.liveOptions()
        if live.deviceAddress != nil {
            throw Failure(.usage, "use --address for the address of the beacon, not --device-address")
        }
        frame.reportTypicalPower()
        let wanted = WantedFrame(source: PayloadSource(advertisement, live: live), interval: radio.intervalMs)
        let job = ServiceJob(
            name: Frame.frameName, frames: [wanted], adapter: options.adapter,
            eidTime: live.eidTime ?? IdentityKey.firstCounter, counters: live.counters)
        do {
            try options.advertise(job)
        } catch {
            guard case .advertising(let cause) = error else { throw error }
            switch cause {
            // Without a profile, the options are the cause: they request something that this controller cannot do.
            case .impossible(let reason), .payload(let reason): throw Failure(.usage, reason)
            case .command, .management, .ended, .hardwareError: throw error
            }
        }
    }
}

/// `pharos ibeacon …`, short for `pharos advertise ibeacon …`.
struct AdvertiseIBeacon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ibeacon", abstract: "Advertise an iBeacon (short for `advertise ibeacon`).")

    @OptionGroup var command: AdvertiseFrame<IBeaconOptions>

    func run() throws { try command.run() }
}
