internal import BluetoothTypes
internal import Configuration

/// A piece of a manifest's line: always the same for a shape, or what fills a slot.
enum ManifestSegment: Sendable {
    case literal([UInt8])
    case slot(Int, Form)

    /// How a slot's value is written.
    enum Form: Sendable {
        case plain
        /// Lower-case digits.
        case hexadecimal
        /// Lower-case digits with a UUID's dashes.
        case uuid
        /// As a JSON string.
        case quoted
        /// As a cell of a table.
        case cell
    }

    fileprivate static func text(_ text: String) -> ManifestSegment { .literal(Array(text.utf8)) }

    static func append(_ segments: [ManifestSegment], _ reader: BeaconReader, to text: inout [UInt8]) {
        for segment in segments {
            switch segment {
            case .literal(let octets): text.append(contentsOf: octets)
            case .slot(let slot, let form): append(slot, form, reader, to: &text)
            }
        }
    }

    static func append(_ slot: Int, _ form: Form, _ reader: BeaconReader, to text: inout [UInt8]) {
        let value = reader.values[reader.range(slot)]
        switch form {
        case .plain: text.append(contentsOf: value)
        case .quoted: text.append(quoted: value)
        case .cell: text.append(cell: value)
        case .hexadecimal, .uuid:
            var digits = 0
            for octet in value where octet != UInt8(ascii: "-") {
                if form == .uuid, digits == 8 || digits == 12 || digits == 16 || digits == 20 {
                    text.append(UInt8(ascii: "-"))
                }
                text.append(octet >= UInt8(ascii: "A") && octet <= UInt8(ascii: "F") ? octet | 0x20 : octet)
                digits += 1
            }
        }
    }

    /// The text of segments among which there is no slot.
    static func text(_ segments: [ManifestSegment]) -> [UInt8] {
        var text: [UInt8] = []
        for case .literal(let octets) in segments { text += octets }
        return text
    }

    /// Literals that follow each other become one.
    static func joined(_ segments: [ManifestSegment]) -> [ManifestSegment] {
        var result: [ManifestSegment] = []
        for segment in segments {
            if case .literal(let more) = segment, case .literal(let text) = result.last {
                result[result.count - 1] = .literal(text + more)
            } else {
                result.append(segment)
            }
        }
        return result
    }
}

/// What a manifest says of one advertisement, as text: values that are always the same, and slots of a template.
struct AdvertisementText: Sendable {
    /// The text of a value.
    enum Source: Sendable {
        case constant([UInt8])
        /// What fills the slot, in this form.
        case slot(Int, ManifestSegment.Form)
    }

    /// Keys of the manifest with their values, in its order.
    private(set) var identity: [(name: String, value: Source, isNumber: Bool)] = []
    private(set) var url: Source?
    private(set) var keyFile: Source?
    private let own: FleetManifest.Advertisement

    /// As a value says it.
    init(_ advertisement: FleetManifest.Advertisement) {
        own = advertisement
        func constant(_ text: String) -> Source { .constant(Array(text.utf8)) }
        switch advertisement.identity {
        case .iBeacon(let uuid, let major, let minor):
            identity = [
                ("uuid", constant(uuid.uuidText), false), ("major", constant("\(major)"), true),
                ("minor", constant("\(minor)"), true),
            ]
        case .altBeacon(let company, let id):
            identity = [
                ("companyId", constant(Hexadecimal.number(company, width: 4)), false),
                ("id", constant(id.description), false),
            ]
        case .eddystoneUID(let namespace, let instance):
            identity = [
                ("namespace", constant(namespace.description), false),
                ("instance", constant(instance.description), false),
            ]
        case .eddystoneURL(let url): self.url = constant(url)
        case .none: break
        }
        keyFile = advertisement.identityKeyFile.map(constant)
    }

    /// As a shape says it.
    ///
    /// - Parameter slot: The slot at a key of the advertisement, where one is there and of a class.
    init(_ advertisement: FleetManifest.Advertisement, slot: (_ key: String) -> (number: Int, kind: SlotKind)?) {
        self.init(advertisement)
        for index in identity.indices {
            let name = identity[index].name
            guard let slot = slot(name) else { continue }
            let form: ManifestSegment.Form =
                slot.kind == .hexadecimal ? name == "uuid" ? .uuid : .hexadecimal : .plain
            identity[index].value = .slot(slot.number, form)
        }
        if url != nil, let slot = slot("url") { url = .slot(slot.number, .plain) }
        if keyFile != nil, let slot = slot("identityKeyFile") { keyFile = .slot(slot.number, .plain) }
    }

    private static func plain(_ source: Source) -> ManifestSegment {
        switch source {
        case .constant(let octets): .literal(octets)
        case .slot(let slot, let form): .slot(slot, form)
        }
    }

