internal import Configuration

/// A page of metrics in the text format of Prometheus, with a `listener` label in every line.
struct MetricsPage {
    private(set) var octets: [UInt8] = []
    /// The first label of every line, without the closing bracket: `{listener="…"`.
    private let listenerLabel: [UInt8]
    private var name: [UInt8] = []
    /// The HELP and TYPE lines of the current metric; empty after they were written.
    private var heading: [UInt8] = []

    /// Creates an empty page for one listener.
    init(listener: String) { listenerLabel = Array("{listener=\(PrometheusText.label(listener))".utf8) }

    /// Returns a label for ``add(_:_:)``.
    static func label(_ name: String, _ value: String) -> [UInt8] {
        Array(",\(name)=\(PrometheusText.label(value))".utf8)
    }

    /// Begins a metric. A metric without lines is left out.
    mutating func begin(_ name: String, _ kind: String, _ help: String) {
        self.name = Array(name.utf8)
        heading = Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n".utf8)
    }

    /// Adds a line to the metric that was begun last.
    ///
    /// - Parameter labels: One result of ``label(_:_:)``, or several results joined together.
    mutating func add(_ labels: [UInt8], _ value: String) {
        if !heading.isEmpty {
            octets += heading
            heading = []
        }
        octets += name
        octets += listenerLabel
        octets += labels
        octets += "} ".utf8
        octets += value.utf8
        octets.append(UInt8(ascii: "\n"))
    }

    /// Adds a line with one label to the metric that was begun last.
    mutating func add(_ label: String, _ name: String, _ value: String) { add(Self.label(label, name), value) }

    /// Adds a metric with one line, or no metric if `value` is `nil`.
    mutating func addMetric(_ name: String, _ kind: String, _ help: String, _ value: String?) {
        begin(name, kind, help)
        if let value { add([], value) }
    }
}
