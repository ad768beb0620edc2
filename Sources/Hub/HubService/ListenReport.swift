internal import Advertiser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Zones

/// What a listener leaves for others to read: its status and its metrics.
struct ListenReport {
    /// What is told, at one moment.
    struct State {
        let file: HubFile
        let source: SightingSource
        let hearing: ZoneHearing
        let hooks: HookRunner
        let ledger: EventLedger
        /// `nil` where no broker is told.
        let broker: ListenPublishing.Report?
        let now: HeardInstant
        let isOver: Bool

        /// In the words of the status.
        var word: ListenerStatus.State {
            if isOver { return .off }
            switch source.state {
            case .listening: return .listening
            // Of what another program's scan lets through repeats may be missing.
            case .foreign, .paused, .deaf: return .deaf
            case .starting, .recovering: return .recovering
            case .off: return .off
            }
        }
    }

    private let name: String
    private let directory: String
    private let metrics: String
    private var last: ListenerStatus.State?
    private var since: RFC3339Time?
    private var reports: (count: Int, at: HeardInstant)?
    private var rate: Double?
    private var hasListened = false
    private var lost: Set<String> = []
    /// How often listening has begun again with an adapter that was gone, or had to be started anew.
    private var recoveries = 0
    /// The restarts before the recovery under way: one that is among them is told by its own cause.
    private var restartsBefore = 0

    /// - Parameter metrics: `nil` for NAME.prom beside the status.
    init(name: String, directory: String, metrics: String?) {
        self.name = name
        self.directory = directory
        self.metrics = metrics ?? "\(directory)/\(name).listener.prom"
    }

    /// Whether an earlier run of this name had no time to say that it is over; nobody else runs under it now.
    static func isLeft(_ name: String, in directory: String) -> Bool {
        StatusFile.listener(name, in: directory).map { $0.state != .off } ?? false
    }

