internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import CommandSupport
internal import Configuration
internal import EddystoneSecurity
internal import LinuxHost
internal import Profiles

/// The installed profiles of this machine, and the services that send them.
struct InstalledProfiles: ParsableArguments {
    private static let defaultDirectory = "/etc/pharos"

    @Option(
        help: ArgumentHelp("Directory of the installed profiles.", valueName: "directory"), completion: .directory)
    var profileDir = InstalledProfiles.defaultDirectory

    @Option(
        help: ArgumentHelp("Directory of the status files of running instances.", valueName: "directory"),
        completion: .directory)
    var runtimeDir = StatusFile.defaultDirectory

    func path(of name: String) -> String { "\(profileDir)/\(name).json" }

    /// Returns the name of an installed beacon. `text` is the name of the beacon or of its file, such as `lobby.json`.
    func beaconName(_ text: String) -> String {
        text.hasSuffix(".json") && !Files.exists(path(of: text)) ? String(text.dropLast(5)) : text
    }

    private static func names(in directory: String) -> [String] {
        Files.names(in: directory).filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }
    }

    /// Returns the names of the installed profiles, for completion. The directory is that of --profile-dir if the
    /// command line has this option.
    @Sendable static func installed(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let pairs = zip(words, words.dropFirst())
        return names(in: pairs.first { $0.0 == "--profile-dir" }?.1 ?? defaultDirectory)
    }

    /// Returns the contents of an installed profile.
    func read(_ name: String) throws -> [UInt8] {
        do throws(FileProblem) {
            _ = try FirstProfile.name(name)
        } catch {
            throw Failure(.usage, error.message)
        }
        do throws(SystemError) {
            return try Files.read(path(of: name), limit: ProfileReport.sizeLimit)
        } catch {
            guard error.errno == SystemError.noEntry else { throw Self.failure(error, path(of: name)) }
            let names = Self.names(in: profileDir)
            let advice =
                NearestWord.find(name, among: names).map { "; did you mean \($0)?" }
                ?? (names.isEmpty ? "" : "; there are " + names.joined(separator: ", "))
            throw Failure(.noInput, "\(path(of: name)): no such profile is installed\(advice)")
        }
    }

    func write(_ octets: [UInt8], to name: String) throws {
        do throws(SystemError) {
            try Files.makeDirectory(profileDir)
            try Files.replace(path(of: name), with: octets)
        } catch {
            throw Self.failure(error, path(of: name))
        }
    }

    static func failure(_ error: SystemError, _ path: String) -> Failure {
        switch error.errno {
        case SystemError.notPermitted, SystemError.accessDenied:
            Failure(.notPermitted, "\(path): \(error.text); run the command with sudo")
        default: Failure(.osError, "\(path): \(error.text)")
        }
    }

    /// Runs systemctl.
    ///
    /// - Throws: A ``Failure`` with the message of systemctl if it does not succeed.
    static func systemctl(_ arguments: String...) throws {
        guard let message = try problem(["systemctl"] + arguments) else { return }
        throw Failure(.unavailable, "systemctl \(arguments.joined(separator: " ")): \(message)")
    }

    /// Returns true if the beacon's systemd unit is active.
    static func isActive(_ name: String) throws -> Bool {
        try problem(["systemctl", "is-active", "--quiet", "pharos@\(name)"]) == nil
    }

    /// Returns true if systemd has a unit for the beacon.
    static func hasUnit(_ name: String) throws -> Bool {
        try problem(["systemctl", "cat", "pharos@\(name)"]) == nil
    }

    /// Returns the status of the beacon if it is running, even if it was started without systemd; otherwise `nil`.
    func running(_ name: String) -> InstanceStatus? {
        (try? StatusFile.all(in: runtimeDir))?.status.instances.first { $0.name == name && $0.state != .off }
    }

    /// Runs a program. Returns `nil` if it succeeds, otherwise its error message.
    private static func problem(_ command: [String]) throws -> String? {
        switch try ProcessPool.run([command], parallel: 1, timeoutSeconds: 90, outputLimit: 1 << 16).first {
        case .ended(_, let errors, let code):
            if code == 0 { return nil }
            let text = TerminalText.line(String(decoding: errors.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
            return text.isEmpty ? "exit status \(code)" : text
        case .notStarted(let error): return error.text
        case .late, nil: return "no answer in 90 s"
        }
    }
}

/// The options of the commands that change an installed profile, and then wait until the beacon sends it.
struct InstalledOptions: ParsableArguments {
    @OptionGroup var profiles: InstalledProfiles

    @Option(
        help: ArgumentHelp(
            "Wait at most this long until the beacon is on the air (default: 10).", valueName: "seconds"),
        transform: OptionValue.duration)
    var waitS = 10_000_000

    /// Waits until the beacon sends this profile, and then shows the beacon's status.
    ///
    /// - Throws: A ``Failure`` with exit status 75 if the profile is not on the air in time.
    func showWhenOnAir(_ name: String, _ profile: [UInt8]) throws {
        let hash = Fingerprint.text(of: profile)
        let deadline = MonotonicClock.nanoseconds() + UInt64(waitS) * 1000
        var status: InstanceStatus?
        while true {
            status = (try? StatusFile.all(in: profiles.runtimeDir))?.status.instances.first { $0.name == name }
            if let status, status.state == .onAir, status.profileHash == hash { break }
            guard MonotonicClock.nanoseconds() < deadline else {
                if let status { show(status) }
                throw Failure(
                    .temporaryFailure,
                    "\(name): the new profile is installed, but not on the air yet; see `systemctl status pharos@\(name)` and "
                        + "`sudo pharos doctor`")
            }
            _ = try? Poller.wait([], milliseconds: 50)
        }
        if let status { show(status) }
    }

    private func show(_ status: InstanceStatus) {
        Terminal.show(StatusText.lines(status, now: .now, color: Terminal.wantsColor))
    }
}

/// `install FILE`: installs a profile as a beacon that starts at every boot.
struct Install: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Install a profile on this machine, and put it on the air at every boot.",
        discussion: """
            pharos profile init lobby.json
            sudo pharos install lobby.json

            Checks the profile, copies it to /etc/pharos/NAME.json, enables and starts pharos@NAME, waits until the \
            beacon is on the air, and shows the beacon's status. If a beacon of that name is already running, it \
            changes to the new profile without an interruption.
            """)

    @Argument(help: "Beacon profile, such as lobby.json.", completion: .file())
    var file: String

    @OptionGroup var options: InstalledOptions

    func run() throws {
        let octets = try ProfileReport.read(file)
        let report = ProfileReport(octets, file: file)
        guard let profile = report.profile else { throw report.refusal }
        for problem in report.problems { Terminal.writeMessage("\(problem.text(file: file))") }
        let name = profile.name
        for key in profile.advertisements.compactMap(\.content.keyFile) {
            let keyPath = key.hasPrefix("/") ? key : "\(options.profiles.profileDir)/\(key)"
            guard !Files.exists(keyPath) else { continue }
            let source = key.hasPrefix("/") ? "KEY" : Files.directory(of: file) + key
            throw Failure(
                .noInput,
                "\(keyPath): the profile's key is missing; install the key first: sudo install -D -o pharos -m 600 "
                    + "\(source) \(keyPath)")
        }
        guard try InstalledProfiles.hasUnit(name) else {
            throw Failure(
                .unavailable,
                "systemd has no unit pharos@.service, which starts the beacon; nothing was changed: install the package "
                    + "pharos, or run `sudo make install` in the source tree; without the unit, `sudo pharos run \(file)` "
                    + "keeps the beacon on the air until it is stopped")
        }
        if case .some(let adapter) = profile.adapter, ["tcp:", "unix:", "serial:"].contains(where: adapter.hasPrefix) {
            Terminal.writeMessage(
                "\(adapter) needs a drop-in for pharos@\(name): see /usr/share/pharos/systemd")
        }
        let isActive = try InstalledProfiles.isActive(name)
        let path = options.profiles.path(of: name)
        let formerProfile = Files.exists(path) ? try options.profiles.read(name) : nil
        try options.profiles.write(octets, to: name)
        do {
            try InstalledProfiles.systemctl("enable", "--now", "pharos@\(name)")
        } catch {
            // Restore the former profile, so that the command can be repeated.
            if let formerProfile {
                try? options.profiles.write(formerProfile, to: name)
            } else {
                try? Files.remove(path)
            }
            throw error
        }
        if isActive { try InstalledProfiles.systemctl("reload", "pharos@\(name)") }
        try options.showWhenOnAir(name, octets)
    }
}

