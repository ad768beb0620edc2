internal import Advertiser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Store
internal import Zones

/// Writes a listener's status file, which `pharos status` reads, and its metrics for Prometheus.
struct ListenerStatusWriter {
    /// The data to write, at one moment.
    struct Snapshot {
        let file: HubFile
        let source: SightingSource
        let monitor: ZoneMonitor
        let hooks: HookRunner
        let ledger: EventLedger
        /// The state of the broker; `nil` if the file has no section `mqtt`.
        let broker: BrokerPublisher.Report?
        let now: HeardInstant
        let isOver: Bool

        /// The state in the status file.
        var state: ListenerStatus.State {
            if isOver { return .off }
            switch source.state {
            case .listening: return silentSince == nil ? .listening : .deaf
            // In the state `foreign` another program scans. That scan may leave out repeated advertisements, so the
            // listener counts as deaf.
            case .foreign, .paused, .deaf: return .deaf
            case .starting, .recovering: return .recovering
            case .off: return .off
            }
        }

        /// The time since which no report has arrived although reports were likely; `nil` while the receiver works.
        private var silentSince: HeardInstant? { monitor.table.clock.silentSince(at: now) }

        /// The wall-clock time to use as the beginning of ``state`` if the state has just changed. If no reports arrive
        /// any more, the state `deaf` began with the last report. Every other state begins now.
        var since: RFC3339Time {
            guard state == .deaf, let silentSince, let time = source.clock.unixMicroseconds(at: silentSince) else {
                return RFC3339Time.now
            }
            return RFC3339Time(secondsSince1970: Int(time / 1_000_000))
        }
    }

    private let name: String
    private let directory: String
    private let metrics: String
    /// The state that was last written.
    private var lastState: ListenerStatus.State?
    /// The time at which the last written state began.
    private var since: RFC3339Time?
    /// The number of reports when the status was last written, and the time of that write.
    private var lastReports: (count: Int, at: HeardInstant)?
    /// The number of reports per second.
    private var rate: Double?
    private var hasListened = false
    /// The files whose last write failed, as they are called in messages.
    private var unwritable: Set<String> = []
    /// The number of recoveries from an adapter that was missing or had to be restarted.
    private var recoveries = 0
    /// The number of scan restarts at the start of the present recovery. If the recovery restarts the scan, only the
    /// restart is counted, not the recovery.
    private var restartsBefore = 0

    /// - Parameter metrics: The path of the metrics file for Prometheus; `nil` for NAME.listener.prom in the runtime
    ///   directory.
    init(name: String, directory: String, metrics: String?) {
        self.name = name
        self.directory = directory
        self.metrics = metrics ?? "\(directory)/\(name).listener.prom"
    }

    /// Returns true if an earlier listener of this name ended without writing the state `off`, for example because it
    /// was killed. The lock of the name must be held.
    static func wasInterrupted(_ name: String, in directory: String) -> Bool {
        StatusFile.listener(name, in: directory).map { $0.state != .off } ?? false
    }

    mutating func write(_ snapshot: Snapshot, _ journal: Journal) {
        if snapshot.state != lastState {
            if snapshot.state == .recovering { restartsBefore = snapshot.source.counts.restarts }
            if lastState == .recovering, snapshot.state == .listening, hasListened,
                snapshot.source.counts.restarts == restartsBefore
            {
                recoveries += 1
            }
            hasListened = hasListened || snapshot.state == .listening
            lastState = snapshot.state
            since = snapshot.since
        }
        if let lastReports, snapshot.now.microseconds(since: lastReports.at) > 0 {
            rate =
                Double(snapshot.monitor.reports - lastReports.count) * 1_000_000
                / Double(snapshot.now.microseconds(since: lastReports.at))
        }
        lastReports = (snapshot.monitor.reports, snapshot.now)
        let status = status(snapshot)
        let (directory, metrics) = (directory, metrics)
        put("the status", journal) { () throws(SystemError) in try StatusFile.write(status, in: directory) }
        let page = page(snapshot)
        put(metrics, journal) { () throws(SystemError) in
            try Files.replace(metrics, with: page, isDurable: false, ifBegins: Metrics.isPage)
        }
    }

