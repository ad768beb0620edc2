internal import ArgumentParser
internal import Fleet
internal import LinuxHost
internal import Profiles

/// A fleet that is named on the command line: its file, the directory that `fleet generate` wrote, or the manifest in it.
struct FleetArgument: ParsableArguments {
    @Argument(
        help: "A fleet in JSON, or what `pharos fleet generate` wrote: its directory, or the manifest.json in it.")
    var fleet: String

    /// The whole manifest.
    func manifest() throws -> FleetManifest {
        let (manifest, problems) = FleetManifest.decode(try octets())
        guard let manifest else {
            let lines = problems.filter { $0.severity == .error }.map { $0.text(file: file) }
            throw Failure(.dataFormat, lines.joined(separator: "\npharos: "))
        }
        return manifest
    }

    /// One beacon after the other, so that a million of them need no memory.
    func forEachBeacon(_ body: (FleetManifest.Beacon) -> Void) throws {
        let octets = try octets()
        do throws(ProfileProblem) {
            _ = try FleetManifest.forEachBeacon(in: octets, body)
        } catch {
            throw Failure(.dataFormat, error.text(file: file))
        }
    }

    /// The directory that the fleet lies in, with its last slash.
    var directory: String { file.lastIndex(of: "/").map { String(file[...$0]) } ?? "" }

    private var file: String {
        Files.isDirectory(fleet) ? fleet + (fleet.hasSuffix("/") ? "" : "/") + "manifest.json" : fleet
    }

    /// The manifest's text: as it lies there, or as the fleet file with its lock makes it.
    private func octets() throws -> [UInt8] {
        let octets = try InputFile.read(file, limit: 1 << 31)
        guard Files.isDirectory(fleet) || octets.starts(with: FleetManifest.firstOctets) else { return try generated() }
        return octets
    }

    private func generated() throws -> [UInt8] {
        var files = try FleetFiles(file)
        guard !files.hasErrors, let fleet = files.fleet, let allocation = files.allocate() else { throw files.refusal }
        // An identity that is in no lock yet is nobody's.
        guard allocation.changes.added == 0 else {
            throw Failure(
                .configuration,
                "\(file): \(allocation.changes.added) of its beacons have no identity yet; `pharos fleet generate` gives "
                    + "them theirs")
        }
        let generator = FleetGenerator(fleet, allocation)
        var text = generator.manifestStart
        while generator.next() { text += generator.manifestLine }
        return text + generator.manifestEnd
    }
}
