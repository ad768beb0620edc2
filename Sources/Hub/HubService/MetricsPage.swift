internal import Configuration

/// The text that Prometheus reads, put together octet by octet: it is made once a second, with several lines for each
/// beacon and each zone.
struct MetricsPage {
    private(set) var octets: [UInt8] = []
    /// `{listener="…"`, which every line has.
    private let own: [UInt8]
    private var name: [UInt8] = []
    /// What stands before the first line of a metric; empty once it was written.
    private var heading: [UInt8] = []

    /// A page without a metric, for the lines of one listener.
    init(listener: String) { own = Array("{listener=\(PrometheusText.label(listener))".utf8) }

    /// Another label of a line.
    static func label(_ name: String, _ value: String) -> [UInt8] {
        Array(",\(name)=\(PrometheusText.label(value))".utf8)
    }

    /// Begins a metric. One without a line leaves nothing.
    mutating func begin(_ name: String, _ kind: String, _ help: String) {
        self.name = Array(name.utf8)
        heading = Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n".utf8)
    }

    /// Adds a line to the metric that was begun last.
    ///
    /// - Parameter labels: As ``label(_:_:)`` makes them, one behind the other.
    mutating func add(_ labels: [UInt8], _ value: String) {
        if !heading.isEmpty {
            octets += heading
            heading = []
        }
        octets += name
        octets += own
        octets += labels
        octets += "} ".utf8
        octets += value.utf8
        octets.append(UInt8(ascii: "\n"))
    }

    /// The same with one label.
    mutating func add(_ label: String, _ name: String, _ value: String) { add(Self.label(label, name), value) }

    /// A metric with one line, or with none for `nil`.
    mutating func one(_ name: String, _ kind: String, _ help: String, _ value: String?) {
        begin(name, kind, help)
        if let value { add([], value) }
    }
}
