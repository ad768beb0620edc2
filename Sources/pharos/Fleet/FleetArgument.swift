internal import ArgumentParser
internal import Fleet
internal import LinuxHost
internal import Profiles

/// A fleet that is named on the command line: a manifest, or the directory that `fleet generate` wrote.
struct FleetArgument: ParsableArguments {
    @Argument(help: "What `pharos fleet generate` wrote: its directory, or the manifest.json in it.")
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

    private func octets() throws -> [UInt8] { try InputFile.read(file, limit: 1 << 31) }
}
