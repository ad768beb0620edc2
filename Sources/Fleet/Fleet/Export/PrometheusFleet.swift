internal import Configuration

/// The targets and the alert rules of a fleet for Prometheus.
///
/// The metrics of a machine are read from the node_exporter at its `host`, which serves them with its textfile
/// collector.
public struct PrometheusFleet {
    private let manifest: FleetManifest
    private let port: Int
    /// The name of the beacon and its title, if it has one, in a template of Prometheus.
    private static let beacon = "{{ $labels.profile }}{{ with $labels.title }} ({{ . }}){{ end }}"

    /// - Parameter port: The TCP port of node_exporter on every machine.
    public init(_ manifest: FleetManifest, port: Int = 9100) {
        self.manifest = manifest
        self.port = port
    }

    /// The names of the beacons without `host`. Prometheus cannot query their machines.
    public var withoutHost: [String] { manifest.beacons.filter { $0.host == nil }.map(\.name) }

    /// The targets for `file_sd_configs`: each host once, with the site, floor and room that all its beacons share.
    public var targets: String {
        var hosts: [String] = []
        var beaconsOfHosts: [String: [FleetManifest.Beacon]] = [:]
        for beacon in manifest.beacons {
            guard let host = beacon.host else { continue }
            if beaconsOfHosts[host] == nil { hosts.append(host) }
            beaconsOfHosts[host, default: []].append(beacon)
        }
        let targets = hosts.map { host -> JSONValue in
            let beacons = beaconsOfHosts[host] ?? []
            var labels: [JSONValue.Member] = [
                .init("fleet", .string(manifest.fleet)),
                .init("beacons", .string(beacons.map(\.name).joined(separator: ","))),
            ]
            for (label, path) in [("site", \FleetManifest.Beacon.site), ("floor", \.floor), ("room", \.room)] {
                let values = Set(beacons.map { $0[keyPath: path] })
                if values.count == 1, let value = values.first ?? nil { labels.append(.init(label, .string(value))) }
            }
            let target = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            return .object([
                .init("targets", .array([.string(target)])), .init("labels", .object(labels)),
            ])
        }
        return JSONValue.array(targets).pretty
    }

    /// The rules: a time series for each beacon with the hash of the profile that it should send, and three alerts that
    /// compare this series with the metrics of the beacons.
    ///
    /// The names and titles of beacons are only in labels. In expressions or templates, their characters could have a
    /// special meaning.
    public var rules: String {
        var text = """
            groups:
              - name: pharos-fleet
                rules:

            """
        for beacon in manifest.beacons {
            text += """
                      - record: pharos_beacon_expected
                        expr: vector(1)
                        labels:
                          fleet: \(YAMLText.quoted(manifest.fleet))
                          profile: \(YAMLText.quoted(beacon.name))
                          profile_hash: \(YAMLText.quoted(beacon.profileHash))

                """
            if let title = beacon.title { text += "          title: \(YAMLText.quoted(title))\n" }
        }
        return text + """
              - name: pharos-alerts
                rules:
                  - alert: PharosBeaconSilent
                    expr: pharos_beacon_expected unless on (profile) (pharos_on_air == 1)
                    for: 60s
                    labels:
                      severity: critical
                    annotations:
                      summary: "Beacon \(Self.beacon) has been silent for a minute."
                  - alert: PharosMetricsStale
                    expr: >-
                      pharos_beacon_expected
                      and on (profile) (pharos_on_air == 1)
                      unless on (profile) (time() - pharos_last_verified_timestamp_seconds < 60)
                    for: 30s
                    labels:
                      severity: critical
                    annotations:
                      summary: "Beacon \(Self.beacon) has not been verified for a minute."
                  - alert: PharosProfileHashDiffers
                    expr: >-
                      pharos_beacon_expected
                      and on (profile) pharos_info
                      unless on (profile, profile_hash) pharos_info
                    for: 5m
                    labels:
                      severity: warning
                    annotations:
                      summary: "Beacon \(Self.beacon) does not send the profile that the fleet has for it."

            """
    }
}
