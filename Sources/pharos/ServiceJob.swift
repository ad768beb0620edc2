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
    let profile: LoadedProfile
    private let adapterOption: AdapterName?
    private let keys: [IdentityKey?]

    /// - Throws: ``Failure`` with everything that is wrong.
    init(path: String, adapter: AdapterName?) throws {
        self.path = path
        adapterOption = adapter
        profile = try LoadedProfile(path: path)
        name = profile.name
        self.adapter = adapter ?? profile.adapter
        let loaded = profile
        keys = try loaded.advertisements.map { try loaded.identityKey(for: $0) }
    }

    /// The same file, read anew.
    func reread() throws -> ServiceJob {
        try ServiceJob(path: path, adapter: adapterOption)
    }

    /// How the adapter is called in sentences.
    var adapterText: String { adapter?.description ?? "a Bluetooth adapter" }

    /// Rights that this adapter does not need are given up for good: a profile that names another form later has to
    /// wait for the next start.
    func dropPrivileges() throws {
        try Privileges.keepOnly(neededPrivileges)
    }

    private var neededPrivileges: Set<Privileges.Capability> {
        switch adapter {
        case nil, .raw: [.netAdmin, .netRaw]
        case .user: [.netAdmin]
        case .tcp, .unix, .serial, .virtual: []
        }
    }

    /// Whether a reload may take over from `other`: what it needs must not be given up already.
    func needsMore(than other: ServiceJob) -> Bool {
        !neededPrivileges.isSubset(of: other.neededPrivileges)
    }

    func sources() -> [PayloadSource] {
        zip(profile.advertisements, keys).map {
            PayloadSource($0, identityKey: $1, eidTimeAtStart: profile.eidTime())
        }
    }
}
