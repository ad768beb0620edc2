internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import Profiles

/// What beacons have in common that differ only in values of the same classes: one look at a whole profile is enough
/// for all of them.
final class Shape: Sendable {
    /// Tells it from other shapes of the fleet.
    let hash: UInt64
    /// `nil` where the profile is not good.
    let profile: BeaconProfile?
    /// In the places of the profile.
    let problems: [FileProblem]
    let advertisements: [ShapeAdvertisement]
    /// What stands in the manifest behind a beacon's own values.
    let manifest: [ManifestSegment]
    /// What stands in each line of its table behind them.
    let rows: [[ManifestSegment]]
    let adapter: [UInt8]?

    /// - Parameter isGeneral: Whether a slot's value is of a class rather than one of its own.
    init(_ text: [UInt8], hash: UInt64, template: FleetTemplate, isGeneral: (Int) -> Bool) {
        self.hash = hash
        let (profile, problems) = BeaconProfile.decode(text)
        self.profile = profile
        self.problems = problems
        let wanted = try? profile?.advertisements { _ in DeviceAddress(FixedOctets<6>(repeating: 0xC1)) }
        advertisements = (profile?.advertisements ?? []).enumerated().map { index, advertisement in
            let whole = wanted.flatMap { index < $0.count ? $0[index] : nil }
            return ShapeAdvertisement(advertisement, whole, radioPower: profile?.radioPower) { key in
                let path = FleetTemplate.path(index, key)
                guard let slot = template.slots.firstIndex(where: { $0.path == path }), isGeneral(slot) else {
                    return nil
                }
                return (slot, template.slots[slot].kind)
            }
        }
        adapter = profile?.adapter.map { Array($0.utf8) }
        manifest = ManifestSegment.joined(AdvertisementText.json(advertisements.map(\.text)))
        rows = advertisements.enumerated().map { index, advertisement in
            ManifestSegment.joined(advertisement.text.row(index))
        }
    }

    /// The profile's address that stands in the file.
    var explicitAddress: DeviceAddress? {
        if case .explicit(let address) = profile?.address { address } else { nil }
    }

    /// Whether the beacon sends from this address, as far as the file says so.
    func hasAddress(_ address: DeviceAddress) -> Bool {
        explicitAddress == address || advertisements.contains { $0.address == address }
    }
}

/// One advertisement of a shape.
struct ShapeAdvertisement: Sendable {
    let type: String
    let interval: AdvertisingInterval
    let pdu: AdvertisingPDU
    /// Octets of advertising data.
    let octets: Int
    /// An address of its own that stands in the file.
    let address: DeviceAddress?
    /// What the manifest says of it.
    let text: AdvertisementText

    init(
        _ advertisement: ProfileAdvertisement, _ wanted: Advertisement?, radioPower: RadioPower?,
        slot: (String) -> (number: Int, kind: SlotKind)?
    ) {
        type = advertisement.content.typeName
        interval = advertisement.interval
        pdu = wanted?.pdu ?? .nonconnectable
        octets = (try? wanted?.payloadOctetCount()) ?? PayloadLength.range.upperBound
        address = if case .explicit(let own) = advertisement.address { own } else { nil }
        let usual = PayloadLength.usual(type, isRotating: advertisement.rotatingKey != nil)
        let power = advertisement.radioPower ?? radioPower
        text = AdvertisementText(
            FleetManifest.Advertisement(
                type: type, identity: .init(advertisement.content),
                intervalMicroseconds: advertisement.requestedMicroseconds, radioPower: power.map { Int($0.dBm) },
                measuredPower: wanted.flatMap { Self.measuredPower($0, power) },
                identityKeyFile: advertisement.rotatingKey?.identityKeyFile,
                rotationExponent: advertisement.rotatingKey.map { Int($0.rotationExponent) },
                payloadOctets: usual == octets || type == "eddystone-url" ? nil : octets), slot: slot)
    }

    var traffic: FleetTraffic.Advertisement { .init(type: type, interval: interval, payloadOctets: octets) }

    /// The octet that will be sent, where it is known before the controller has been asked.
    private static func measuredPower(_ wanted: Advertisement, _ power: RadioPower?) -> Int? {
        if case .calibrated = wanted.measuredPower, power == nil { return nil }
        switch wanted.content {
        case .iBeacon, .altBeacon: return (try? wanted.measuredPower.atOneMeter(radioPower: power)).map { Int($0.dBm) }
        case .eddystoneUID, .eddystoneURL, .eddystoneEID:
            return (try? wanted.measuredPower.atZeroMeters(radioPower: power)).map { Int($0.dBm) }
        case .eddystoneTLM, .btHome, .raw: return nil
        }
    }
}

extension FleetManifest.Identity {
    fileprivate init(_ content: Advertisement.Content) {
        self =
            switch content {
            case .iBeacon(let uuid, let major, let minor, _): .iBeacon(uuid: uuid, major: major, minor: minor)
            case .altBeacon(let company, let id, _, _): .altBeacon(companyID: company, id: id)
            case .eddystoneUID(let namespace, let instance): .eddystoneUID(namespace: namespace, instance: instance)
            case .eddystoneURL(let url): .eddystoneURL(url.text)
            case .eddystoneTLM, .eddystoneEID, .btHome, .raw: .none
            }
    }
}

/// All shapes that were seen.
struct ShapeTable: Sendable {
    private(set) var shapes: [Shape] = []
    private var numbers: [[UInt8]: Int] = [:]
    private var key: [UInt8] = []
    /// Of the beacon before: those that follow each other are mostly of one shape.
    private var last: (key: [UInt8], number: Int) = ([], -1)
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
        if last.number >= 0, key == last.key { return (shapes[last.number], last.number) }
        if let known = numbers[key] {
            last = (key, known)
            return (shapes[known], known)
        }
        profile.removeAll(keepingCapacity: true)
        reader.appendProfile(to: &profile)
        let hash = StableHash.of(key, 0..<key.count)
        let shape = Shape(profile, hash: hash, template: reader.fleet.template) { index in
            SlotClass.isGeneral(slots[index].kind, types[index], values, reader.range(index))
        }
        guard shapes.count < Self.limit else { return (shape, nil) }
        shapes.append(shape)
        numbers[key] = shapes.count - 1
        return (shape, shapes.count - 1)
    }
}

/// The identity of one advertisement as octets that are the same only where it is.
enum IdentityText {
    /// Everything that tells the advertisement from others.
    static func key(_ advertisement: ShapeAdvertisement, _ reader: BeaconReader, into key: inout [UInt8]) {
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: advertisement.type.utf8)
        for (_, value, _) in advertisement.text.identity {
            key.append(0)
            append(value, reader, to: &key)
        }
    }

    /// Appends a value in the manifest's form: hexadecimal digits in lower case, a UUID with its dashes.
    static func append(_ source: AdvertisementText.Source, _ reader: BeaconReader, to text: inout [UInt8]) {
        switch source {
        case .constant(let octets): text.append(contentsOf: octets)
        case .slot(let slot, let form): ManifestSegment.append(slot, form, reader, to: &text)
        }
    }
}
