internal import BluetoothTypes
internal import Configuration
internal import LinuxHost

/// How one instance of `run` is: what it leaves in /run/pharos for others to read.
struct InstanceStatus: Equatable {
    enum State: String, CaseIterable {
        case onAir = "on-air"
        case starting
        case recovering
        case off
    }

    /// The instance's name, as its profile has it.
    var name: String
    /// The adapter as it was named.
    var adapter: String
    /// The controller's own address.
    var address: DeviceAddress?
    var state: State
    /// Since when it is in this state.
    var since: RFC3339Time?
    /// When the radio was last known to be advertising.
    var lastVerified: RFC3339Time?
    /// Tells one version of a profile from another.
    var profileHash: String?
    var advertisements: [AdvertisementStatus] = []
    /// How often the beacon was brought back, by what had taken it off the air.
    var rearms: [String: Int] = [:]
    var lastError: String?
    /// The controller's version and maker in words.
    var controller: String?
    /// `nil` for a profile without telemetry.
    var telemetry: TelemetryStatus?
    /// Who wrote this.
    var process: ProcessIdentity?

    /// One advertisement of a profile.
    struct AdvertisementStatus: Equatable {
        /// As profiles have it, such as `ibeacon`.
        var type: String
        /// The device address that it goes out from.
        var address: DeviceAddress?
        /// What was asked for, in microseconds.
        var interval: Int
        var grantedInterval: Int?
        /// In dBm.
        var radioPower: Int?
        var grantedRadioPower: Int?
        /// Advertising events since the start.
        var events: Int?
        /// Whether the controller counted the events; else they are computed from the time on the air.
        var eventsCounted = false
    }

    /// What telemetry says, and where it is from.
    struct TelemetryStatus: Equatable {
        /// In thousandths of a degree Celsius.
        var temperature: Int?
        var temperatureSensor: String?
        /// In millivolts.
        var battery: Int?
        var batterySensor: String?
    }
}

extension InstanceStatus {
    /// What is true now of what was written: a process that was killed has left its last words, and is off.
    ///
    /// - Parameter directory: Where the locks of this box lie.
    func verified(in directory: String) -> InstanceStatus {
        guard state != .off else { return self }
        if let process, process.isRunning { return self }
        let holders = AdapterLock.holders(in: directory).values
        if holders.contains(where: { $0.instance == name }) { return self }
        var status = self
        status.state = .off
        status.since = nil
        let who = process.map { "process \($0.id)" } ?? "the process"
        status.lastError =
            "\(who) has ended without a word; `systemctl status pharos@\(name)` and its journal say why"
        return status
    }
}

/// The files in which instances say how they are.
enum StatusFile {
    static let defaultDirectory = "/run/pharos"
    private static let suffix = ".status.json"
    /// Far more than any instance has to say.
    private static let sizeLimit = 1 << 20

    static func path(of name: String, in directory: String) -> String { "\(directory)/\(name)\(suffix)" }

    /// Puts `status` where `pharos status` finds it. Readers see the old one or the new one, nothing in between.
    static func write(_ status: InstanceStatus, in directory: String) throws(SystemError) {
        let text = status.json(withProcess: true).line + "\n"
        try Files.replace(path(of: status.name, in: directory), with: Array(text.utf8), isDurable: false)
    }

    /// All instances that have left a file in `directory`, sorted by name, and what is wrong with the other files.
    static func all(in directory: String) throws(SystemError) -> (instances: [InstanceStatus], problems: [String]) {
        // Opening it tells a directory that may not be read from one with nothing in it.
        let folder = try Descriptor.open(directory + "/.", .read)
        withExtendedLifetime(folder) {}
        var instances: [InstanceStatus] = []
        var problems: [String] = []
        for name in Files.names(in: directory) where name.hasSuffix(suffix) && !name.hasPrefix(".") {
            let path = "\(directory)/\(name)"
            do throws(StatusFileError) {
                instances.append(try read(path).verified(in: directory))
            } catch {
                problems.append("\(path): \(error.reason)")
            }
        }
        return (instances, problems)
    }

    private static func read(_ path: String) throws(StatusFileError) -> InstanceStatus {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.read(path, limit: sizeLimit)
        } catch {
            throw StatusFileError("it cannot be read: \(error.text)")
        }
        let (root, problems) = JSONDocument.parse(octets)
        guard let root, problems.isEmpty else {
            throw StatusFileError("it is no status file: \(problems.first?.description ?? "it is empty")")
        }
        return try InstanceStatus(root)
    }
}

/// Why a file says nothing about an instance.
struct StatusFileError: Error, Equatable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