    /// Writes a file. Logs the first of several failures, and the first success after them.
    ///
    /// - Parameter what: The name of the file in messages.
    private mutating func put(_ what: String, _ journal: Journal, _ write: () throws(SystemError) -> Void) {
        do throws(SystemError) {
            try write()
            if unwritable.remove(what) != nil { journal.write(.notice, "\(what) can be written again") }
        } catch {
            guard unwritable.insert(what).inserted else { return }
            journal.write(.warning, "\(error): \(what) is out of date until it can be written; the listener continues")
        }
    }

    private func status(_ snapshot: Snapshot) -> ListenerStatus {
        let table = snapshot.monitor.table
        let heard = Set(
            table.heardInRound.filter { $0 < table.knownCount }.compactMap { table.tracks[$0].known?.name })
        var status = ListenerStatus(name: name, adapter: snapshot.source.adapter?.description, state: snapshot.state)
        status.since = since
        // Rounded to a tenth, because further digits are not significant.
        status.reportsPerThousandSeconds = rate.map { Int(($0 * 10).rounded()) * 100 }
        status.known = snapshot.file.known.names.count
        status.heardNow = heard.count
        status.strangers = table.strangerSendersInRound
        status.lost = snapshot.source.counts.lostInKernel
        status.hooksWaiting = snapshot.hooks.waiting
        status.spool = ListenerStatus.Spool(
            messages: snapshot.ledger.backlogCount + (snapshot.broker?.messages ?? 0),
            octets: snapshot.broker?.octets ?? 0,
            oldest: snapshot.broker?.oldest)
        status.broker = snapshot.broker?.broker
        status.process = .current
        return status
    }

    // MARK: Prometheus

    private func page(_ snapshot: Snapshot) -> [UInt8] {
        var page = MetricsPage(listener: name)
        let counts = snapshot.source.counts
        page.addMetric(
            "pharos_listening", "gauge", "1 while the listener receives all advertisements.",
            snapshot.state == .listening ? "1" : "0")
        page.begin("pharos_reports_total", "counter", "Reports received, by packet type.")
        for (kind, count) in snapshot.monitor.reportsByKind.sorted(by: { $0.key < $1.key }) {
            page.add("pdu", kind, "\(count)")
        }
        page.begin("pharos_reports_lost_total", "counter", "Reports lost, by the place of the loss.")
        if let lost = counts.lostInKernel { page.add("where", "kernel", "\(lost)") }
        page.add("where", "malformed", "\(counts.malformedEvents)")
        page.add("where", "incomplete", "\(counts.incomplete)")
        page.begin("pharos_scan_restarts_total", "counter", "Scan restarts, by cause.")
        page.add("cause", "foreign", "\(counts.foreignRestarts)")
        page.add("cause", "off", "\(counts.restarts - counts.foreignRestarts)")
        page.add("cause", "recovery", "\(recoveries)")
        page.addMetric(
            "pharos_deaf_seconds_total", "counter", "Time without full reception.",
            DecimalText.thousandths(counts.deafMicroseconds / 1000))
        addBeacons(snapshot, to: &page)
        addZones(snapshot.monitor.engine, to: &page)
        page.addMetric(
            "pharos_strangers", "gauge", "Approximate number of unknown senders in the last second.",
            "\(snapshot.monitor.table.strangerSendersInRound)")
        page.addMetric("pharos_hooks_waiting", "gauge", "Hooks waiting to be started.", "\(snapshot.hooks.waiting)")
        page.addMetric("pharos_hooks_started_total", "counter", "Hooks started.", "\(snapshot.hooks.started)")
        page.addMetric(
            "pharos_hooks_failed_total", "counter", "Hooks that failed or were killed.", "\(snapshot.hooks.failed)")
        page.addMetric(
            "pharos_spool_messages", "gauge", "Messages that wait for the broker, or for space on the disk.",
            "\(snapshot.ledger.backlogCount + (snapshot.broker?.messages ?? 0))")
        page.addMetric(
            "pharos_broker_connected", "gauge", "1 while the broker is connected.",
            snapshot.broker.map { $0.isConnected ? "1" : "0" })
        page.begin(
            "pharos_spool_dropped_total", "counter", "Messages and hooks dropped because too many waited, by kind.")
        page.add("kind", "hooks", "\(snapshot.hooks.dropped)")
        page.add("kind", "events", "\(snapshot.ledger.dropped)")
        page.add("kind", "sightings", "\(snapshot.broker?.droppedSightings ?? 0)")
        return page.octets
    }

