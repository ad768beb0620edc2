internal import BluetoothTypes
internal import HCI
internal import Sightings

/// Finds the times in which the scan of a recording was off, from recorded commands and answers.
///
/// If a recording has no such commands, the receiver is assumed to have listened all the time. This is also assumed if
/// a recording has reports of several adapters, because another adapter may receive while one is off.
struct RecordedScan {
    /// A time in which nothing could be received.
    struct Gap: Equatable {
        /// The time of the last sign that the scan was on, or the time at which the scan was turned off.
        let since: HeardInstant
        let state: ListeningState
    }

    /// The conclusion from an event about the time before it.
    enum Sign: Equatable {
        /// It is not known yet whether the receiver listened.
        case none
        /// The receiver listened, except in this gap, which has ended.
        case listened(Gap?)
    }

    /// The time after the scan was turned off in which reports may still arrive, in microseconds: 1 s.
    private static let tail = 1_000_000
    private static let enables = [LESetScanEnable.opcode, LESetExtendedScanEnable.opcode]
    private static let parameters = [LESetScanParameters.opcode, LESetExtendedScanParameters.opcode]

    /// The current gap; `nil` while the scan is on, or if it is not known.
    private(set) var gap: Gap?
    /// True if a scan of the recording filtered duplicates.
    private(set) var filtersDuplicates = false
    /// The last request to turn the scan on or off that was not answered yet.
    private var request: (isOn: Bool, filtersDuplicates: Bool)?
    /// The time of the last sign that the scan was on; `nil` before the first one.
    private var lastProof: HeardInstant?
    /// The adapter whose packets contained the first sign that the scan was on.
    private var adapter: UInt16?
    /// True if the recording has signs of several adapters.
    private var hasSeveralAdapters = false

    init() {}

    /// Takes the command packet in `range` of `octets`, without its H4 type byte.
    mutating func take(command octets: Span<UInt8>, in range: Range<Int>) {
        guard range.count >= 5,
            Self.enables.contains(HCIOpcode(rawValue: octets.uint16LittleEndian(at: range.lowerBound)))
        else { return }
        request = (octets[range.lowerBound + 3] != 0, octets[range.lowerBound + 4] != 0)
    }

    /// Takes the event packet in `range` of `octets`, without its H4 type byte.
    mutating func take(
        event octets: Span<UInt8>, in range: Range<Int>, of adapter: UInt16?, at now: HeardInstant
    ) -> Sign {
        let start = range.lowerBound
        let isReport =
            range.count > 2 && octets[start] == HCIEventCode.leMeta
            && (octets[start + 2] == LESubevent.advertisingReport
                || octets[start + 2] == LESubevent.extendedAdvertisingReport)
        if isReport {
            if lastProof != nil, adapter != self.adapter { hasSeveralAdapters = true }
            if let gap, gap.state == .paused, now.microseconds(since: gap.since) < Self.tail { return .listened(nil) }
            return prove(adapter, at: now)
        }
        // Before the first sign, silence cannot be distinguished from a scan that is not on yet.
        guard lastProof == nil || adapter == self.adapter else { return .none }
        guard range.count >= 6, octets[start] == HCIEventCode.commandComplete else { return undecided }
        let opcode = HCIOpcode(rawValue: octets.uint16LittleEndian(at: start + 3))
        let status = HCIStatus(rawValue: octets[start + 5])
        switch opcode {
        case _ where Self.enables.contains(opcode) && status.isSuccess:
            guard let request else { return undecided }
            self.request = nil
            if request.isOn {
                filtersDuplicates = filtersDuplicates || request.filtersDuplicates
                return prove(adapter, at: now)
            }
            beginGap(since: now, .paused)
        case _ where Self.parameters.contains(opcode) && status == .commandDisallowed:
            // A controller refuses scan parameters while it scans.
            return prove(adapter, at: now)
        case _ where (opcode == HCIReset.opcode || Self.parameters.contains(opcode)) && status.isSuccess:
            if let lastProof { beginGap(since: lastProof, .recovering) }
        default: break
        }
        return undecided
    }

    /// The conclusion from an event that does not show whether the scan is on.
    private var undecided: Sign { lastProof == nil ? .listened(nil) : .none }

    private mutating func prove(_ adapter: UInt16?, at now: HeardInstant) -> Sign {
        if lastProof == nil { self.adapter = adapter }
        lastProof = now
        defer { gap = nil }
        return .listened(gap)
    }

    private mutating func beginGap(since instant: HeardInstant, _ state: ListeningState) {
        guard lastProof != nil, gap == nil, !hasSeveralAdapters else { return }
        gap = Gap(since: instant, state: state)
    }
}
