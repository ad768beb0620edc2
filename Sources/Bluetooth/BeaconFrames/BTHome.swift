public import BluetoothTypes

/// A packet of BTHome v2, a format of service data that Home Assistant decodes without configuration
/// (bthome.io/format).
///
/// The layout is `D2 FC | device information | objects`; an object has an object id and a value. In an encrypted
/// packet, the ciphertext and `counter u32 | MIC[4]` replace the objects (bthome.io/encryption). EddystoneSecurity
/// encrypts and decrypts packets. All numbers are sent least significant byte first. A packet does not identify its
/// sender, so receivers use the device address for that.
public struct BTHome: EncodableFrame {
    /// The device information. Bit 0 is set in an encrypted packet. Bit 2 is set if the device sends packets only when
    /// an event happens. Bits 5...7 are the version of the format, which is 2.
    public let information: UInt8
    /// The bytes after the device information; only the first ``length`` bytes are valid.
    private let storage: FixedOctets<26>
    private let length: UInt8

    /// 0xFCD2, the service UUID that the Bluetooth SIG assigned to Allterco Robotics for BTHome.
    public static let serviceUUID: UInt16 = 0xFCD2
    /// The number of bytes after the device information that fit into a legacy advertisement without Flags.
    public static let limit = 26
    /// The size of the counter and the message integrity check together, in bytes.
    static let trailerLength = 8

    /// A packet with the bytes after the device information; `nil` if there are more than 26.
    private init?(information: UInt8, _ span: Span<UInt8>) {
        guard span.count <= Self.limit else { return nil }
        var storage = FixedOctets<26>()
        for index in 0..<span.count { storage[index] = span[index] }
        self.information = information
        self.storage = storage
        length = UInt8(truncatingIfNeeded: span.count)
    }

    /// A packet with any bytes after the device information; `nil` if there are more than 26.
    public init?(information: UInt8, data: [UInt8]) { self.init(information: information, data.span) }

    /// The bytes after the device information.
    public var data: [UInt8] { Array(storage.octets.prefix(Int(length))) }
    public var isEncrypted: Bool { information & 1 != 0 }
    /// True if the device only sends packets when an event happens.
    public var isTriggerBased: Bool { information & 4 != 0 }
}

extension BTHome {
    /// Reads service data with the UUID of BTHome, which the caller has checked. `nil` if the version is not 2, if
    /// there are more than 26 bytes after the device information, or if an encrypted packet is too short for a counter
    /// and a MIC.
    @inline(__always)
    init?(serviceData data: Span<UInt8>) {
        guard data[2] >> 5 == 2, data[2] & 1 == 0 || data.count >= 3 + Self.trailerLength else { return nil }
        self.init(information: data[2], data.extracting(3..<data.count))
    }

    /// A packet that is not encrypted. Its objects are sorted by their ids, which the format requires.
    ///
    /// - Parameter isTriggerBased: True if the device only sends packets when an event happens.
    /// - Throws: ``BeaconFrameError`` if the objects need more than 26 bytes.
    public init(_ objects: [BTHomeObject], isTriggerBased: Bool = false) throws(BeaconFrameError) {
        var octets: [UInt8] = []
        for id in Set(objects.map(\.kind.id)).sorted() {
            for object in objects where object.kind.id == id { octets += object.encoded }
        }
        guard let packet = Self(information: isTriggerBased ? 0x44 : 0x40, octets.span) else {
            throw Self.tooLong(octets.count)
        }
        self = packet
    }

    /// Returns the error for a packet with `count` bytes after the device information.
    private static func tooLong(_ count: Int) -> BeaconFrameError {
        .problem(
            LintProblem(
                .dataTooLong, at: limit, "the BTHome packet has \(count) bytes, more than the limit of \(limit)"))
    }

