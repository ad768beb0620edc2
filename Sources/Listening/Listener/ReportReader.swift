internal import BluetoothTypes
public import HCI
public import Sightings

/// Reads advertising reports from event packets. It allocates memory only for reports that arrive in pieces.
public struct ReportReader: Sendable {
    /// Totals of the packets that were read.
    public struct Counts: Hashable, Sendable {
        public var reports = 0
        /// Reports that were left out, because their level is outside ``ReportReader/levels``.
        public var leftOut = 0
        /// Events that could not be read completely. The reports before the error were taken.
        public var malformedEvents = 0
    }

    public private(set) var counts = Counts()
    /// The levels of the reports that are taken, in dBm; `nil` for all levels. Reports without a level are always
    /// taken.
    public var levels: ClosedRange<Int8>?
    /// A correction that is added to each level, in dB.
    public var levelOffset = 0
    private var assembler = FragmentAssembler()

    /// - Parameter levels: The levels of the reports that are taken, in dBm; `nil` for all levels.
    public init(levels: ClosedRange<Int8>? = nil) {
        self.levels = levels
    }

    /// Returns whether a report with this level is taken. An impossible level counts as no level.
    public func takes(_ level: Int8?) -> Bool {
        guard let levels, let level, LevelTally.range.contains(level) else { return true }
        return levels.contains(level)
    }

    /// The number of extended advertisements that were not completed.
    public var incomplete: Int { assembler.incomplete }

    /// Takes the event packet in `range` of `octets`, without its H4 type byte. Events without advertising reports are
    /// ignored.
    ///
    /// - Parameter each: Called with each complete report and the range of its data.
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

    /// Returns a level with the correction, in dBm. Impossible levels are returned unchanged.
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
                at: now, from: sender, rssi: level, isScanResponse: element.type.isScanResponse,
                phy: ExtendedPHY(element)),
            type: element.type, addressType: type, primaryPHY: element.primaryPHY,
            secondaryPHY: element.secondaryPHY)
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

/// A received advertisement, without its data.
public struct HeardReport: Hashable, Sendable {
    /// The time, the sender and the level.
    public let sighting: Sighting
    /// The type of the PDU; for an advertisement in pieces, that of the last piece.
    public let type: AdvertisingReportType
    public let addressType: AddressType
    /// The PHY of the advertising packet.
    public let primaryPHY: AdvertisingPHY
    /// The PHY of the packets with the data; `AdvertisingPHY.none` for legacy PDUs.
    public let secondaryPHY: AdvertisingPHY

    /// A report from a controller or the kernel.
    public init(
        sighting: Sighting, type: AdvertisingReportType, addressType: AddressType, primaryPHY: AdvertisingPHY,
        secondaryPHY: AdvertisingPHY = .none
    ) {
        self.sighting = sighting
        self.type = type
        self.addressType = addressType
        self.primaryPHY = primaryPHY
        self.secondaryPHY = secondaryPHY
    }
}

extension FragmentAssembler.Status {
    init(_ status: AdvertisingReportType.DataStatus) {
        switch status {
        case .complete: self = .complete
        case .incomplete: self = .incomplete
        case .truncated, .reserved: self = .truncated
        }
    }
}

extension ExtendedPHY {
    /// The physical layers of a report; `nil` for legacy PDUs. A report names the coding S=2 only if the host has asked
    /// for that; without this request, a report of LE Coded may be of either coding.
    fileprivate init?(_ element: AdvertisingReportElement) {
        guard !element.type.isLegacyPDU else { return nil }
        let layers = [element.primaryPHY, element.secondaryPHY]
        self =
            layers.contains(.leCodedS2)
            ? .codedS2 : layers.contains(.leCoded) ? .coded : layers.contains(.le2M) ? .le2M : .le1M
    }
}
