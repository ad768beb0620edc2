public import Advertiser
public import BluetoothTypes
package import LinuxHost

/// An advertisement to send, and its requested interval.
public struct WantedFrame {
    public let source: PayloadSource
    public let interval: RequestedInterval

    public init(source: PayloadSource, interval: RequestedInterval) {
        self.source = source
        self.interval = interval
    }
}

/// The work of a service: advertisements with their keys, and the adapter that sends them.
public struct ServiceJob {
    let name: String
    /// The adapter from the command line or the profile; `nil` for the first hciN with LE.
    let adapter: AdapterName?
    let frames: [WantedFrame]
    /// The time at which the clock of ephemeral ids was 65280, in seconds since 1970; `nil` if unknown.
    let eidEpoch: Int?
    /// A fingerprint of the profile's file; empty without a file.
    let hash: String
    /// One sentence for each warning about the profile.
    let warnings: [String]
    /// The first values of the telemetry counters.
    let counters: TelemetryCounters
    /// The clock of ephemeral ids at the start, for jobs without a state file.
    let memory: BeaconMemory?
    private let path: String
    private let adapterOption: AdapterName?

    /// Creates a job without a file, for a service in the foreground.
    ///
    /// - Parameters:
    ///   - frames: At least one.
    ///   - adapter: `nil` for the first hciN with LE.
    ///   - eidTime: The beacon's own clock at the start, in seconds.
    ///   - counters: The first values of the telemetry counters.
    public init(
        name: String, frames: [WantedFrame], adapter: AdapterName?, eidTime: UInt32,
        counters: TelemetryCounters = TelemetryCounters()
    ) {
        self.name = name
        self.adapter = adapter
        self.frames = frames
        self.counters = counters
        memory = BeaconMemory(eidCounter: eidTime)
        eidEpoch = nil
        hash = ""
        warnings = []
        path = ""
        adapterOption = adapter
    }

    /// Reads a profile with its keys.
    ///
    /// - Throws: `refused` with all problems of the file.
    init(path: String, adapter: AdapterName?) throws(BeaconServiceError) {
        self.path = path
        adapterOption = adapter
        let profile = try LoadedProfile(path: path, isReadAgain: true)
        name = profile.name
        hash = profile.hash
        warnings = profile.warnings
        eidEpoch = profile.eidEpochUnixSeconds
        counters = TelemetryCounters()
        memory = nil
        self.adapter = adapter ?? profile.adapter
        let problems = profile.advertisements.compactMap(ServiceSensors.problem)
        guard problems.isEmpty else { throw .refused(.invalid, "\(path): " + problems.joined(separator: "; ")) }
        var frames: [WantedFrame] = []
        for (index, advertisement) in profile.advertisements.enumerated() {
            frames.append(
                WantedFrame(source: try profile.source(advertisement), interval: profile.interval(of: index)))
        }
        self.frames = frames
    }

    /// Reads the same file again.
    func reread() throws(BeaconServiceError) -> ServiceJob {
        try ServiceJob(path: path, adapter: adapterOption)
    }

    var sources: [PayloadSource] { frames.map(\.source) }

    /// The adapter's name in messages.
    var adapterText: String { adapter?.description ?? "a Bluetooth adapter" }

    /// `true` if the adapter belongs to the kernel's Bluetooth.
    var isOnKernelAdapter: Bool { adapter.map { $0.kernelIndex != nil } ?? true }

    /// The capabilities that this adapter needs. The service gives up all others for good.
    var neededPrivileges: Set<Privileges.Capability> { adapter.neededPrivileges }

    /// Returns true if this job needs a capability that `other` does not need. The service has then already given it
    /// up.
    func needsMore(than other: ServiceJob) -> Bool {
        !neededPrivileges.isSubset(of: other.neededPrivileges)
    }
}

extension AdapterName? {
    /// The capabilities that the adapter needs; for `nil`, those of any adapter of the kernel.
    package var neededPrivileges: Set<Privileges.Capability> {
        switch self {
        // CAP_NET_ADMIN for the kernel's advertising manager, CAP_NET_RAW for the monitor channel.
        case nil, .raw, .managed: [.netAdmin, .netRaw]
        case .user: [.netAdmin]
        case .tcp, .unix, .serial, .virtual, .virtualTour: []
        }
    }
}
