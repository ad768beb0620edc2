internal import BluetoothTypes
internal import HCI
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Synchronization

/// What the wall clock shows at a moment of the clock of hearing: the machine's own, or that of a recording.
final class ScanWallClock: Sendable {
    /// The program listens to one thing at a time.
    static let shared = ScanWallClock()

    private let recording = Mutex<RecordingClock?>(nil)

    /// From now on the moments are those of a recording.
    func follow(_ clock: RecordingClock) { recording.withLock { $0 = clock } }

    /// Microseconds since 1970; `nil` where a recording has not told.
    func unixMicroseconds(at instant: HeardInstant) -> Int64? {
        recording.withLock { clock in
            if let clock { return clock.unixMicroseconds(at: instant) }
            let now = HeardInstant(nanoseconds: MonotonicClock.nanoseconds())
            let wall = Int64(WallClock.microseconds())
            return instant <= now
                ? wall - Int64(now.microseconds(since: instant)) : wall + Int64(instant.microseconds(since: now))
        }
    }
}

/// One report, before it is printed.
struct ScanReport {
    let element: AdvertisingReportElement
    let address: DeviceAddress
    let data: [UInt8]
    let place: Int?
}

/// Takes packets in their order, live or recorded, and has printed what comes of them.
final class ScanEngine {
    private(set) var hearing: Hearing
    private(set) var reader: ReportReader
    let output: ScanOutput
    /// Reports of the packet that is being read, where each of them is printed.
    private var reports: [ScanReport] = []

    init(_ hearing: Hearing, _ reader: ReportReader, _ output: ScanOutput) {
        self.hearing = hearing
        self.reader = reader
        self.output = output
    }

    /// Takes a packet from a controller, after everything that was due before it.
    func take(_ packet: HCIPacket, at instant: HeardInstant) {
        guard packet.kind == .event else { return }
        advance(to: instant)
        let octets = packet.octets
        guard output.form == .reports else {
            reader.take(event: octets.span, in: octets.indices, at: instant, &hearing) { _, _, _ in }
            return
        }
        var found = reports
        reports = []
        reader.take(event: octets.span, in: octets.indices, at: instant, &hearing) { element, place, assembled in
            found.append(
                ScanReport(
                    element: element, address: element.address(in: octets.span),
                    data: assembled ?? Array(octets[element.data]), place: place))
        }
        for report in found { output.show(report, hearing.table, at: instant) }
        found.removeAll(keepingCapacity: true)
        reports = found
    }

    /// Prints what is due up to `instant`.
    func advance(to instant: HeardInstant) {
        while let event = hearing.nextEvent(until: instant) { output.show(event, hearing.table, reader) }
    }

    func begin(at instant: HeardInstant) { hearing.begin(at: instant) }
    func becomeDeaf(at instant: HeardInstant) { hearing.becomeDeaf(at: instant) }
    func becomeHearing(at instant: HeardInstant) { hearing.becomeHearing(at: instant) }

    /// Nothing more comes: prints what is left.
    func finish(at instant: HeardInstant) {
        advance(to: instant)
        if let event = hearing.finish(at: instant) { output.show(event, hearing.table, reader) }
        output.finish(hearing.table, at: instant)
    }
}

/// A recording as a source of packets: btsnoop, pcap or pcapng, of any length.
struct ScanReplay {
    private let pieces: InputPieces

    /// - Parameter file: `-` for standard input.
    init(_ file: String) throws {
        pieces = try InputPieces(file)
    }

    /// Reads to the end.
    ///
    /// - Throws: where the recording cannot be followed any further; what came before has been told.
    func run(_ engine: ScanEngine) throws {
        var reader = CaptureReader()
        var clock = RecordingClock()
        ScanWallClock.shared.follow(clock)
        var hasBegun = false
        var fault: (any Error)?
        do {
            while !Terminal.outputIsGone {
                let piece = try pieces.next()
                if piece.isEmpty { reader.finish() } else { reader.push(piece) }
                while let record = try reader.next() {
                    hasBegun = true
                    guard let packet = record.packet else { continue }
                    let instant = clock.instant(unixMicroseconds: record.unixMicroseconds)
                    ScanWallClock.shared.follow(clock)
                    engine.take(packet, at: instant)
                }
                if piece.isEmpty { break }
            }
        } catch {
            fault = error
        }
        // Of what is no recording there is no table.
        if fault == nil || hasBegun { engine.finish(at: clock.now) }
        if clock.steps > 0 {
            Terminal.writeError(
                "pharos: \(pieces.name): the clock was set \(clock.steps) times while this was recorded\n")
        }
        if let fault = fault as? CaptureError { throw Failure(.dataFormat, "\(pieces.name): \(fault)") }
        if let fault { throw fault }
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
