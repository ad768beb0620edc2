internal import HCI
internal import LinuxHost
internal import VirtualController

/// Records the packets that a receiver receives, in the btsnoop format in which `pharos scan --record` writes them.
final class ReceiverRecording {
    private let file: OutputFile
    private let path: String
    private var buffer: [UInt8] = []

    /// The number of bytes that are written at once.
    private static let bufferSize = 1 << 16

    /// Returns the largest size of the record of a received event, in bytes.
    ///
    /// - Parameter octets: The number of bytes of advertising data.
    static func recordSize(octets: Int, isExtended: Bool) -> Int {
        // Each report of extended advertising has at most 229 bytes of data, and about 60 bytes in addition.
        isExtended ? octets + 60 * (octets / 229 + 1) : 70
    }

    init(_ path: String) throws(RehearsalError) {
        self.path = path
        do throws(SystemError) {
            file = try OutputFile(replacing: path)
            try file.append(BTSnoopWriter.header)
        } catch {
            throw RehearsalError(.system, "--record \(path): it cannot be written: \(error.text)")
        }
    }

    /// Adds a received packet.
    func add(_ payload: AirPayload, level: Float, unixMicroseconds: Int) throws(RehearsalError) {
        let rssi = Int8(clamping: Int(level.rounded()))
        let reports =
            payload.pdu.isLegacy
            ? [payload.pdu.legacyReport(rssi: rssi)] : payload.pdu.extendedReports(rssi: rssi, withCoding: false)
        for report in reports {
            buffer += BTSnoopWriter.record(
                report.packet, isFromController: true, unixMicroseconds: Int64(unixMicroseconds))
        }
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Writes the added packets to the file.
    func flush() throws(RehearsalError) {
        do throws(SystemError) {
            try file.append(buffer)
            buffer.removeAll(keepingCapacity: true)
        } catch {
            throw RehearsalError(.system, "--record \(path): it cannot be written: \(error.text)")
        }
    }
}
