internal import BluetoothTypes
public import HCI
public import Sightings

/// Reads advertising reports out of event packets, without allocating for a report that is whole.
public struct ReportReader: Sendable {
    /// What was read.
    public struct Counts: Hashable, Sendable {
        public var reports = 0
        /// Reports whose level is not among those that were asked for.
        public var leftOut = 0
        /// Events that could not be read to their end; the reports before the fault were taken.
        public var malformedEvents = 0
    }

    public private(set) var counts = Counts()
    /// Reports of other levels, in dBm, are left out; those without a level are not. `nil` for all.
    public var levels: ClosedRange<Int8>?
    /// What the receiver shows too little, in dB: it is added to each level.
    public var levelOffset = 0
    private var assembler = FragmentAssembler()

    /// A reader of everything that has one of these levels in dBm, or none.
    public init(levels: ClosedRange<Int8>? = nil) {
        self.levels = levels
    }

    /// Whether a report of this level is to be told. What no receiver can say is no level.
    public func takes(_ level: Int8?) -> Bool {
        guard let levels, let level, LevelTally.range.contains(level) else { return true }
        return levels.contains(level)
    }

    /// Extended advertisements whose end was lost.
    public var incomplete: Int { assembler.incomplete }

    /// Takes the event packet, without the H4 type octet, that fills `range` of `octets`; what is no advertising report
    /// is passed over.
    ///
    /// - Parameter each: Is told each report that is whole, and where its data lies.
    public mutating func take(
        event octets: Span<UInt8>, in range: Range<Int>, at now: HeardInstant,
        each: (HeardReport, Span<UInt8>, Range<Int>) -> Void
    ) {
        do throws(HCIEventError) {
            guard var cursor = try AdvertisingReportCursor(event: octets, in: range) else { return }
            while let element = try cursor.next(in: octets) { take(element, octets, now, each) }
        } catch {
            counts.malformedEvents += 1
        }
    }

    /// A level with the offset, in dBm. What no receiver can say stays what it is.
    public func corrected(_ level: Int8?) -> Int8? {
        guard levelOffset != 0, let level, LevelTally.range.contains(level) else { return level }
        let range = LevelTally.range
        return Int8(clamping: min(Int(range.upperBound), max(Int(range.lowerBound), Int(level) + levelOffset)))
    }

    private mutating func take(
        _ element: AdvertisingReportElement, _ octets: Span<UInt8>, _ now: HeardInstant,
        _ each: (HeardReport, Span<UInt8>, Range<Int>) -> Void
    ) {
        counts.reports += 1
        let level = corrected(element.rssi)
        guard takes(level) else {
            counts.leftOut += 1
            return
        }
        let type = element.addressType
        let sender =
            type == .anonymous
            ? nil
            : Sender(element.address(in: octets), isRandom: type != .publicDevice && type != .publicIdentity)
        let report = HeardReport(
            sighting: Sighting(
                at: now, from: sender, rssi: level, isScanResponse: element.type.isScanResponse),
            type: element.type, addressType: type, primaryPHY: element.primaryPHY)
        switch assembler.take(
            .init(
                sender: sender, isScanResponse: element.type.isScanResponse, setIdentifier: element.setIdentifier),
            .init(element.type.dataStatus), octets, element.data, at: now)
        {
        case .pending: return
        case .whole: each(report, octets, element.data)
        case .assembled:
            let whole = assembler.assembled
            each(report, whole.span, whole.indices)
        }
    }
}

/// One advertisement that was heard, without its data.
public struct HeardReport: Hashable, Sendable {
    /// When, from whom, and how strong.
    public let sighting: Sighting
    /// Which PDU was heard; of one that came in pieces, the last piece's.
    public let type: AdvertisingReportType
    public let addressType: AddressType
    /// Of the advertising packet.
    public let primaryPHY: AdvertisingPHY

    /// A report as a controller, or the kernel, tells of it.
    public init(sighting: Sighting, type: AdvertisingReportType, addressType: AddressType, primaryPHY: AdvertisingPHY) {
        self.sighting = sighting
        self.type = type
        self.addressType = addressType
        self.primaryPHY = primaryPHY
    }
}

extension FragmentAssembler.Status {
    fileprivate init(_ status: AdvertisingReportType.DataStatus) {
        switch status {
        case .complete: self = .complete
        case .incomplete: self = .incomplete
        case .truncated, .reserved: self = .truncated
        }
    }
}
