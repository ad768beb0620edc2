public import BluetoothTypes

/// The fast path: from received octets to the frame in them, without a single allocation.
extension BeaconFrame {
    /// The first frame in the advertising data that `range` of `span` holds; `nil` where there is none.
    ///
    /// Lenient: powers and reserved octets are taken as they are, Eddystone is recognised without its list of service
    /// UUIDs, and old Eddystone-UID frames without their reserved octets. ``AdvertisingData/lint(limit:)`` tells what
    /// is wrong. A length, frame type or version that is not the specification's makes no frame. A range outside the
    /// span holds none either.
    public init?(decoding span: Span<UInt8>, range: Range<Int>) {
        guard range.lowerBound >= 0, range.upperBound <= span.count else { return nil }
        var cursor = ADStructureCursor(range)
        while let element = cursor.next(in: span) {
            if let frame = BeaconFrame(structure: element, in: span) {
                self = frame
                return
            }
        }
        return nil
    }

    /// The first frame in `data`.
    public init?(decoding data: AdvertisingData) {
        self.init(decoding: data.octets.span, range: data.octets.indices)
    }

    /// The frame in one AD structure of `span`; `nil` for every other structure, and for one outside the span.
    public init?(_ element: ADElement, in span: Span<UInt8>) {
        guard element.data.lowerBound >= 0, element.data.upperBound <= span.count else { return nil }
        self.init(structure: element, in: span)
    }

    /// The same for a structure that is known to lie inside the span.
    @inline(__always)
    private init?(structure element: ADElement, in span: Span<UInt8>) {
        switch element.type.rawValue {
        case 0xFF: self.init(manufacturerData: element.data, in: span)
        case 0x16: self.init(serviceData: element.data, in: span)
        default: return nil
        }
    }

    @inline(__always)
    private init?(manufacturerData range: Range<Int>, in span: Span<UInt8>) {
        if let frame = IBeacon(manufacturerData: range, in: span) {
            self = .iBeacon(frame)
        } else if let frame = AltBeacon(manufacturerData: range, in: span) {
            self = .altBeacon(frame)
        } else {
            return nil
        }
    }

    @inline(__always)
    private init?(serviceData range: Range<Int>, in span: Span<UInt8>) {
        guard range.count > 2, span.uint16LittleEndian(at: range.lowerBound) == Eddystone.serviceUUID,
            let type = Eddystone.FrameType(rawValue: span[range.lowerBound + 2])
        else { return nil }
        let frame = range.lowerBound + 2..<range.upperBound
        switch type {
        case .uid:
            guard let value = EddystoneUID(frame: frame, in: span) else { return nil }
            self = .eddystoneUID(value)
        case .url:
            guard let value = EddystoneURL(frame: frame, in: span) else { return nil }
            self = .eddystoneURL(value)
        case .tlm:
            if let value = EddystoneTLM(frame: frame, in: span) {
                self = .eddystoneTLM(value)
            } else if let value = EddystoneEncryptedTLM(frame: frame, in: span) {
                self = .eddystoneEncryptedTLM(value)
            } else {
                return nil
            }
        case .eid:
            guard let value = EddystoneEID(frame: frame, in: span) else { return nil }
            self = .eddystoneEID(value)
        }
    }
}
