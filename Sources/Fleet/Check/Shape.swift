internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import Profiles

/// What beacons have in common that differ only in values of the same classes: one look at a whole profile is enough
/// for all of them.
struct Shape: Sendable {
    /// `nil` where the profile is not good.
    let profile: BeaconProfile?
    /// In the places of the profile.
    let problems: [FileProblem]
    let advertisements: [ShapeAdvertisement]
    /// What stands in the manifest behind a beacon's own values.
    let manifest: [ManifestSegment]
    /// What stands in each line of its table behind them.
    let rows: [[ManifestSegment]]
    /// The adapter in the manifest, and in its table.
    let adapterMember: [UInt8]
    let adapterCell: [UInt8]

    /// The text of a value: always the same, or what fills a slot.
    enum Source: Sendable {
        case constant([UInt8])
        case slot(Int)
    }

    /// - Parameter isGeneral: Whether a slot's value is of a class rather than one of its own.
    init(_ text: [UInt8], template: FleetTemplate, isGeneral: (Int) -> Bool) {
        let (profile, problems) = BeaconProfile.decode(text)
        self.profile = profile
        self.problems = problems
        func slot(_ path: JSONPath) -> Int? {
            template.slots.firstIndex { $0.path == path }.flatMap { isGeneral($0) ? $0 : nil }
        }
        let wanted = try? profile?.advertisements { _ in DeviceAddress(FixedOctets<6>(repeating: 0xC1)) }
        let advertisements = (profile?.advertisements ?? []).enumerated().map { index, advertisement in
            let path = JSONPath([.key("advertisements"), .index(index)])
            let whole = wanted.flatMap { index < $0.count ? $0[index] : nil }
            return ShapeAdvertisement(advertisement, whole, radioPower: profile?.radioPower) { slot(path.key($0)) }
        }
        self.advertisements = advertisements
        let adapter = profile?.adapter
        adapterMember = adapter.map { Array((",\"adapter\":" + JSONValue.string($0).line).utf8) } ?? []
        adapterCell = adapter.map { Array(FleetManifest.cell($0).utf8) } ?? []
        let slots = template.slots
        manifest = ManifestSegment.joined(ManifestSegment.json(advertisements, slots))
        rows = advertisements.enumerated().map { index, advertisement in
            ManifestSegment.joined(ManifestSegment.row(advertisement, index, slots))
        }
    }
}

/// One advertisement of a shape.
struct ShapeAdvertisement: Sendable {
    let type: String
    let requestedMicroseconds: Int
    let interval: AdvertisingInterval
    let pdu: AdvertisingPDU
    /// Octets of advertising data.
    let octets: Int
    /// The same where the type does not say it.
    let unusualOctets: Int?
    let radioPower: Int?
    let measuredPower: Int?
    /// Names in the manifest and where their values are, in its order.
    let identity: [(name: String, value: Shape.Source, isNumber: Bool)]
    let url: Shape.Source?
    let keyFile: Shape.Source?
    let rotationExponent: Int?
    /// An address of its own that stands in the file.
    let address: DeviceAddress?

    init(
        _ advertisement: ProfileAdvertisement, _ wanted: Advertisement?, radioPower: RadioPower?,
        slot: (String) -> Int?
    ) {
        type = advertisement.content.typeName
        requestedMicroseconds = advertisement.requestedMicroseconds
        interval = advertisement.interval
        pdu = wanted?.pdu ?? .nonconnectable
        octets = (try? wanted?.payloadOctetCount()) ?? PayloadLength.range.upperBound
        let usual = PayloadLength.usual(type, isRotating: advertisement.rotatingKey != nil)
        unusualOctets = usual == octets || type == "eddystone-url" ? nil : octets
        let power = advertisement.radioPower ?? radioPower
        self.radioPower = power.map { Int($0.dBm) }
        measuredPower = wanted.flatMap { Self.measuredPower($0, power) }
        func source(_ key: String, _ constant: String) -> Shape.Source {
            slot(key).map { .slot($0) } ?? .constant(Array(constant.utf8))
        }
        switch advertisement.content {
        case .iBeacon(let uuid, let major, let minor, _):
            identity = [
                ("uuid", source("uuid", uuid.uuidText), false), ("major", source("major", "\(major)"), true),
                ("minor", source("minor", "\(minor)"), true),
            ]
            url = nil
        case .altBeacon(let company, let id, _, _):
            identity = [
                ("companyId", .constant(Array(Hexadecimal.number(company, width: 4).utf8)), false),
                ("id", source("id", id.description), false),
            ]
            url = nil
        case .eddystoneUID(let namespace, let instance):
            identity = [
                ("namespace", source("namespace", namespace.description), false),
                ("instance", source("instance", instance.description), false),
            ]
            url = nil
        case .eddystoneURL(let text):
            identity = []
            url = source("url", text.text)
        case .eddystoneTLM, .eddystoneEID, .raw:
            identity = []
            url = nil
        }
        keyFile = advertisement.rotatingKey?.identityKeyFile.map { source("identityKeyFile", $0) }
        rotationExponent = advertisement.rotatingKey.map { Int($0.rotationExponent) }
        address = if case .explicit(let own) = advertisement.address { own } else { nil }
    }

    /// The octet that will be sent, where it is known before the controller has been asked.
    private static func measuredPower(_ wanted: Advertisement, _ power: RadioPower?) -> Int? {
        if case .calibrated = wanted.measuredPower, power == nil { return nil }
        switch wanted.content {
        case .iBeacon, .altBeacon: return (try? wanted.measuredPower.atOneMeter(radioPower: power)).map { Int($0.dBm) }
        case .eddystoneUID, .eddystoneURL, .eddystoneEID:
            return (try? wanted.measuredPower.atZeroMeters(radioPower: power)).map { Int($0.dBm) }
        case .eddystoneTLM, .raw: return nil
        }
    }
}

/// All shapes that were seen.
struct ShapeTable: Sendable {
    private(set) var shapes: [Shape] = []
    private var numbers: [[UInt8]: Int] = [:]
    private var key: [UInt8] = []
    private var profile: [UInt8] = []
    /// More different ones than this are not remembered.
    private static let limit = 50_000

    /// The shape of the beacon that the reader has filled; without a number where there are too many to remember.
    mutating func find(_ reader: BeaconReader) -> (shape: Shape, number: Int?) {
        let slots = reader.fleet.template.slots
        let (values, types) = (reader.values, reader.types)
        key.removeAll(keepingCapacity: true)
        var keyFiles: [Range<Int>] = []
        for index in slots.indices {
            let range = reader.range(index)
            SlotClass.append(slots[index].kind, types[index], values, range, to: &key)
            if slots[index].kind == .keyFile { keyFiles.append(range) }
        }
        // Advertisements with the same key belong together.
        for (place, range) in keyFiles.enumerated() {
            for other in keyFiles[..<place] {
                key.append(values[range] == values[other] ? 1 : 0)
            }
        }
        if let known = numbers[key] { return (shapes[known], known) }
        profile.removeAll(keepingCapacity: true)
        reader.appendProfile(to: &profile)
        let shape = Shape(profile, template: reader.fleet.template) { index in
            SlotClass.isGeneral(slots[index].kind, types[index], values, reader.range(index))
        }
        guard shapes.count < Self.limit else { return (shape, nil) }
        shapes.append(shape)
        numbers[key] = shapes.count - 1
        return (shape, shapes.count - 1)
    }
}
