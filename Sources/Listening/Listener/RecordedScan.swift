internal import BluetoothTypes
internal import HCI
internal import Sightings

/// Whether the scan of a recording was on, by the commands and the answers that were recorded with the reports: silence
/// counts only while somebody listened.
///
/// A recording that does not tell was listened to throughout. So was one of several adapters with reports: while one of them
/// rests the other one hears.
struct RecordedScan {
    /// A time in which nothing could be heard.
    struct Gap: Equatable {
        /// Since the last sign that the scan was on, or since it was turned off.
        let since: HeardInstant
        let state: ListeningState
    }

    /// What an event says of the time before it.
    enum Sign: Equatable {
        /// Nothing yet: the next one will tell.
        case none
        /// It was listened to, but for this gap, which is over.
        case listened(Gap?)
    }

    /// Reports that lay somewhere on their way may still come for so long after the scan was turned off, in microseconds.
    private static let tail = 1_000_000
    private static let enables = [LESetScanEnable.opcode, LESetExtendedScanEnable.opcode]
    private static let parameters = [LESetScanParameters.opcode, LESetExtendedScanParameters.opcode]

    /// The time since which nothing can be heard, as far as is known.
    private(set) var gap: Gap?
    /// Whether a scan of the recording leaves repeats out.
    private(set) var filtersDuplicates = false
    /// What was asked for last, and is not answered yet.
    private var asked: (isOn: Bool, filters: Bool)?
    /// The last sign that the scan was on; `nil` before the first one.
    private var proven: HeardInstant?
    private var adapter: UInt16?
    private var isOfSeveral = false

    init() {}

    /// Takes a command packet, without its H4 type octet, that fills `range` of `octets`.
    mutating func take(command octets: Span<UInt8>, in range: Range<Int>) {
        guard range.count >= 5,
            Self.enables.contains(HCIOpcode(rawValue: octets.uint16LittleEndian(at: range.lowerBound)))
        else { return }
        asked = (octets[range.lowerBound + 3] != 0, octets[range.lowerBound + 4] != 0)
    }

    /// Takes an event packet, without its H4 type octet, that fills `range` of `octets`.
    mutating func take(
        event octets: Span<UInt8>, in range: Range<Int>, of adapter: UInt16?, at now: HeardInstant
    ) -> Sign {
        let start = range.lowerBound
        let isReport =
            range.count > 2 && octets[start] == HCIEventCode.leMeta
            && (octets[start + 2] == LESubevent.advertisingReport
                || octets[start + 2] == LESubevent.extendedAdvertisingReport)
        if isReport {
            if proven != nil, adapter != self.adapter { isOfSeveral = true }
            if let gap, gap.state == .paused, now.microseconds(since: gap.since) < Self.tail { return .listened(nil) }
            return prove(adapter, at: now)
        }
        // Before the first sign nobody can tell a silence from a scan that is not on yet.
        guard proven == nil || adapter == self.adapter else { return .none }
        guard range.count >= 6, octets[start] == HCIEventCode.commandComplete else { return undecided }
        let opcode = HCIOpcode(rawValue: octets.uint16LittleEndian(at: start + 3))
        let status = HCIStatus(rawValue: octets[start + 5])
        switch opcode {
        case _ where Self.enables.contains(opcode) && status.isSuccess:
            guard let asked else { return undecided }
            self.asked = nil
            if asked.isOn {
                filtersDuplicates = filtersDuplicates || asked.filters
                return prove(adapter, at: now)
            }
            lose(since: now, .paused)
        case _ where Self.parameters.contains(opcode) && status == .commandDisallowed:
            // It is refused while the controller scans.
            return prove(adapter, at: now)
        case _ where (opcode == HCIReset.opcode || Self.parameters.contains(opcode)) && status.isSuccess:
            if let proven { lose(since: proven, .recovering) }
        default: break
        }
        return undecided
    }

    private var undecided: Sign { proven == nil ? .listened(nil) : .none }

    private mutating func prove(_ adapter: UInt16?, at now: HeardInstant) -> Sign {
        if proven == nil { self.adapter = adapter }
        proven = now
        defer { gap = nil }
        return .listened(gap)
    }

    private mutating func lose(since instant: HeardInstant, _ state: ListeningState) {
        guard proven != nil, gap == nil, !isOfSeveral else { return }
        gap = Gap(since: instant, state: state)
    }
}
