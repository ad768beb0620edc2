public import BluetoothTypes

/// A beacon frame of one of the known types.
public enum BeaconFrame: Hashable, Sendable {
    case iBeacon(IBeacon)
    case altBeacon(AltBeacon)
    case eddystoneUID(EddystoneUID)
    case eddystoneURL(EddystoneURL)
    case eddystoneTLM(EddystoneTLM)
    case eddystoneEncryptedTLM(EddystoneEncryptedTLM)
    case eddystoneEID(EddystoneEID)
    case btHome(BTHome)

    /// The name of the type in `--json`.
    public var typeName: String {
        switch self {
        case .iBeacon: "ibeacon"
        case .altBeacon: "altbeacon"
        case .eddystoneUID: "eddystone-uid"
        case .eddystoneURL: "eddystone-url"
        case .eddystoneTLM: "eddystone-tlm"
        case .eddystoneEncryptedTLM: "eddystone-etlm"
        case .eddystoneEID: "eddystone-eid"
        case .btHome: "bthome"
        }
    }
}

/// The contents of a frame, which can be encoded as advertising data.
public protocol EncodableFrame: Hashable, Sendable {
    /// The AD structures of the frame, without Flags. Forbidden values are encoded too; ``validate()`` reports them.
    var adStructures: [ADStructure] { get }
    /// Checks that the frame may be sent.
    ///
    /// - Throws: ``BeaconFrameError`` for a value that the frame's specification forbids.
    func validate() throws(BeaconFrameError)
}

extension EncodableFrame {
    /// Returns the payload: Flags (none if `flags` is `nil`) and the structures of the frame.
    ///
    /// - Throws: ``BeaconFrameError`` for a value that the frame's specification forbids, and for more than 31 bytes.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        try validate()
        do throws(AdvertisingDataError) {
            return try AdvertisingData((flags.map { [.flags($0)] } ?? []) + adStructures)
        } catch {
            throw .advertisingData(error)
        }
    }
}

extension MeasuredPower {
    /// Checks that the measured power may be sent.
    func checkRange() throws(BeaconFrameError) {
        do throws(ValueOutOfRange) {
            _ = try Self(dBm: Int(dBm))
        } catch {
            throw .measuredPower(error)
        }
    }
}

extension BeaconFrame: EncodableFrame {
    private var contents: any EncodableFrame {
        switch self {
        case .iBeacon(let frame): frame
        case .altBeacon(let frame): frame
        case .eddystoneUID(let frame): frame
        case .eddystoneURL(let frame): frame
        case .eddystoneTLM(let frame): frame
        case .eddystoneEncryptedTLM(let frame): frame
        case .eddystoneEID(let frame): frame
        case .btHome(let frame): frame
        }
    }

    public var adStructures: [ADStructure] { contents.adStructures }
    public func validate() throws(BeaconFrameError) { try contents.validate() }
}

/// Decodes received bytes without allocating memory.
extension BeaconFrame {
    /// The first frame in the advertising data in `range` of `span`; `nil` if there is none.
    ///
    /// Decoding is lenient. It accepts any measured power, any reserved bytes, Eddystone frames without a list of
    /// service UUIDs, and old Eddystone-UID frames without reserved bytes. `AdvertisingData.lint(in:)` reports such
    /// faults. A structure whose length, frame type or version the specification does not define is skipped. The result
    /// is `nil` if the range is outside the span.
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

    /// The first frame in `data`; `nil` if there is none.
    public init?(decoding data: AdvertisingData) {
        self.init(decoding: data.octets.span, range: data.octets.indices)
    }

    /// The frame in one AD structure of `span`; `nil` if the structure contains no known frame or is outside the span.
    public init?(_ element: ADElement, in span: Span<UInt8>) {
        guard element.data.lowerBound >= 0, element.data.upperBound <= span.count else { return nil }
        self.init(structure: element, in: span)
    }

