internal import LinuxHost

/// Lines for standard output that are written together: in blocks of 64 KiB, and by ``flush()``.
package struct LineOutput {
    private static let blockSize = 1 << 16

    /// Whether the lines are data for programs. Others are text for people, adapted to the terminal.
    private let isData: Bool
    private var octets: [UInt8] = []

    package init(isData: Bool) { self.isData = isData }

    package mutating func add(_ text: some StringProtocol) { add(text.utf8) }

    /// Adds text in UTF-8.
    package mutating func add(_ text: some Sequence<UInt8>) {
        octets += text
        if octets.count >= Self.blockSize { flush() }
    }

    /// Writes what was added since the last block.
    package mutating func flush() {
        guard !octets.isEmpty else { return }
        if isData { Terminal.write(octets) } else { Terminal.show(String(decoding: octets, as: UTF8.self)) }
        octets.removeAll(keepingCapacity: true)
    }
}