/// `set NAME key=value …`: changes values of an installed profile.
struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change values of an installed profile without interrupting the beacon.",
        discussion: """
            sudo pharos set lobby url=https://example.org/menu
            sudo pharos set lobby radioPowerDbm=-4 ibeacon.intervalMs=250

            If several advertisements have the same key, write the type or the index of the advertisement in front of \
            the key: ibeacon.minor, or advertisements[0].minor for the first advertisement. The value null removes a \
            key, so that its default applies. Nothing is changed if the result would be invalid.
            """)

    @Argument(help: "Name of the beacon.", completion: .custom(InstalledProfiles.installed))
    var name: String

    @Argument(help: ArgumentHelp("New values.", valueName: "key=value"))
    var values: [String]

    @OptionGroup var options: InstalledOptions

    func run() throws {
        let name = options.profiles.beaconName(self.name)
        var octets = try options.profiles.read(name)
        for text in values {
            guard let edit = ProfileEdit(text) else {
                throw Failure(.usage, "\(text): write KEY=VALUE, such as url=https://example.org")
            }
            do throws(ProfileEditError) {
                octets = try edit.applied(to: octets)
            } catch {
                if case .file(let problems) = error { throw Failure(problems, of: options.profiles.path(of: name)) }
                let status: ExitStatus = if case .unknown = error { .usage } else { .configuration }
                throw Failure(status, error.messages.map { "\(text): \($0)" })
            }
        }
        try options.profiles.write(octets, to: name)
        guard try InstalledProfiles.isActive(name) else {
            if let status = options.profiles.running(name) {
                let reload = status.process.map { ": `kill -HUP \($0.id)`" } ?? ""
                Terminal.writeLine(
                    "\(options.profiles.path(of: name)) is changed. The beacon runs outside systemd; if it was started with this "
                        + "file, make it read the file again\(reload)")
            } else {
                Terminal.writeLine(
                    "\(options.profiles.path(of: name)) is changed; the beacon does not run: "
                        + "`sudo systemctl enable --now pharos@\(name)`")
            }
            return
        }
        try InstalledProfiles.systemctl("reload", "pharos@\(name)")
        try options.showWhenOnAir(name, octets)
    }
}

/// `remove NAME`: takes a beacon off the air, and removes its profile.
struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take a beacon off the air, and remove its profile from this machine.",
        discussion: """
            sudo pharos remove lobby

            The beacon's keys in /etc/pharos/keys and its saved state in /var/lib/pharos stay, so that the beacon can \
            come back with the same identity.
            """)

    @Argument(help: "Name of the beacon.", completion: .custom(InstalledProfiles.installed))
    var name: String

    @OptionGroup var profiles: InstalledProfiles

    func run() throws {
        let name = profiles.beaconName(self.name)
        _ = try profiles.read(name)
        if try InstalledProfiles.hasUnit(name) {
            try InstalledProfiles.systemctl("disable", "--now", "pharos@\(name)")
        }
        do throws(SystemError) {
            try Files.remove(profiles.path(of: name))
        } catch {
            throw InstalledProfiles.failure(error, profiles.path(of: name))
        }
        if let process = profiles.running(name)?.process {
            Terminal.writeLine(
                "\(profiles.path(of: name)) is removed. The beacon is still on the air, because it was not started by "
                    + "systemd. To stop it: `kill \(process.id)`")
        } else {
            Terminal.writeLine("\(name) is off the air, and \(profiles.path(of: name)) is removed.")
        }
    }
}
