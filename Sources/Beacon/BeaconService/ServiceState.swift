internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost

/// The saved state of a service: the clock of ephemeral ids, their addresses, and the numbers that an encryption must
/// not use again.
///
/// If the file is missing or unreadable, these values are lost, but the beacon starts.
struct ServiceState {
    private let path: String
    /// The path at which earlier versions saved the state. A state there is moved to ``path``.
    private let oldPath: String
    /// True if the state was read from ``oldPath``.
    private var hasOldFile = false
    /// The time of the last save, in nanoseconds of the monotonic clock; `nil` before the first.
    private var savedAt: UInt64?
    /// The values that were saved last; `nil` before the first save.
    private var lastMemory: BeaconMemory?
    /// The state of the last run; `nil` if there is no usable state.
    private(set) var memoryOfLastRun: BeaconMemory?
    /// True if a failed save was logged.
    private var isFailureLogged = false

    /// The largest size of a state file, in bytes.
    private static let sizeLimit = 1 << 20
    /// The time between two saves, in nanoseconds: ten minutes. The clock may lose this time when the power fails.
    private static let interval: UInt64 = 600_000_000_000
    /// A number that is larger than the number of packets sent until the next save. It is added to the saved number, so
    /// that no number is used twice.
    fileprivate static let packetReserve: UInt64 = 4096

    init(path: String, oldPath: String) {
        self.path = path
        self.oldPath = oldPath
    }

    /// Reads the file into ``memoryOfLastRun``.
    ///
    /// - Returns: The problem with the file; `nil` without a problem, or without a file.
    mutating func load() -> String? {
        guard Files.exists(path) else {
            loadOld()
            return nil
        }
        do throws(SystemError) {
            memoryOfLastRun = BeaconMemory(json: try Files.read(path, limit: Self.sizeLimit))
            if memoryOfLastRun != nil { return nil }
            return "\(path): this is not a state file; the clock of ephemeral ids and their addresses are lost"
        } catch {
            return "\(error); the clock of ephemeral ids and their addresses are lost"
        }
    }

    /// Reads the state of an earlier version. If the file at ``oldPath`` is not a state but, for example, the profile,
    /// it is left alone.
    private mutating func loadOld() {
        guard let octets = try? Files.read(oldPath, limit: Self.sizeLimit) else { return }
        memoryOfLastRun = BeaconMemory(json: octets)
        hasOldFile = memoryOfLastRun != nil
    }

    /// Returns true if a file that begins with this text is a state file, even a damaged one.
    private static func isState(_ start: String) -> Bool { start.contains("\"eidCounter\"") }

    /// The latest moment for the next save, in nanoseconds of the monotonic clock; `nil` for never.
    var nextSave: UInt64? { lastMemory.flatMap { _ in savedAt.map { $0 + Self.interval } } }

    /// Saves `memory` when ten minutes have passed, an id has changed, or the service ends.
    ///
    /// - Returns: A line for the log if the file cannot be written, or can be written again.
    mutating func save(_ memory: BeaconMemory, isLast: Bool) -> (Supervisor.LogPriority, String)? {
        guard !memory.ephemeralIDs.isEmpty || memory.nextPacket > 0 else { return nil }
        let now = MonotonicClock.nanoseconds()
        let isDue = savedAt.map { now >= $0 + Self.interval } ?? true
        guard isLast || isDue || memory.ephemeralIDs != lastMemory?.ephemeralIDs else { return nil }
        savedAt = now
        lastMemory = memory
        let wasLogged = isFailureLogged
        do throws(SystemError) {
            try Files.replace(
                path, with: Array((memory.json.line + "\n").utf8), mode: 0o600, ifBegins: Self.isState)
            isFailureLogged = false
            if hasOldFile {
                try? Files.remove(oldPath)
                hasOldFile = false
            }
            return wasLogged ? (.notice, "\(path) can be written again") : nil
        } catch {
            isFailureLogged = true
            guard !wasLogged else { return nil }
            return (
                .warning,
                "\(error): the clock of ephemeral ids will be lost at a restart; the beacon stays on the air"
            )
        }
    }
}

extension BeaconMemory {
    fileprivate var json: JSONValue {
        .record([
            ("version", .integer(1)),
            ("eidCounter", .integer(eidCounter)),
            ("nextPacket", .integer(UInt64(nextPacket) + (nextPacket > 0 ? ServiceState.packetReserve : 0))),
            (
                "turns",
                .array(
                    // All keys of a profile are in files. Keys without a file are left out.
                    ephemeralIDs.compactMap { id in
                        guard let file = id.key.identityKeyFile else { return nil }
                        return .record([
                            ("identityKeyFile", .string(file)),
                            ("rotationExponent", .integer(id.key.rotationExponent)),
                            ("window", .integer(id.window)), ("address", .string(id.address.description)),
                        ])
                    })
            ),
        ])
    }

    /// Reads ``json``; `nil` for anything else.
    fileprivate init?(json octets: [UInt8]) {
        let (root, problems) = JSONDocument.parse(octets)
        guard problems.isEmpty, let root, root["version"]?.integer == 1,
            let counter = root["eidCounter"]?.integer.flatMap(UInt32.init(exactly:)),
            case .array(let elements) = root["turns"]?.value
        else { return nil }
        let ephemeralIDs = elements.compactMap(EphemeralID.init(json:))
        guard ephemeralIDs.count == elements.count else { return nil }
        let nextPacket = root["nextPacket"]?.integer.map { UInt32(clamping: $0) } ?? 0
        self.init(eidCounter: counter, ephemeralIDs: ephemeralIDs, nextPacket: nextPacket)
    }
}

extension BeaconMemory.EphemeralID {
    fileprivate init?(json node: JSONNode) {
        guard let file = node["identityKeyFile"]?.string,
            let exponent = node["rotationExponent"]?.integer.flatMap(UInt8.init(exactly:)),
            let window = node["window"]?.integer.flatMap(UInt32.init(exactly:)),
            let address = node["address"]?.string.flatMap({ DeviceAddress($0) })
        else { return nil }
        self.init(
            key: Advertisement.RotatingKey(identityKeyFile: file, rotationExponent: exponent), window: window,
            address: address)
    }
}