    /// An encrypted packet.
    ///
    /// - Parameters:
    ///   - information: The device information. This initialiser sets the bit for encryption.
    ///   - counter: The counter of the encryption. Each packet with the same key and address must have a different
    ///     counter.
    /// - Throws: ``BeaconFrameError`` if ciphertext, counter and MIC have more than 26 bytes together.
    public init(
        information: UInt8, ciphertext: [UInt8], counter: UInt32, mic: FixedOctets<4>
    ) throws(BeaconFrameError) {
        var octets = ciphertext
        octets.append(littleEndian: counter)
        octets += mic.octets
        guard let packet = Self(information: information | 1, octets.span) else {
            throw Self.tooLong(octets.count)
        }
        self = packet
    }

    /// The parts of an encrypted packet; `nil` for a packet that is not encrypted.
    public var sealed: (ciphertext: [UInt8], counter: UInt32, mic: [UInt8])? {
        guard isEncrypted, length >= Self.trailerLength else { return nil }
        let data = data
        let start = data.count - Self.trailerLength
        return (Array(data[..<start]), data.span.uint32LittleEndian(at: start), Array(data[(start + 4)...]))
    }

    /// The objects of the packet, up to the first object that is unknown or truncated; empty for an encrypted packet.
    public var objects: [BTHomeObject] {
        guard !isEncrypted else { return [] }
        let data = data
        var objects: [BTHomeObject] = []
        var cursor = BTHomeCursor(data.indices)
        while let element = cursor.next(in: data), let kind = element.kind, !element.isCut {
            objects.append(BTHomeObject(kind, octets: Array(data[element.data])))
        }
        return objects
    }

    /// The service data, without Flags.
    public var adStructures: [ADStructure] { [.serviceData(Self.serviceUUID, [information] + data)] }

    /// Checks that the packet may be sent.
    ///
    /// - Throws: ``BeaconFrameError`` for objects that are unknown, truncated or out of order.
    public func validate() throws(BeaconFrameError) {
        // If the packet is too long, advertisingData(flags:) throws the error, and no error is thrown here.
        guard let packet = try? AdvertisingData(adStructures) else { return }
        if let problem = packet.lint().first { throw .problem(problem) }
    }

    /// A description of the packet in one line.
    var sentence: String {
        guard let sealed else {
            let objects = objects
            return "BTHome " + (objects.isEmpty ? "without values" : objects.map(\.description).joined(separator: ", "))
        }
        return "BTHome, encrypted: \(Hexadecimal.text(sealed.ciphertext)), counter \(sealed.counter), "
            + "MIC \(Hexadecimal.text(sealed.mic))"
    }
}

/// Reads the objects of a packet one after the other.
struct BTHomeCursor {
    /// The offset of the next object.
    private var offset: Int
    /// The end of the packet's bytes.
    private let end: Int

    /// An object of the packet, or an unknown object id with all bytes after it.
    struct Element {
        /// The offset of the object id.
        let offset: Int
        /// The kind of the object; `nil` for an unknown object id. The length of an unknown object is unknown too, so
        /// all bytes after the id are its ``data``.
        let kind: BTHomeKind?
        let data: Range<Int>
        /// True if the packet ends before the object does.
        let isCut: Bool
    }

