internal import BluetoothTypes
public import HCI
public import Sightings

/// Reads advertising reports out of event packets and hands them to a `Sightings/Hearing`, without allocating for a
/// report that is whole.
public struct ReportReader: Sendable {
    /// What was read.
    public struct Counts: Hashable, Sendable {
        public var reports = 0
        /// Reports below the level that was asked for.
        public var weak = 0
        /// Events that could not be read to their end; the reports before the fault were taken.
        public var malformedEvents = 0
    }

    public private(set) var counts = Counts()
    /// Reports that are weaker, in dBm, are left out; those without a level are not.
    public var minimumLevel: Int8?
    private var assembler = FragmentAssembler()

    /// A reader of everything at and above `minimumLevel` dBm.
    public init(minimumLevel: Int8? = nil) {
        self.minimumLevel = minimumLevel
    }

    /// Extended advertisements whose end was lost.
    public var incomplete: Int { assembler.incomplete }

    /// Takes the event packet, without the H4 type octet, that fills `range` of `octets`; what is no advertising report
    /// is passed over.
    ///
    /// - Parameter each: Is told each report that is whole, with its beacon's place in the table of `hearing`, and its
    ///   data where that came in pieces; otherwise it lies in `octets`.
    public mutating func take(
        event octets: Span<UInt8>, in range: Range<Int>, at now: HeardInstant, _ hearing: inout Hearing,
        each: (AdvertisingReportElement, Int?, [UInt8]?) -> Void
    ) {
        do throws(HCIEventError) {
            guard var cursor = try AdvertisingReportCursor(event: octets, in: range) else { return }
            while let element = try cursor.next(in: octets) { take(element, octets, now, &hearing, each) }
        } catch {
            counts.malformedEvents += 1
        }
    }

    private mutating func take(
        _ element: AdvertisingReportElement, _ octets: Span<UInt8>, _ now: HeardInstant, _ hearing: inout Hearing,
        _ each: (AdvertisingReportElement, Int?, [UInt8]?) -> Void
    ) {
        counts.reports += 1
        if let minimumLevel, let rssi = element.rssi, rssi < minimumLevel {
            counts.weak += 1
            return
        }
        let type = element.addressType
        let sender =
            type == .anonymous
            ? nil
            : Sender(element.address(in: octets), isRandom: type != .publicDevice && type != .publicIdentity)
        let sighting = Sighting(
            at: now, from: sender, rssi: element.rssi, isScanResponse: element.type.isScanResponse)
        switch assembler.take(
            .init(
                sender: sender, isScanResponse: element.type.isScanResponse, setIdentifier: element.setIdentifier),
            .init(element.type.dataStatus), octets, element.data, at: now)
        {
        case .pending: return
        case .whole:
            each(element, hearing.hear(sighting, octets, element.data), nil)
        case .assembled:
            let whole = assembler.assembled
            each(element, hearing.hear(sighting, whole.span, whole.indices), whole)
        }
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
