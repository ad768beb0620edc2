internal import BeaconService
internal import Collector
internal import Configuration
internal import LinuxHost

/// Writes the status file of a collector, which `pharos status` reads.
struct CollectorStatusWriter {
    private let directory: String
    /// The state that was last written, and the time at which it began.
    private var lastState: (state: CollectorStatus.State, since: RFC3339Time)?
    /// The earliest time of the next write if the state does not change, in nanoseconds of `MonotonicClock`.
    private var nextWrite: UInt64 = 0
    /// True if the last write failed.
    private var hasFailed = false

    /// - Parameter directory: The directory of the status file.
    init(directory: String) { self.directory = directory }

    /// Writes the status of a collector that works for its site, at most once a second unless its state changes.
    mutating func write(_ collector: SightingCollector, _ broker: CollectorBroker) {
        let silentReceivers = collector.silentReceivers
        let state: CollectorStatus.State =
            if broker.disconnectedSince != nil {
                .recovering
            } else if silentReceivers.count == collector.file.receivers.count {
                .deaf
            } else {
                .collecting
            }
        write(state, of: collector) { status in
            status.silentReceivers = silentReceivers
            status.present = collector.presentCount
            let downSince = broker.disconnectedSince.map { RFC3339Time(secondsSince1970: $0 / 1000) }
            status.broker = downSince.map { "down since \($0)" } ?? "connected"
        }
    }

    /// Writes the status of a collector that does not work for its site, at most once a second unless its state
    /// changes.
    ///
    /// - Parameter complete: Sets the values that are known in this state.
    mutating func write(
        _ state: CollectorStatus.State, of collector: SightingCollector,
        complete: (inout CollectorStatus) -> Void = { _ in }
    ) {
        let time = MonotonicClock.nanoseconds()
        let hasChanged = lastState?.state != state
        guard hasChanged || time >= nextWrite else { return }
        nextWrite = time + 1_000_000_000
        let since = hasChanged ? RFC3339Time.now : lastState?.since ?? RFC3339Time.now
        lastState = (state, since)
        var status = CollectorStatus(name: collector.file.name, state: state)
        status.since = since
        status.receivers = collector.file.receivers.count
        status.process = .current
        complete(&status)
        do throws(SystemError) {
            try StatusFile.write(status, in: directory)
            hasFailed = false
        } catch {
            // Only the first of several failures in a row is reported.
            if !hasFailed {
                Terminal.writeMessage(
                    "warning: \(error): `pharos status` cannot show this collector; choose another directory with "
                        + "--runtime-dir")
            }
            hasFailed = true
        }
    }
}