    init(_ range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    mutating func next(in octets: [UInt8]) -> Element? {
        guard offset < end else { return nil }
        let start = offset
        offset = end
        guard let kind = BTHomeKind(id: octets[start]) else {
            return Element(offset: start, kind: nil, data: start + 1..<end, isCut: false)
        }
        var (dataStart, size) = (start + 1, kind.size)
        if size == 0 {
            guard dataStart < end else { return Element(offset: start, kind: kind, data: dataStart..<end, isCut: true) }
            size = kind.form == .command ? Int(octets[dataStart] & 0x1F) + 1 : Int(octets[dataStart])
            dataStart += 1
        }
        let isCut = end - dataStart < size
        offset = min(end, dataStart + size)
        return Element(offset: start, kind: kind, data: dataStart..<offset, isCut: isCut)
    }
}

/// Checks the rules of bthome.io/format.
extension PayloadLinter {
    /// Checks service data. `element` must contain at least a 16-bit UUID.
    mutating func checkBTHome(_ element: ADElement) {
        guard octets.span.uint16LittleEndian(at: element.data.lowerBound) == BTHome.serviceUUID else { return }
        let data = element.data.dropFirst(2)
        guard let informationOffset = data.first else {
            return report(.btHomeLength, at: element.offset, "the BTHome service data contains no device information")
        }
        if octets[informationOffset] & 0xFA != 0x40 {
            report(
                .btHomeInformation, at: informationOffset,
                "the device information " + Hexadecimal.number(octets[informationOffset], width: 2)
                    + " must have version 2 in its upper three bits, and 0 in bits 1, 3 and 4")
        }
        let isEncrypted = octets[informationOffset] & 1 != 0
        if data.count - 1 <= (isEncrypted ? BTHome.trailerLength : 0) {
            report(.btHomeLength, at: element.offset, "the BTHome packet contains no object")
        }
        guard !isEncrypted, octets[informationOffset] >> 5 == 2 else { return }
        checkObjects(informationOffset + 1..<element.data.upperBound)
    }

    private mutating func checkObjects(_ range: Range<Int>) {
        var cursor = BTHomeCursor(range)
        var previousID: UInt8 = 0
        while let object = cursor.next(in: octets) {
            let id = octets[object.offset]
            let idText = Hexadecimal.number(id, width: 2)
            guard let kind = object.kind else {
                report(.btHomeObject, at: object.offset, "BTHome defines no object \(idText)")
                return
            }
            if object.isCut || object.data.isEmpty {
                report(.btHomeLength, at: object.offset, "the object \(idText), \(kind.name), is cut off or empty")
            } else if kind.form == .binary, octets[object.data.lowerBound] > 1 {
                report(.btHomeValue, at: object.data.lowerBound, "the value of \(kind.name) must be 0 or 1")
            } else if kind.form == .text, String(validating: octets[object.data], as: UTF8.self) == nil {
                report(.btHomeValue, at: object.data.lowerBound, "the text is not UTF-8")
            }
            if id < previousID {
                report(
                    .btHomeOrder, at: object.offset,
                    "objects must be in the order of their ids, but \(idText) comes after "
                        + Hexadecimal.number(previousID, width: 2))
            }
            previousID = id
        }
    }
}

/// Explains the bytes of a packet one by one.
extension ByteExplainer {
    mutating func explainBTHome() {
        guard let information = peek() else { return }
        note(
            "device information",
            "version \(information >> 5), \(information & 1 == 0 ? "not encrypted" : "encrypted"), "
                + (information & 4 == 0 ? "sent regularly" : "sent when something happens"))
        guard information >> 5 == 2 else { return noteRemainingAsData("data") }
        if information & 1 != 0 {
            noteBytes("ciphertext", count: max(0, remainingCount - BTHome.trailerLength), value: "encrypted objects")
            let counter = peek(count: 4)?.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            noteBytes("counter", count: 4, value: counter.map { "\($0)" } ?? "")
            let mic = peek(count: 4).map { Hexadecimal.text($0) } ?? ""
            return noteBytes("message integrity check", count: 4, value: mic)
        }
        let packet = Array(peek(count: remainingCount) ?? [])
        var cursor = BTHomeCursor(packet.indices)
        while let object = cursor.next(in: packet) {
            guard let kind = object.kind else {
                note("object", "unknown to BTHome")
                return noteRemainingAsData("data")
            }
            note("object", kind.name)
            if kind.size == 0 {
                note("length", "\(object.data.count) bytes\(object.isCut ? " are there" : " follow")")
            }
            let octets = Array(packet[object.data])
            noteBytes(
                kind.name, count: octets.count,
                value: object.isCut || octets.isEmpty ? "cut off" : BTHomeObject(kind, octets: octets).valueText)
        }
    }
}
