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

    /// The same for a structure that is known to lie inside the span. Its data are cut out once; from there on every
    /// offset is a constant, and the check of the length makes all further checks superfluous.
    @inline(__always)
    private init?(structure element: ADElement, in span: Span<UInt8>) {
        switch element.type.rawValue {
        case 0xFF: self.init(manufacturerData: span.extracting(element.data))
        case 0x16: self.init(serviceData: span.extracting(element.data))
        default: return nil
        }
    }

    @inline(__always)
    private init?(manufacturerData data: Span<UInt8>) {
        if let frame = IBeacon(manufacturerData: data) {
            self = .iBeacon(frame)
        } else if let frame = AltBeacon(manufacturerData: data) {
            self = .altBeacon(frame)
        } else {
            return nil
        }
    }

    @inline(__always)
    private init?(serviceData data: Span<UInt8>) {
        guard data.count > 2, data.uint16LittleEndian(at: 0) == Eddystone.serviceUUID,
            let type = Eddystone.FrameType(rawValue: data[2])
        else { return nil }
        let frame = data.extracting(2..<data.count)
        switch type {
        case .uid:
            guard let value = EddystoneUID(frame: frame) else { return nil }
            self = .eddystoneUID(value)
        case .url:
            guard let value = EddystoneURL(frame: frame) else { return nil }
            self = .eddystoneURL(value)
        case .tlm:
            if let value = EddystoneTLM(frame: frame) {
                self = .eddystoneTLM(value)
            } else if let value = EddystoneEncryptedTLM(frame: frame) {
                self = .eddystoneEncryptedTLM(value)
            } else {
                return nil
            }
        case .eid:
            guard let value = EddystoneEID(frame: frame) else { return nil }
            self = .eddystoneEID(value)
        }
    }
}
