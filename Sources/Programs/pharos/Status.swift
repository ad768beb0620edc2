internal import ArgumentParser
internal import BeaconService
internal import CommandSupport
internal import Configuration
internal import LinuxHost

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract:
            "Show the state of all beacons, listeners and collectors on this machine; exit with 1 if any is not working."
    )

    @Option(
        help: ArgumentHelp("Directory of the status files of running instances.", valueName: "directory"),
        completion: .directory)
    var runtimeDir = StatusFile.defaultDirectory

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Print the metrics in the Prometheus text format, as `run` writes them.")
    var metrics = false

    func validate() throws {
        if json && metrics { throw ValidationError("--json and --metrics cannot be combined.") }
    }

    func run() throws {
        let (status, problems) = try readAll()
        if json {
            Terminal.write(status.json.line + "\n")
        } else if metrics {
            Terminal.write(Metrics.text(for: status.instances))
        } else if status.isEmpty && problems.isEmpty {
            Terminal.show(StatusText.noStatusFiles(in: runtimeDir))
        } else {
            let milliseconds = Int(WallClock.microseconds() / 1000)
            let now = RFC3339Time(secondsSince1970: milliseconds / 1000)
            let color = Terminal.wantsColor
            let texts =
                status.instances.map {
                    StatusText.lines($0, now: now, milliseconds: milliseconds % 1000, color: color)
                }
                + status.listenerStatuses.map { StatusText.lines($0, now: now, color: color) }
                + status.collectors.map { StatusText.lines($0, now: now, color: color) }
            Terminal.show(texts.joined(separator: "\n"))
        }
        guard problems.isEmpty else { throw Failure(.noInput, problems) }
        if !status.isGood { throw Failure(.failure) }
    }

    private func readAll() throws -> (MachineStatus, [String]) {
        do throws(SystemError) {
            return try StatusFile.all(in: runtimeDir)
        } catch {
            // The package creates the default directory. If it is missing, no beacon has run on this machine.
            if error.errno == SystemError.noEntry, runtimeDir == StatusFile.defaultDirectory {
                return (MachineStatus(), [])
            }
            throw Failure(.noInput, "\(runtimeDir): this directory cannot be read: \(error.text)")
        }
    }
}
