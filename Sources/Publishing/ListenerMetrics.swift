internal import TextEscaping

/// What a listener is measured by, in Prometheus' text format (version 0.0.4).
///
/// Only names of files become labels: nobody on the air can make a new one.
public struct ListenerMetrics: Sendable {
    /// All that was added.
    public private(set) var text = ""
    private let listener: String
    private var lastName: String?

    /// - Parameter listener: Its name, a label of each sample.
    public init(listener: String) { self.listener = listener }

    /// A number that goes up and down.
    public mutating func gauge(_ name: String, _ help: String, _ value: String?, _ labels: [(String, String)] = []) {
        add(name, "gauge", help, value, labels)
    }

    /// A number that only grows; its name ends in `_total`.
    public mutating func counter(_ name: String, _ help: String, _ value: Int?, _ labels: [(String, String)] = []) {
        add(name, "counter", help, value.map(String.init), labels)
    }

    private mutating func add(
        _ name: String, _ kind: String, _ help: String, _ value: String?, _ labels: [(String, String)]
    ) {
        guard let value else { return }
        // Samples of one metric stand together, under one heading.
        if lastName != name { text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n" }
        lastName = name
        let all = [("listener", listener)] + labels
        text += "\(name){\(all.map { "\($0)=\(PrometheusText.label($1))" }.joined(separator: ","))} \(value)\n"
    }
}
