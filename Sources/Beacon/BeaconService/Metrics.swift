internal import BluetoothTypes
internal import Configuration

/// Metrics in Prometheus' text format (version 0.0.4), as node_exporter's textfile collector reads them.
struct MetricsText {
    enum Kind: String {
        case counter
        case gauge
    }

    private(set) var text = ""

    /// Adds a metric with all its samples. A metric without samples is absent, not zero.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: [(String, String)], String)]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for (labels, value) in samples {
            text += name
            text += "{"
            for (index, (label, value)) in labels.enumerated() {
                if index > 0 { text += "," }
                text += label
                text += "="
                text += PrometheusText.label(value)
            }
            text += "} "
            text += value
            text += "\n"
        }
    }
}

/// The metrics of this machine's beacons.
public enum Metrics {
    /// Returns the metrics of `instances`. A metric without a value is absent.
    public static func text(for instances: [InstanceStatus]) -> String {
        var metrics = MetricsText()
        add(instances, to: &metrics)
        addFrames(instances, to: &metrics)
        return metrics.text
    }

    /// Returns true if a file that begins with this text is a page of metrics of pharos.
    public static func isPage(_ start: String) -> Bool { start.hasPrefix("# HELP pharos_") }

    private static func add(_ instances: [InstanceStatus], to metrics: inout MetricsText) {
        metrics.add(
            "pharos_on_air", .gauge, "Whether the beacon is on the air: 1 or 0.",
            instances.map { ($0.labels(), $0.state == .onAir ? "1" : "0") })
        metrics.add(
            "pharos_info", .gauge, "Profile, adapter and controller of the beacon, as labels; always 1.",
            instances.map { status in
                let labels = [
                    ("profile_hash", status.profileHash ?? ""), ("adapter", status.adapter),
                    ("address", status.address?.description ?? ""), ("controller", status.controller ?? ""),
                ]
                return (status.labels(labels), "1")
            })
        metrics.add(
            "pharos_last_verified_timestamp_seconds", .gauge,
            "Time at which advertising was last verified, in seconds since 1970.",
            instances.compactMap { status in
                status.lastVerified.map { (status.labels(), String($0.secondsSince1970)) }
            })
        metrics.add(
            "pharos_rearms_total", .counter, "Recoveries of the beacon, by the cause of the outage.",
            instances.flatMap { status in
                status.rearms.sorted { $0.key < $1.key }.map { (status.labels([("cause", $0.key)]), String($0.value)) }
            })
        metrics.add(
            "pharos_eid_clock_ahead_seconds", .gauge,
            "Seconds by which the clock of ephemeral ids is ahead of the wall clock; absent if they differ by at most "
                + "one day.",
            instances.compactMap { status in status.eidClockAhead.map { (status.labels(), String($0)) } })
        metrics.add(
            "pharos_temperature_celsius", .gauge, "The temperature that telemetry sends.",
            instances.compactMap { status in
                status.telemetry?.temperature.map { (status.labels(), DecimalText.thousandths($0)) }
            })
        metrics.add(
            "pharos_battery_volts", .gauge, "The battery or supply voltage that telemetry sends.",
            instances.compactMap { status in
                status.telemetry?.battery.map { (status.labels(), DecimalText.thousandths($0)) }
            })
    }

    private static func addFrames(_ instances: [InstanceStatus], to metrics: inout MetricsText) {
        metrics.add(
            "pharos_interval_seconds", .gauge,
            "The granted advertising interval, by frame; for a pattern, the constant interval with as many events.",
            samples(instances) { $0.grantedInterval.map { seconds($0.lowerBound) } })
        metrics.add(
            "pharos_longest_interval_seconds", .gauge,
            "The longest advertising interval that the kernel may choose, by frame; absent if the interval is fixed.",
            samples(instances) { status in
                status.grantedInterval.flatMap { $0.count > 1 ? seconds($0.upperBound) : nil }
            })
        metrics.add(
            "pharos_radio_power_dbm", .gauge, "The radio power that the controller granted, by frame.",
            samples(instances) { $0.grantedRadioPower.map(String.init) })
        metrics.add(
            "pharos_events_total", .counter,
            "Advertising events sent, by frame; computed from the time on the air if the controller does not count them.",
            samples(instances) { $0.events.map(String.init) })
        metrics.add(
            "pharos_events_counted", .gauge, "Whether the controller counted the events (1) or they are computed (0).",
            samples(instances) { $0.events == nil ? nil : $0.isEventCountFromController ? "1" : "0" })
    }

    private static func seconds(_ microseconds: Int) -> String { String(Double(microseconds) / 1_000_000) }

    private static func samples(
        _ instances: [InstanceStatus], _ value: (InstanceStatus.AdvertisementStatus) -> String?
    ) -> [(labels: [(String, String)], String)] {
        instances.flatMap { status in
            zip(status.frameNames, status.advertisements).compactMap { name, advertisement in
                value(advertisement).map { (status.labels([("frame", name)]), $0) }
            }
        }
    }
}

extension InstanceStatus {
    fileprivate func labels(_ more: [(String, String)] = []) -> [(String, String)] { [("profile", name)] + more }
}
