internal import ArgumentParser
internal import EddystoneSecurity
internal import Fleet
internal import LinuxHost

struct FleetKeysCollect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Copies the keys of a fleet into one file, in which `resolve` finds an id fast.",
        discussion: """
            The file is for its owner alone, as the keys are, and holds what they were when it was made: collect them \
            anew when keys are replaced and when beacons come or go. `pharos fleet keys resolve ID FILE` takes it in \
            place of the fleet.
            """)

    @OptionGroup var options: FleetKeyOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to write them.", valueName: "file"))
    var output: String

    func run() throws {
        var ring = KeyRing()
        var octets = Array(KeyRing.start.utf8)
        var (collected, withoutKey) = (0, 0)
        try options.forEachKey { beacon, rotation, key in
            guard let key else {
                withoutKey += 1
                return
            }
            guard let line = ring.line(rotation, group: beacon.group, key: key) else { return }
            octets += line.utf8
            collected += 1
        }
        octets += KeyRing.end.utf8
        do throws(SystemError) {
            try Files.replace(output, with: octets, mode: 0o600)
        } catch {
            throw Failure(.osError, "\(output): \(error.call): \(error.text)")
        }
        Terminal.write("\(output): \(collected) identity keys, which nobody else may read\n")
        if withoutKey > 0 {
            Terminal.writeError("pharos: \(withoutKey) beacons have no key in \(options.directory.path)\n")
        }
    }
}

/// A file that `pharos fleet keys collect` made.
enum KeyRingFile {
    private static let sizeLimit = 1 << 31

    /// Its text; `nil` where something else is at the path.
    static func octets(_ path: String) throws -> [UInt8]? {
        let start = Array(KeyRing.start.utf8)
        guard path != "-", let file = try? Descriptor.open(path, .read), let first = try? file.read(upTo: start.count),
            first == start
        else { return nil }
        return try KeyFile.secret(path, limit: sizeLimit)
    }
}