    private static func quoted(_ source: Source) -> ManifestSegment {
        switch source {
        case .constant(let octets): .text(JSONValue.string(String(decoding: octets, as: UTF8.self)).line)
        case .slot(let slot, _): .slot(slot, .quoted)
        }
    }

    private static func cell(_ source: Source?) -> ManifestSegment {
        switch source {
        case .constant(let octets): .text(FleetManifest.cell(String(decoding: octets, as: UTF8.self)))
        case .slot(let slot, _): .slot(slot, .cell)
        case nil: .literal([])
        }
    }

    /// The list of advertisements in `manifest.json`, with the end of the beacon's object.
    static func json(_ advertisements: [AdvertisementText]) -> [ManifestSegment] {
        var result: [ManifestSegment] = [.text(",\"advertisements\":[")]
        for (index, advertisement) in advertisements.enumerated() {
            let own = advertisement.own
            result.append(.text((index > 0 ? "," : "") + "{\"type\":\(JSONValue.string(own.type).line)"))
            for (name, source, isNumber) in advertisement.identity {
                result.append(.text(",\"\(name)\":" + (isNumber ? "" : "\"")))
                result.append(plain(source))
                if !isNumber { result.append(.text("\"")) }
            }
            if let url = advertisement.url { result += [.text(",\"url\":"), quoted(url)] }
            var rest = ",\"intervalMs\":" + DecimalText.thousandths(own.intervalMicroseconds)
            if let power = own.radioPower { rest += ",\"radioPowerDbm\":\(power)" }
            if let power = own.measuredPower { rest += ",\"measuredPowerDbm\":\(power)" }
            result.append(.text(rest))
            if let file = advertisement.keyFile { result += [.text(",\"identityKeyFile\":"), quoted(file)] }
            if let exponent = own.rotationExponent { result.append(.text(",\"rotationExponent\":\(exponent)")) }
            if let octets = own.payloadOctets { result.append(.text(",\"payloadOctets\":\(octets)")) }
            result.append(.text("}"))
        }
        return result + [.text("]}")]
    }

    /// The columns of `manifest.csv` behind those of the beacon.
    static let columns =
        ["advertisement", "type"] + identityColumns + [
            "url", "intervalMs", "radioPowerDbm", "measuredPowerDbm", "identityKeyFile", "rotationExponent",
            "payloadOctets",
        ]
    private static let identityColumns = ["uuid", "major", "minor", "companyId", "id", "namespace", "instance"]

    /// The cells of ``columns``, with the end of the line.
    ///
    /// - Parameter index: Which of the beacon's advertisements, from 0.
    func row(_ index: Int) -> [ManifestSegment] {
        var result: [ManifestSegment] = [.text("\(index + 1),"), .text(FleetManifest.cell(own.type) + ",")]
        for column in Self.identityColumns {
            if let value = identity.first(where: { $0.name == column })?.value { result.append(Self.plain(value)) }
            result.append(.text(","))
        }
        func number(_ value: Int?) -> String { value.map { "\($0)," } ?? "," }
        result += [Self.cell(url), .text("," + DecimalText.thousandths(own.intervalMicroseconds) + ",")]
        result.append(.text(number(own.radioPower) + number(own.measuredPower)))
        result += [Self.cell(keyFile), .text("," + number(own.rotationExponent))]
        result.append(.text((own.payloadOctets.map { "\($0)" } ?? "") + "\r\n"))
        return result
    }

    /// The advertisement of the beacon that the reader has filled.
    func value(_ reader: BeaconReader) -> FleetManifest.Advertisement {
        func text(_ source: Source) -> String? {
            guard case .slot(let slot, _) = source else { return nil }
            return String(decoding: reader.values[reader.range(slot)], as: UTF8.self)
        }
        func octets<let count: Int>(_ index: Int, _ constant: FixedOctets<count>) -> FixedOctets<count> {
            text(identity[index].value).flatMap { try? FixedOctets(hexadecimal: $0) } ?? constant
        }
        func number(_ index: Int, _ constant: UInt16) -> UInt16 {
            text(identity[index].value).flatMap { UInt16($0) } ?? constant
        }
        var result = own
        switch own.identity {
        case .iBeacon(let uuid, let major, let minor):
            result.identity = .iBeacon(uuid: octets(0, uuid), major: number(1, major), minor: number(2, minor))
        case .altBeacon(let company, let id): result.identity = .altBeacon(companyID: company, id: octets(1, id))
        case .eddystoneUID(let namespace, let instance):
            result.identity = .eddystoneUID(namespace: octets(0, namespace), instance: octets(1, instance))
        case .eddystoneURL(let constant): result.identity = .eddystoneURL(url.flatMap(text) ?? constant)
        case .none: break
        }
        if let keyFile { result.identityKeyFile = text(keyFile) ?? own.identityKeyFile }
        return result
    }
}
