internal import LinuxHost

/// Collects lines, and writes them to standard output when there are 64 KiB or more, and when ``flush()`` is called.
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

    /// Writes all lines that are not written yet.
    package mutating func flush() {
        guard !octets.isEmpty else { return }
        if isData { Terminal.write(octets) } else { Terminal.show(String(decoding: octets, as: UTF8.self)) }
        octets.removeAll(keepingCapacity: true)
    }
}
