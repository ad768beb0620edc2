internal import Advertiser
internal import BeaconFrames
internal import EddystoneSecurity
internal import HCITransports
internal import LinuxHost

/// What a service has to do: a profile that was read and found good, with its keys, and the adapter that it is for.
struct ServiceJob {
    let name: String
    let path: String
    /// As on the command line or in the profile; `nil` takes the first hciN with LE.
    let adapter: AdapterName?
    let sources: [PayloadSource]
    /// When the clock of ephemeral ids was 65280, in seconds since 1970.
    let eidEpoch: Int?
    /// Tells one version of the profile from another.
    let hash: String
    /// What its author should know of the profile, one sentence each.
    let warnings: [String]
    private let adapterOption: AdapterName?

    /// - Throws: `refused` with everything that is wrong.
    init(path: String, adapter: AdapterName?) throws(BeaconServiceError) {
        self.path = path
        adapterOption = adapter
        let profile = try LoadedProfile(path: path, isReadAgain: true)
        name = profile.name
        hash = profile.hash
        warnings = profile.warnings
        eidEpoch = profile.eidEpochUnixSeconds
        self.adapter = adapter ?? profile.adapter
        let problems = profile.advertisements.compactMap(ServiceSensors.problem)
        guard problems.isEmpty else { throw .refused(.invalid, "\(path): " + problems.joined(separator: "; ")) }
        sources = try profile.advertisements.map { advertisement throws(BeaconServiceError) in
            PayloadSource(advertisement, identityKey: try profile.identityKey(for: advertisement))
        }
    }

    /// The same file, read anew.
    func reread() throws(BeaconServiceError) -> ServiceJob {
        try ServiceJob(path: path, adapter: adapterOption)
    }

    /// How the adapter is called in sentences.
    var adapterText: String { adapter?.description ?? "a Bluetooth adapter" }

    /// Whether the kernel's Bluetooth is used.
    var isOnKernelAdapter: Bool { adapter.map { $0.kernelIndex != nil } ?? true }

    /// What this adapter needs, and no more: the others are given up for good.
    var neededPrivileges: Set<Privileges.Capability> {
        switch adapter {
        // The manager needs the first; the monitor channel, which tells what others do, the second.
        case nil, .raw, .managed: [.netAdmin, .netRaw]
        case .user: [.netAdmin]
        case .tcp, .unix, .serial, .virtual: []
        }
    }

    /// Whether a reload may take over from `other`: what it needs has not been given up.
    func needsMore(than other: ServiceJob) -> Bool {
        !neededPrivileges.isSubset(of: other.neededPrivileges)
    }
}