    mutating func write(_ state: State, _ journal: HubJournal) {
        if state.word != last {
            if state.word == .recovering { restartsBefore = state.source.counts.restarts }
            if last == .recovering, state.word == .listening, hasListened,
                state.source.counts.restarts == restartsBefore
            {
                recoveries += 1
            }
            hasListened = hasListened || state.word == .listening
            last = state.word
            since = RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000))
        }
        if let reports, state.now.microseconds(since: reports.at) > 0 {
            rate =
                Double(state.hearing.reports - reports.count) * 1_000_000
                / Double(state.now.microseconds(since: reports.at))
        }
        reports = (state.hearing.reports, state.now)
        let told = status(state)
        let (directory, metrics) = (directory, metrics)
        put("its status", journal) { () throws(SystemError) in try StatusFile.write(told, in: directory) }
        let page = page(state)
        put(metrics, journal) { () throws(SystemError) in
            try Files.replace(metrics, with: page, isDurable: false)
        }
    }

    private mutating func put(_ what: String, _ journal: HubJournal, _ write: () throws(SystemError) -> Void) {
        do throws(SystemError) {
            try write()
            if lost.remove(what) != nil { journal.write(.notice, "\(what) can be written again") }
        } catch {
            guard lost.insert(what).inserted else { return }
            journal.write(.warning, "\(error): it tells nothing new until it can be written; it goes on listening")
        }
    }

    private func status(_ state: State) -> ListenerStatus {
        let table = state.hearing.table
        let heard = Set(
            table.heardInRound.filter { $0 < table.knownCount }.compactMap { table.tracks[$0].known?.name })
        var status = ListenerStatus(name: name, adapter: state.source.adapter?.description, state: state.word)
        status.since = since
        // To a tenth: more is noise.
        status.reportsPerSecond = rate.map { Int(($0 * 10).rounded()) * 100 }
        status.known = state.file.known.names.count
        status.heardNow = heard.count
        status.strangers = table.strangerSendersInRound
        status.lost = state.source.counts.lostInKernel
        status.hooksWaiting = state.hooks.waiting
        status.spool = ListenerStatus.Spool(
            messages: state.ledger.backlogCount + (state.broker?.messages ?? 0), octets: state.broker?.octets ?? 0,
            oldest: state.broker?.oldest)
        status.broker = state.broker?.broker
        status.process = .current
        return status
    }

    // MARK: Prometheus

    private func page(_ state: State) -> [UInt8] {
        var page = MetricsPage(listener: name)
        let counts = state.source.counts
        page.one("pharos_listening", "gauge", "Whether everything is heard.", state.word == .listening ? "1" : "0")
        page.begin("pharos_reports_total", "counter", "Reports heard, by the kind of their packets.")
        for (kind, count) in state.hearing.reportsByKind.sorted(by: { $0.key < $1.key }) {
            page.add("pdu", kind, "\(count)")
        }
        page.begin("pharos_reports_lost_total", "counter", "Reports lost, by where.")
        if let lost = counts.lostInKernel { page.add("where", "kernel", "\(lost)") }
        page.add("where", "malformed", "\(counts.malformedEvents)")
        page.add("where", "incomplete", "\(counts.incomplete)")
        page.begin("pharos_scan_restarts_total", "counter", "How often scanning was turned on again, by why.")
        page.add("cause", "foreign", "\(counts.foreignRestarts)")
        page.add("cause", "off", "\(counts.restarts - counts.foreignRestarts)")
        page.add("cause", "recovery", "\(recoveries)")
        page.one(
            "pharos_deaf_seconds_total", "counter", "How long less than everything could be heard.",
            DecimalText.thousandths(counts.deafMicroseconds / 1000))
        addBeacons(state, to: &page)
        addZones(state.hearing.engine, to: &page)
        page.one(
            "pharos_strangers", "gauge", "Senders that are not known, about, in the last second.",
            "\(state.hearing.table.strangerSendersInRound)")
        page.one("pharos_hooks_waiting", "gauge", "Hooks that were not started yet.", "\(state.hooks.waiting)")
        page.one("pharos_hooks_started_total", "counter", "Hooks started.", "\(state.hooks.started)")
        page.one("pharos_hooks_failed_total", "counter", "Hooks that failed, or were ended.", "\(state.hooks.failed)")
        page.one(
            "pharos_spool_messages", "gauge", "What waits for the broker, or for a disk that takes it.",
            "\(state.ledger.backlogCount + (state.broker?.messages ?? 0))")
        page.one(
            "pharos_broker_connected", "gauge", "Whether the broker takes messages.",
            state.broker.map { $0.isConnected ? "1" : "0" })
        page.begin("pharos_spool_dropped_total", "counter", "What was given up because too much waited, by its kind.")
        page.add("kind", "hooks", "\(state.hooks.dropped)")
        page.add("kind", "events", "\(state.ledger.dropped + (state.broker?.droppedEvents ?? 0))")
        page.add("kind", "sightings", "\(state.broker?.droppedSightings ?? 0)")
        return page.octets
    }

    /// Of several identities of one name the one that was heard last.
    private func addBeacons(_ state: State, to page: inout MetricsPage) {
        let table = state.hearing.table
        var numbers: [String: Int] = [:]
        var beacons: [(label: [UInt8], place: Int, heard: Int)] = []
        for place in 0..<table.knownCount {
            guard let last = table.tracks[place].lastHeard, let name = table.tracks[place].known?.name else { continue }
            guard let number = numbers[name] else {
                numbers[name] = beacons.count
                beacons.append((MetricsPage.label("beacon", name), place, table.tracks[place].reports))
                continue
            }
            beacons[number].heard += table.tracks[place].reports
            if let before = table.tracks[beacons[number].place].lastHeard, before < last {
                beacons[number].place = place
            }
        }
        func add(_ name: String, _ help: String, _ value: (BeaconTrack) -> String?) {
            page.begin(name, "gauge", help)
            for beacon in beacons {
                if let value = value(table.tracks[beacon.place]) { page.add(beacon.label, value) }
            }
        }
        page.begin("pharos_beacon_heard_total", "counter", "Reports of a known beacon.")
        for beacon in beacons { page.add(beacon.label, "\(beacon.heard)") }
        add("pharos_beacon_rssi_dbm", "Its last level.") { $0.lastLevel.map { "\($0)" } }
        add("pharos_beacon_last_heard_timestamp_seconds", "When it was heard last.") { track in
            track.lastHeard.flatMap { state.source.clock.unixMicroseconds(at: $0) }.map {
                DecimalText.thousandths(Int($0 / 1000))
            }
        }
        add("pharos_beacon_interval_seconds", "Its interval, configured or learned.") {
            $0.periodMicroseconds.map { DecimalText.thousandths(Int(max(0, $0 - 5000) / 1000)) }
        }
        add("pharos_beacon_battery_volts", "The battery voltage in its telemetry.") {
            $0.telemetry?.batteryMillivolts.map { DecimalText.thousandths(Int($0)) }
        }
    }

    private func addZones(_ engine: ZoneEngine, to page: inout MetricsPage) {
        let labels = engine.rules.map { MetricsPage.label("zone", $0.name) }
        page.begin("pharos_zone_inside", "gauge", "How many beacons are inside, as far as it is known.")
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
