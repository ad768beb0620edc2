package import Configuration
package import LinuxHost

/// Collects lines. Writes them to standard output when their total size reaches 64 KiB, and when ``flush()`` is called.
package struct LineOutput {
    private static let blockSize = 1 << 16

    /// `true` for JSON, which is written unchanged; `false` for text, which is adapted to the terminal.
    private let isData: Bool
    private var octets: [UInt8] = []

    package init(isData: Bool) { self.isData = isData }

    package mutating func add(_ text: some StringProtocol) { add(text.utf8) }

    /// Adds text in UTF-8.
    package mutating func add(_ text: some Sequence<UInt8>) {
        octets += text
        if octets.count >= Self.blockSize { flush() }
    }

    /// Adds the JSON object in `row` as a line, and empties `row`.
    package mutating func addLine(_ row: inout JSONWriter) {
        add(row.octets)
        add("\n")
        row.removeAll()
    }

    /// Writes all lines that are not written yet.
    package mutating func flush() {
        guard !octets.isEmpty else { return }
        if isData { Terminal.write(octets) } else { Terminal.show(String(decoding: octets, as: UTF8.self)) }
        octets.removeAll(keepingCapacity: true)
    }
}

extension Terminal {
    /// Prints the result of a command on standard output: as text, or with --json as one line of JSON.
    package static func show(
        _ text: @autoclosure () -> String, or json: @autoclosure () -> JSONValue, asJSON: Bool
    ) {
        if asJSON { write(json().line + "\n") } else { show(text()) }
    }
}
