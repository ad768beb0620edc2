internal import BeaconService
internal import HCI
internal import LinuxHost
internal import Listener
internal import Sightings

/// A recording as a source of packets: btsnoop, pcap or pcapng, of any length.
final class RecordedFeed: SightingFeed {
    private let pieces: InputPieces

    /// - Parameter file: `-` for standard input.
    init(_ file: String) throws(ListenerServiceError) {
        pieces = try InputPieces(file)
    }

    func run(_ source: SightingSource, _ consumer: any SightingConsumer) throws(ListenerServiceError) {
        var reader = CaptureReader()
        var clock = RecordingClock()
        source.clock.follow(clock)
        source.change(.listening, at: clock.now)
        var hasBegun = false
        var fault: (any Error)?
        do {
            while !consumer.isSatisfied {
                let piece = try pieces.next()
                if piece.isEmpty { reader.finish() } else { reader.push(piece) }
                while let record = try reader.next() {
                    hasBegun = true
                    guard let packet = record.packet else { continue }
                    let instant = clock.instant(unixMicroseconds: record.unixMicroseconds)
                    source.clock.follow(clock)
                    source.take(packet, at: instant)
                }
                if piece.isEmpty { break }
            }
        } catch {
            fault = error
        }
        // Of what is no recording there is nothing to tell.
        if fault == nil || hasBegun { consumer.finish(at: clock.now) }
        if clock.steps > 0 {
            consumer.say(
                "\(pieces.name): the clock was set \(clock.steps) times while this was recorded", isWarning: true)
        }
        if let fault = fault as? CaptureError { throw .refused(.malformed, "\(pieces.name): \(fault)") }
        if let fault { throw ListenerServiceError(fault) }
    }
}

/// A file of any size, or standard input, read in pieces as they come: nothing is kept of those before.
public final class InputPieces {
    /// The file's name, or what stands for it in messages.
    public let name: String
    private let descriptor: Descriptor
    private static let size = 1 << 16

    /// - Parameter path: A file, a named pipe, or `-` for standard input.
    public init(_ path: String) throws(ListenerServiceError) {
        name = path == "-" ? "standard input" : path
        do throws(SystemError) {
            descriptor = path == "-" ? .standardInput : try Descriptor.open(path, .read)
        } catch {
            throw .service(BeaconServiceError(error, reading: name))
        }
    }

    /// The next octets, at most 64 KiB; empty at the end.
    public func next() throws(ListenerServiceError) -> [UInt8] {
        do throws(SystemError) {
            return try descriptor.read(upTo: Self.size)
        } catch {
            throw .service(BeaconServiceError(error, reading: name))
        }
    }
}

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

extension CaptureRecord {
    /// The packet that came from a controller, or what one would have said of a sniffer's; `nil` for all else.
    fileprivate var packet: HCIPacket? {
        switch content {
        case .hci(let packet): isFromController == false ? nil : packet
        case .advertisement(let report):
            report.type.isLegacyPDU
                ? HCIEvent.advertisingReports([report]).packet : HCIEvent.extendedAdvertisingReports([report]).packet
        case .unsupported, .other: nil
        }
    }
}
