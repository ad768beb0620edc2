internal import BeaconService
internal import BluetoothTypes
internal import Configuration
public import Fleet
internal import LinuxHost

/// The status reports of machines, from files or by ssh.
public struct StatusGathering: Sendable {
    /// The reports, in the order in which they were found.
    public private(set) var reports: [BeaconReport] = []
    /// For each host without a report, the reason why there is none.
    public private(set) var reasons: [String: String] = [:]
    /// Files and answers that could not be read, with the reason.
    public private(set) var problems: [String] = []

    /// Creates a collection without reports.
    public init() {}

    /// The maximum size of a report in bytes, far more than a machine needs.
    private static let sizeLimit = 1 << 22

    /// The endings of names of files that are not status reports of beacons: the files of listeners and collectors, and
    /// the files with the state of beacons. The latter are in the same directory if `--state-dir` and `--runtime-dir`
    /// are the same.
    private static let otherSuffixes = [".listener.json", ".collector.json", ".where.json", ".state.json"]

    private static func mayBeStatus(_ name: String) -> Bool {
        name.hasSuffix(".json") && !name.hasPrefix(".") && !otherSuffixes.contains { name.hasSuffix($0) }
    }

    /// Reads all files `*.json` of a directory and of its subdirectories, except the files of listeners and collectors,
    /// and the files with the state of beacons.
    public mutating func read(_ directory: String) throws(FleetStoreError) {
        guard Files.isDirectory(directory) else {
            throw FleetStoreError(.missing, "\(directory): there is no such directory")
        }
        for name in Files.names(in: directory) where !name.hasPrefix(".") {
            let path = "\(directory)/\(name)"
            if Files.isDirectory(path) {
                for innerName in Files.names(in: path) where Self.mayBeStatus(innerName) {
                    readFile("\(path)/\(innerName)", from: name)
                }
            } else if Self.mayBeStatus(name) {
                readFile(path, from: path)
            }
        }
    }

    private mutating func readFile(_ path: String, from source: String) {
        do throws(FleetStoreError) {
            add(try SourceFile.read(path, limit: Self.sizeLimit), from: source, called: path)
        } catch {
            problems += error.messages
        }
    }

    /// Queries every host once. The host names are checked again, because they become arguments of ssh.
    ///
    /// - Parameters:
    ///   - parallel: The number of machines that are queried at the same time.
    ///   - timeoutSeconds: The time limit for an answer, in seconds.
    public mutating func query(
        _ beacons: [FleetManifest.Beacon], parallel: Int, timeoutSeconds: Int
    ) throws(FleetStoreError) {
        var hosts: [String] = []
        var seenHosts: Set<String> = []
        for beacon in beacons {
            guard let host = beacon.host, seenHosts.insert(host).inserted else { continue }
            guard Self.isHost(host) else {
                reasons[host] = "its host is not a host name or address that ssh accepts"
                continue
            }
            hosts.append(host)
        }
        let commands = hosts.map { host in
            [
                "ssh", "-nT", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o",
                "ConnectTimeout=\(timeoutSeconds)", "--", host, "pharos", "status", "--json",
            ]
        }
        let answers: [ProcessPool.Answer]
        do throws(SystemError) {
            answers = try ProcessPool.run(
                commands, parallel: parallel, timeoutSeconds: timeoutSeconds, outputLimit: Self.sizeLimit)
        } catch {
            throw FleetStoreError(error, at: "ssh")
        }
        for (host, answer) in zip(hosts, answers) {
            switch answer {
            case .ended(let output, let errors, let code):
                let countBefore = reports.count
                if !output.isEmpty { add(output, from: host, called: host) }
                guard reports.count == countBefore else { continue }
                let reason = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).last
                reasons[host] =
                    reason.map { "ssh: \($0)" }
                    ?? (code == 255 ? "ssh could not reach this machine" : "no beacon runs on this machine")
            case .late: reasons[host] = "no answer within \(timeoutSeconds) s"
            case .notStarted(let error): throw FleetStoreError(.system, "ssh: \(error)")
            }
        }
    }

    private mutating func add(_ octets: [UInt8], from source: String, called name: String) {
        let (root, faults) = JSONDocument.parse(octets)
        guard let root, faults.isEmpty else {
            problems.append("\(name): this is not a status file: \(faults.first?.description ?? "it is empty")")
            return
        }
        var nodes = [root]
        if case .array(let instances) = root["instances"]?.value { nodes = instances }
        for node in nodes {
            do throws(StatusFileError) {
                reports.append(BeaconReport(try InstanceStatus(node), from: source))
            } catch {
                problems.append("\(name): \(error.reason)")
            }
        }
    }

    /// Returns whether the host has only letters, digits, `.`, `-`, `_`, `:` and `@`, and does not begin with a dash,
    /// which would be an option of ssh.
    private static func isHost(_ host: String) -> Bool {
        guard let first = host.utf8.first, first != UInt8(ascii: "-"), host.utf8.count <= 255 else { return false }
        return host.utf8.allSatisfy { $0.isASCIILetterOrDigit || ".-_:@".utf8.contains($0) }
    }
}
