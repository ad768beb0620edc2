internal import BluetoothTypes
internal import HCI
internal import LinuxHost

/// Records the packets that a receiver receives, in the btsnoop format in which `pharos scan --record` writes them.
final class ReceiverRecording {
    private let file: OutputFile
    private let path: String
    private var buffer: [UInt8] = []

    /// The number of bytes that are written at once.
    private static let bufferSize = 1 << 16

    /// The largest size of one recorded packet, in bytes.
    static let recordSize = 70

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
        let properties = AdvertisingEventProperties(rawValue: payload.properties)
        let type: UInt8 =
            properties.contains(.connectable) ? 0 : properties.contains(.scannable) ? 2 : 3
        let report = AdvertisingReport(
            type: .legacy(type), addressType: payload.isRandom ? .random : .publicDevice,
            address: payload.address, rssi: Int8(clamping: Int(level.rounded())),
            data: AdvertisingData(octets: payload.octets))
        buffer += BTSnoopWriter.record(
            HCIEvent.advertisingReports([report]).packet, isFromController: true,
            unixMicroseconds: Int64(unixMicroseconds))
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
