internal import EddystoneSecurity
internal import Fleet
internal import LinuxHost

extension FleetArgument {
    /// The profiles of these beacons: those that lie beside the manifest, or as the fleet file makes them.
    func profiles(
        of manifest: FleetManifest, only names: Set<String>
    ) throws -> [(name: String, text: [UInt8])] {
        guard try isManifest else { return try generatedProfiles(names) }
        return try manifest.beacons.filter { names.contains($0.name) }.map { beacon in
            let path = directory + beacon.name + ".json"
            let text = try InputFile.read(path, limit: 1 << 24)
            guard Fingerprint.text(of: text) == beacon.profileHash else {
                throw Failure(
                    .configuration,
                    "\(path): this is not the profile that the manifest beside it was made with; `pharos fleet generate` "
                        + "makes both anew")
            }
            return (beacon.name, text)
        }
    }

    private var isManifest: Bool {
        get throws {
            if Files.isDirectory(fleet) { return true }
            return try InputFile.read(fleet).starts(with: FleetManifest.firstOctets)
        }
    }

    private func generatedProfiles(_ names: Set<String>) throws -> [(name: String, text: [UInt8])] {
        var files = try FleetFiles(fleet)
        guard !files.hasErrors, let fleet = files.fleet, let allocation = files.allocate() else { throw files.refusal }
        let generator = FleetGenerator(fleet, allocation)
        var profiles: [(name: String, text: [UInt8])] = []
        while generator.next() {
            if names.contains(generator.name) { profiles.append((generator.name, generator.profile)) }
        }
        return profiles
    }
}
