internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import LinuxHost

/// Writes the status and the metrics of a service to files, when something has changed. Without a fault, both change
/// only when advertising is verified, every 15 s; the status also changes with the sensors. A file that cannot be
/// written is logged once.
final class ServiceReport: ServiceView {
    private let directories: ServiceDirectories
    /// The values in the files; `nil` before the first write.
    private var writtenValues: WrittenValues?
    /// The value of ``AdapterRunner/changes`` at the last update.
    private var lastChanges: Int?
    /// The value of ``ServiceSensors/changes`` in the status file.
    private var writtenReadings = 0
    /// The earliest moment at which a new value of a sensor is written.
    private var nextReading = HCIInstant.distantPast
    /// The shortest time between two writes of new sensor values, in microseconds. A processor's temperature changes
    /// with each reading.
    private let readingPause: Int
    private var stateSince = RFC3339Time.now
    /// The paths of the files that could not be written.
    private var failedPaths: Set<String> = []

    /// The values in the files. If one of them changes, the files are out of date.
    private struct WrittenValues: Equatable {
        let state: InstanceStatus.State
        let verified: HCIInstant?
        let rearms: Int
        let hash: String
        let error: String?
        let rejectedFile: InstanceStatus.RejectedFile?
        let eidClockAhead: Int?
    }

    init(_ directories: ServiceDirectories, readingPause: Int = 5_000_000) {
        self.directories = directories
        self.readingPause = readingPause
    }

    var nextUpdate: HCIInstant? { nil }

    func update(_ runner: AdapterRunner, _ environment: ServiceEnvironment) {
        let now = environment.now
        let hasNewReadings = environment.sensors.changes != writtenReadings && now >= nextReading
        guard
            runner.changes != lastChanges || environment.eidClockAhead != writtenValues?.eidClockAhead || hasNewReadings
        else { return }
        lastChanges = runner.changes
        let supervisor = runner.supervisor
        let values = WrittenValues(
            state: InstanceStatus.State(supervisor.state), verified: supervisor.lastVerified,
            rearms: supervisor.rearms.values.reduce(0, +), hash: environment.job.hash, error: supervisor.lastError,
            rejectedFile: environment.rejectedFile,
            eidClockAhead: environment.eidClockAhead)
        let hasNewValues = values != writtenValues
        guard hasNewValues || hasNewReadings else { return }
        if values.state != writtenValues?.state { stateSince = .now }
        writtenValues = values
        writtenReadings = environment.sensors.changes
        nextReading = now.advanced(byMicroseconds: readingPause)
        let status = status(runner, environment, values)
        let directory = directories.runtime
        let isOnAir = values.state == .onAir
        write(directories.statusFile(status.name), environment, isOnAir: isOnAir) { () throws(SystemError) in
            try StatusFile.write(status, in: directory)
        }
        // The metrics may be on a memory card, and no program reads them as often as sensors change.
        guard hasNewValues else { return }
        let metrics = directories.metricsFile(status.name)
        write(metrics, environment, isOnAir: isOnAir) { () throws(SystemError) in
            try Files.replace(
                metrics, with: Array(Metrics.text(for: [status]).utf8), isDurable: false, ifBegins: Metrics.isPage)
        }
    }

    private func write(
        _ path: String, _ environment: ServiceEnvironment, isOnAir: Bool, _ body: () throws(SystemError) -> Void
    ) {
        do throws(SystemError) {
            try body()
            if failedPaths.remove(path) != nil { environment.log(.notice, "\(path) can be written again") }
        } catch {
            guard failedPaths.insert(path).inserted else { return }
            environment.log(
                .warning,
                "\(error): the file is out of date until it can be written\(isOnAir ? "; the beacon stays on the air" : "")"
            )
        }
    }

    private func status(
        _ runner: AdapterRunner, _ environment: ServiceEnvironment, _ values: WrittenValues
    ) -> InstanceStatus {
        let supervisor = runner.supervisor
        var status = InstanceStatus(
            name: environment.job.name, adapter: environment.job.adapterText, state: values.state)
        status.since = stateSince
        status.lastVerified = supervisor.lastVerified.map(RFC3339Time.init)
        status.profileHash = environment.job.hash
        status.rearms = Dictionary(uniqueKeysWithValues: supervisor.rearms.map { ($0.key.rawValue, $0.value) })
        status.lastError = supervisor.lastError
        status.rejectedFile = values.rejectedFile
        status.process = .current
        status.eidClockAhead = values.eidClockAhead
        if let session = environment.advertising {
            status.address = session.controller.address
            status.controller = session.controller.description
            status.advertisements = session.advertisements.map(InstanceStatus.AdvertisementStatus.init)
        }
        status.telemetry = telemetry(environment.sensors)
        return status
    }

    private func telemetry(_ sensors: ServiceSensors) -> InstanceStatus.TelemetryStatus? {
        guard sensors.lastTemperature != nil || sensors.lastBattery != nil else { return nil }
        return InstanceStatus.TelemetryStatus(
            temperature: sensors.lastTemperature?.value,
            temperatureSensor: sensors.lastTemperature?.sensor.map { "\($0)" }, battery: sensors.lastBattery?.value,
            batterySensor: sensors.lastBattery?.sensor.map { "\($0)" })
    }
}

extension InstanceStatus.State {
    fileprivate init(_ state: Supervisor.State) {
        switch state {
        case .starting: self = .starting
        case .onAir: self = .onAir
        case .recovering: self = .recovering
        case .off: self = .off
        }
    }
}

extension InstanceStatus.AdvertisementStatus {
    fileprivate init(_ status: OnAirAdvertisement) {
        self.init(
            type: status.advertisement.content.typeName, address: status.address,
            interval: status.advertisement.interval.microseconds, grantedInterval: status.grantedMicroseconds,
            radioPower: status.advertisement.radioPower.map { Int($0.dBm) },
            grantedRadioPower: status.grant.power.map { Int($0.dBm) }, events: Int(clamping: status.events))
        if let pattern = status.pattern {
            self.pattern = .init(
                pattern: pattern.pattern,
                startUnixMilliseconds: (Int(WallClock.microseconds()) - pattern.elapsed) / 1000)
        }
        phy = status.advertisement.phy
        content = status.contentText + (status.localName.map { ", local name \"\($0)\"" } ?? "")
        octets = status.payload.octets
    }
}

extension RFC3339Time {
    /// Converts an instant of the monotonic clock to a time of the wall clock, with the current difference of the two
    /// clocks.
    fileprivate init(_ instant: HCIInstant) {
        let age =
            MonotonicClock.nanoseconds() / 1_000_000_000
            - min(
                instant.nanoseconds / 1_000_000_000, MonotonicClock.nanoseconds() / 1_000_000_000)
        self.init(secondsSince1970: RFC3339Time.now.secondsSince1970 - Int(age))
    }
}
