internal import BeaconService
internal import HCI
internal import LinuxHost

/// A btsnoop file that grows while packets pass. A disk that fills up ends it, not the listening.
final class PacketRecording {
    private let file: OutputFile
    private let path: String
    private var hasEnded = false
    /// Is told, in a sentence, why the recording ends before the listening.
    var onEnd: ((String) -> Void)?

    init(_ path: String) throws(ListenerServiceError) {
        self.path = path
        do throws(SystemError) {
            file = try OutputFile(replacing: path)
            try file.append(BTSnoopWriter.header)
        } catch {
            throw .refused(.system, "--record \(path): it cannot be written: \(error.text)")
        }
    }

    func append(_ packet: HCIPacket, isFromController: Bool) {
        guard !hasEnded else { return }
        do throws(SystemError) {
            try file.append(
                BTSnoopWriter.record(
                    packet, isFromController: isFromController, unixMicroseconds: WallClock.microseconds()))
        } catch {
            hasEnded = true
            onEnd?("--record \(path): the recording ends here: \(error.text)")
        }
    }
}