    /// Adds the metrics of each beacon. If a beacon has several identities, uses the identity that was received last.
    private func addBeacons(_ snapshot: Snapshot, to page: inout MetricsPage) {
        let table = snapshot.monitor.table
        var indices: [String: Int] = [:]
        var beacons: [(label: [UInt8], track: Int, reports: Int, isCloned: Bool)] = []
        for track in 0..<table.knownCount {
            guard let lastHeard = table.tracks[track].lastHeard, let name = table.tracks[track].known?.name else {
                continue
            }
            let isCloned = table.tracks[track].clones.finding != nil
            guard let index = indices[name] else {
                indices[name] = beacons.count
                beacons.append((MetricsPage.label("beacon", name), track, table.tracks[track].reports, isCloned))
                continue
            }
            beacons[index].isCloned = beacons[index].isCloned || isCloned
            beacons[index].reports += table.tracks[track].reports
            if let former = table.tracks[beacons[index].track].lastHeard, former < lastHeard {
                beacons[index].track = track
            }
        }
        func addGauge(_ name: String, _ help: String, _ value: (BeaconTrack) -> String?) {
            page.begin(name, "gauge", help)
            for beacon in beacons {
                if let value = value(table.tracks[beacon.track]) { page.add(beacon.label, value) }
            }
        }
        page.begin("pharos_beacon_heard_total", "counter", "Reports received from a known beacon.")
        for beacon in beacons { page.add(beacon.label, "\(beacon.reports)") }
        page.begin("pharos_beacon_cloned", "gauge", "1 while two devices send the beacon's identity.")
        for beacon in beacons { page.add(beacon.label, beacon.isCloned ? "1" : "0") }
        addGauge("pharos_beacon_rssi_dbm", "The level of the last report.") { $0.lastLevel.map { "\($0)" } }
        addGauge("pharos_beacon_last_heard_timestamp_seconds", "Time of the last report.") { track in
            track.lastHeard.flatMap { snapshot.source.clock.unixMicroseconds(at: $0) }.map {
                DecimalText.thousandths(Int($0 / 1000))
            }
        }
        addGauge("pharos_beacon_interval_seconds", "The interval, configured or learned.") {
            $0.periodMicroseconds.map { DecimalText.thousandths(Int(max(0, $0 - 5000) / 1000)) }
        }
        addGauge("pharos_beacon_battery_volts", "The battery voltage in the telemetry.") {
            $0.telemetry?.batteryMillivolts.map { DecimalText.thousandths(Int($0)) }
        }
    }

    private func addZones(_ engine: ZoneEngine, to page: inout MetricsPage) {
        let labels = engine.rules.map { MetricsPage.label("zone", $0.name) }
        page.begin("pharos_zone_inside", "gauge", "The number of beacons inside, if it is known.")
        if engine.isKnown {
            for (zone, label) in labels.enumerated() { page.add(label, "\(engine.insideCount(zone))") }
        }
        page.begin("pharos_zone_events_total", "counter", "Events of a zone.")
        let kinds = ZoneEvent.Kind.allCases.map { (kind: $0, label: MetricsPage.label("event", $0.rawValue)) }
        for (zone, label) in labels.enumerated() {
            for (kind, word) in kinds { page.add(label + word, "\(engine.count(kind, of: zone))") }
        }
    }
}