    /// Decodes a structure, which must be inside the span.
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
        guard data.count > 2 else { return nil }
        let service = data.uint16LittleEndian(at: 0)
        if service == BTHome.serviceUUID {
            guard let packet = BTHome(serviceData: data) else { return nil }
            self = .btHome(packet)
            return
        }
        guard service == Eddystone.serviceUUID, let type = Eddystone.FrameType(rawValue: data[2]) else { return nil }
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

/// Decoded advertising data: its AD structures, and the frames of known types in them. ``data`` returns all original
/// bytes.
public struct DecodedAdvertisingData: Hashable, Sendable {
    /// The complete AD structures of known and unknown types, up to an early termination or a truncated structure.
    public let structures: [ADStructure]
    /// The bytes after the structures: none, the zeros of an early termination, or a truncated structure.
    public let remainder: [UInt8]
    /// All frames of known types, in their order in the data.
    public let frames: [BeaconFrame]
    /// The rules that the bytes break.
    public let problems: [LintProblem]

    /// Decodes any bytes. ``problems`` lists what is wrong with them.
    ///
    /// - Parameter container: The kind of packet that contained the data.
    public init(_ data: AdvertisingData, in container: AdvertisingContainer = .legacyPDU) {
        var structures: [ADStructure] = []
        var frames: [BeaconFrame] = []
        var cursor = ADStructureCursor(data.octets.indices)
        while let element = cursor.next(in: data.octets.span) {
            structures.append(ADStructure(element.type, Array(data.octets[element.data])))
            if let frame = BeaconFrame(element, in: data.octets.span) { frames.append(frame) }
        }
        self.structures = structures
        self.frames = frames
        remainder = Array(data.octets[cursor.offset...])
        problems = data.lint(in: container)
    }

    /// The original bytes, encoded again from ``structures`` and ``remainder``.
    public var data: AdvertisingData {
        var octets: [UInt8] = []
        for structure in structures {
            octets.append(UInt8(truncatingIfNeeded: structure.data.count + 1))
            octets.append(structure.type.rawValue)
            octets += structure.data
        }
        return AdvertisingData(octets: octets + remainder)
    }
}

/// The reason why a frame may not be sent.
public enum BeaconFrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A measured power that the frame's specification forbids.
    case measuredPower(ValueOutOfRange)
    /// A URL that is empty or has reserved bytes.
    case url(URLEncodingError)
    /// More bytes than fit into an advertisement.
    case advertisingData(AdvertisingDataError)
    /// BTHome objects that are too long, or that the BTHome format forbids.
    case problem(LintProblem)

    public var description: String {
        switch self {
        case .measuredPower(let error): error.description
        case .url(let error): error.description
        case .advertisingData(let error): error.description
        case .problem(let problem): problem.message
        }
    }
}

/// Describes a frame in one line.
extension BeaconFrame {
    /// The frame in one line: type, identifiers and measured power, or the telemetry's values.
    public var sentence: String {
        switch self {
        case .iBeacon(let frame):
            "iBeacon \(frame.uuid), major \(frame.major), minor \(frame.minor), \(frame.measuredPower)"
        case .altBeacon(let frame):
            "AltBeacon \(frame.beaconID), company \(Hexadecimal.number(frame.companyID, width: 4)), "
                + "\(frame.measuredPower)"
        case .eddystoneUID(let frame):
            "Eddystone-UID \(frame.namespace) \(frame.instance), \(frame.measuredPower)"
        case .eddystoneURL(let frame):
            "Eddystone-URL \(frame.url.text), \(frame.measuredPower)"
        case .eddystoneTLM(let frame):
            "Eddystone-TLM \(Self.battery(frame)), \(Self.temperature(frame)), \(frame.advertisements) advertisements, "
                + "up \(frame.uptimeText) s"
        case .eddystoneEncryptedTLM(let frame):
            "Eddystone-TLM, encrypted: \(frame.encrypted), salt \(Self.hex(frame.salt)), MIC \(Self.hex(frame.mic))"
        case .eddystoneEID(let frame):
            "Eddystone-EID \(frame.id), \(frame.measuredPower)"
        case .btHome(let frame): frame.sentence
        }
    }

    private static func battery(_ frame: EddystoneTLM) -> String {
        frame.batteryMillivolts.map { "\($0) mV" } ?? "battery unknown"
    }

    private static func temperature(_ frame: EddystoneTLM) -> String {
        frame.temperature.map { "\($0)" } ?? "temperature unknown"
    }

    private static func hex(_ number: UInt16) -> String { Hexadecimal.number(number, width: 4) }
}

extension EddystoneTLM {
    /// The time since power-on (SEC_CNT) in seconds, with at most one digit after the decimal point.
    public var uptimeText: String { DecimalText.thousandths(Int(uptimeDeciseconds) * 100) }
}
