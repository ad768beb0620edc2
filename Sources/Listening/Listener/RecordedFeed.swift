internal import BeaconService
internal import HCI
internal import LinuxHost
internal import Sightings

/// Reads packets from a btsnoop, pcap or pcapng recording of any length.
final class RecordedFeed: SightingFeed {
    private let pieces: InputPieces

    /// - Parameter file: The path, or `-` for standard input.
    init(_ file: String) throws(ListenerServiceError) {
        pieces = try InputPieces(file)
    }

    /// Reads an input whose first bytes may have been read with ``InputPieces/peek(_:)``.
    init(_ pieces: InputPieces) { self.pieces = pieces }

    func run(_ source: SightingSource, _ consumer: any SightingConsumer) throws(ListenerServiceError) {
        var reader = CaptureReader()
        var clock = RecordingClock()
        source.clock.follow(clock)
        source.change(.listening, at: clock.now)
        var scan = RecordedScan()
        var hasBegun = false
        var fault: (any Error)?
        do {
            while !consumer.isSatisfied {
                let piece = try pieces.next()
                if piece.isEmpty { reader.finish() } else { reader.push(piece) }
                while let isRead = try reader.next({ take($0, $1, &clock, &scan, source) }) {
                    hasBegun = hasBegun || isRead
                }
                if piece.isEmpty { break }
            }
        } catch {
            fault = error
        }
        // A gap that has not ended means that the scan was off at the end of the recording.
        if let gap = scan.gap {
            source.advance(to: gap.since)
            source.change(.off, at: gap.since)
        }
        // Without a single packet there is no result.
        if fault == nil || hasBegun { consumer.finish(at: clock.now) }
        if scan.filtersDuplicates {
            consumer.say(
                "\(pieces.name): the recorded scan filtered duplicates: intervals, shares and silences are not reliable",
                isWarning: true)
        }
        if clock.steps > 0 {
            consumer.say(
                "\(pieces.name): the clock was set \(clock.steps == 1 ? "once" : "\(clock.steps) times") while this was recorded",
                isWarning: true)
        }
        if let fault = fault as? CaptureError { throw .refused(.malformed, "\(pieces.name): \(fault)") }
        if let fault { throw ListenerServiceError(fault) }
    }

    /// Takes a packet. A packet of a controller is not copied; a sniffer's packet is converted into the event that a
    /// controller would send. Returns `false` for packets of an unsupported link type.
    private func take(
        _ element: CaptureElement, _ octets: Span<UInt8>, _ clock: inout RecordingClock, _ scan: inout RecordedScan,
        _ source: SightingSource
    ) -> Bool {
        if element.drops > 0 { source.counts.lostInKernel = Int(element.drops) }
        switch element.kind {
        case .hci(.event) where element.isFromController != false:
            let instant = clock.instant(unixMicroseconds: element.unixMicroseconds)
            source.clock.follow(clock)
            guard
                case .listened(let gap) = scan.take(
                    event: octets, in: element.octets, of: element.adapter, at: instant)
            else { return true }
            if let gap {
                source.advance(to: gap.since)
                source.change(gap.state, at: gap.since)
                source.advance(to: instant)
                source.change(.listening, at: instant)
            }
            source.take(event: octets, in: element.octets, at: instant)
        case .hci(.command) where element.isFromController != true:
            scan.take(command: octets, in: element.octets)
        case .hci where element.isFromController != false:
            _ = clock.instant(unixMicroseconds: element.unixMicroseconds)
        case .air:
            guard case .advertisement(let report) = CaptureRecord(element, in: octets).content else { return true }
            let event: HCIEvent =
                report.type.isLegacyPDU ? .advertisingReports([report]) : .extendedAdvertisingReports([report])
            let packet = event.packet.octets
            let instant = clock.instant(unixMicroseconds: element.unixMicroseconds)
            source.clock.follow(clock)
            source.take(event: packet.span, in: packet.indices, at: instant)
        case .unsupported: return false
        case .hci, .other: break
        }
        return true
    }
}

/// A file of any size, or standard input. It is read in pieces, and only the current piece is in memory.
public final class InputPieces {
    /// The name for messages.
    public let name: String
    private let descriptor: Descriptor
    /// The bytes that ``peek(_:)`` has read and ``next()`` has not returned yet.
    private var peeked: [UInt8] = []
    /// The largest size of a piece, in bytes.
    private static let size = 1 << 16

    /// - Parameter path: A file, a named pipe, or `-` for standard input.
    public init(_ path: String) throws(ListenerServiceError) {
        name = Files.inputName(path)
        do throws(SystemError) {
            descriptor = path == "-" ? .standardInput : try Descriptor.open(path, .read)
        } catch {
            throw .service(BeaconServiceError(error, reading: name))
        }
    }

    /// Returns the first bytes without taking them: at least `count`, unless the input is shorter.
    public func peek(_ count: Int = 16) throws(ListenerServiceError) -> [UInt8] {
        while peeked.count < count {
            let piece = try read()
            if piece.isEmpty { break }
            peeked += piece
        }
        return peeked
    }

    /// Returns the next bytes, at most 64 KiB; empty at the end.
    public func next() throws(ListenerServiceError) -> [UInt8] {
        guard peeked.isEmpty else {
            defer { peeked = [] }
            return peeked
        }
        return try read()
    }

    private func read() throws(ListenerServiceError) -> [UInt8] {
        do throws(SystemError) {
            return try descriptor.read(upTo: Self.size)
        } catch {
            throw .service(BeaconServiceError(error, reading: name))
        }
    }
}

/// A btsnoop file that is written while packets arrive. If it cannot be written any more, only the recording ends.
final class PacketRecording {
    private let file: OutputFile
    private let path: String
    private var hasEnded = false

    init(_ path: String) throws(ListenerServiceError) {
        self.path = path
        do throws(SystemError) {
            file = try OutputFile(replacing: path)
            try file.append(BTSnoopWriter.header)
        } catch {
            throw .refused(.system, "--record \(path): it cannot be written: \(error.text)")
        }
    }

    /// Writes a packet that was sent or received at `time`.
    ///
    /// - Parameter drops: The number of packets that the kernel has dropped so far.
    /// - Returns: The reason why the recording ends with this packet, in one sentence; `nil` if it continues, or if it
    ///   had already ended.
    func append(_ packet: HCIPacket, isFromController: Bool, at time: HCIInstant, drops: Int) -> String? {
        guard !hasEnded else { return nil }
        let age = HCIInstant(nanoseconds: MonotonicClock.nanoseconds()).microseconds(since: time)
        do throws(SystemError) {
            try file.append(
                BTSnoopWriter.record(
                    packet, isFromController: isFromController,
                    unixMicroseconds: WallClock.microseconds() - Int64(age), drops: drops))
            return nil
        } catch {
            hasEnded = true
            return "--record \(path): the recording ends here: \(error.text)"
        }
    }
}
