internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Profiles

extension FleetAllocation {
    /// Fills the template for one beacon, decodes the result as a profile, and checks it. The same fleet and the same
    /// lock give the same bytes.
    ///
    /// - Parameters:
    ///   - index: The position of the beacon, 0..<``count``, in the order of the fleet file.
    ///   - keys: The contents of the directory that the fleet file names for its keys; `nil` if it names no directory.
    public func beacon(_ index: Int, keys: FleetKeyFolder? = nil) -> GeneratedBeacon {
        let beacon = fleet.beacons[index]
        let identity = identity(of: index)
        let filler = TemplateFiller(fleet, index, identity)
        var result = GeneratedBeacon(index: index, name: beacon.name)
        func add(_ message: String, _ origin: ValueOrigin, severity: FileProblem.Severity = .error) {
            let problem = fleet.place(origin, of: beacon).problem(message, severity: severity)
            result.problems.append(
                .init(problem: problem, suffix: suffix(origin, beacon.name), isAboutCell: origin.isCell))
        }
        guard filler.faults.isEmpty else {
            for fault in filler.faults { add(fault.message, fault.origin) }
            return result
        }
        result.profile = fleet.template.text(filler.values)
        let (profile, problems) = BeaconProfile.decode(result.profile)
        for problem in problems {
            // An error about an unknown key belongs to the template, even if the value of the key comes from a
            // variable.
            let origin = problem.isAboutKey ? filler.originOfKey(at: problem.path) : filler.origin(of: problem.path)
            add(problem.message + lostZeros(of: problem, origin, index, identity), origin, severity: problem.severity)
        }
        guard let profile,
            let advertisements = try? profile.advertisements(staticAddress: { _ in DeviceAddress(FixedOctets<6>()) })
        else { return result }
        var entry = entry(beacon, identity, profile, advertisements, Fingerprint.text(of: result.profile))
        (entry.tags, entry.attachments) = (filler.tags, filler.attachments)
        result.beacon = entry
        result.machineAdvertisements = zip(entry.advertisements, advertisements).map { listed, advertisement in
            .init(
                type: listed.type, interval: advertisement.interval, pattern: advertisement.pattern,
                phy: advertisement.phy,
                payloadOctets: (try? advertisement.payloadOctetCount()) ?? FleetManifest.payloadRange.upperBound)
        }
        if let controller = fleet.controller(of: beacon) {
            for fault in controller.faults(of: advertisements, entry) {
                add(fault.message, filler.origin(of: fault.path))
            }
        }
        for (advertisementIndex, advertisement) in entry.advertisements.enumerated() {
            guard let file = advertisement.keyName, let fault = keys?.fault(file) else { continue }
            let origin = filler.origin(of: FleetTemplate.path(advertisementIndex, "identityKeyFile"))
            let place = origin.isCell ? fleet.place(origin, of: beacon) : fleet.place(of: beacon)
            result.problems.append(.init(problem: place.problem(fault), suffix: ""))
        }
        result.claims = claims(profile, entry, filler)
        return result
    }

    /// Returns the end of a message about a cell from which a spreadsheet has removed leading zeros; empty for other
    /// problems.
    private func lostZeros(
        of problem: FileProblem, _ origin: ValueOrigin, _ index: Int, _ identity: FleetAllocation.Identity
    ) -> String {
        var beacon = fleet.beacons[index]
        guard problem.isError, case .column(let column) = origin,
            let (name, variable) = beacon.variables.first(where: {
                if case .column(column) = $0.value.origin { true } else { false }
            }), case .cell(let text) = variable.value,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return "" }
        for zeros in 1...3 {
            let restored = String(repeating: "0", count: zeros) + text
            beacon.variables[name]?.value = .cell(restored)
            let filler = TemplateFiller(fleet, index, identity, as: beacon)
            let (_, problems) = BeaconProfile.decode(fleet.template.text(filler.values))
            guard problems.contains(where: { $0.isError && $0.path == problem.path }) else {
                let lostText = zeros == 1 ? "a leading zero" : "\(zeros) leading zeros"
                return "; the cell \"\(text)\" has lost \(lostText), as in \"\(restored)\": in the spreadsheet, format "
                    + "this column as text"
            }
        }
        return ""
    }

    /// Returns the end of a message about a variable of a group or of a beacon. It states the name of the beacon. Empty
    /// for other messages.
    private func suffix(_ origin: ValueOrigin, _ name: String) -> String {
        guard case .node(let node) = origin, origin.closeness > 0, node.path.components.contains(.key("variables"))
        else { return "" }
        return " (the beacon \"\(name)\")"
    }

    private func entry(
        _ beacon: Fleet.Beacon, _ identity: FleetAllocation.Identity, _ profile: BeaconProfile,
        _ advertisements: [Advertisement], _ hash: String
    ) -> FleetManifest.Beacon {
        let address: DeviceAddress? = if case .explicit(let address) = profile.address { address } else { nil }
        return FleetManifest.Beacon(
            name: beacon.name, title: beacon.title, group: fleet.groups[beacon.group].path, host: beacon.host,
            serial: beacon.serial,
            controller: fleet.controller(of: beacon)?.rawValue, adapter: profile.adapter, address: address,
            position: beacon.position, profileHash: hash, eidEpoch: identity.epoch,
            advertisements: zip(profile.advertisements, advertisements).map { ofProfile, advertisement in
                .init(ofProfile, advertisement, radioPower: ofProfile.radioPower ?? profile.radioPower)
            })
    }

    /// Returns the values that no other beacon may have.
    private func claims(
        _ profile: BeaconProfile, _ entry: FleetManifest.Beacon, _ filler: TemplateFiller
    ) -> [GeneratedBeacon.Claim] {
        var claims: [GeneratedBeacon.Claim] = []
        for (index, advertisement) in entry.advertisements.enumerated() {
            func origin(_ key: String) -> ValueOrigin { filler.origin(of: FleetTemplate.path(index, key)) }
            if let keys = advertisement.identity.keys {
                claims.append(
                    .init(value: .identity(advertisement.identity), origin: keys.map(origin).first(where: \.isCell)))
            }
            if case .explicit(let address) = profile.advertisements[index].address {
                claims.append(.init(value: .address(address), origin: origin("address")))
            }
            if let file = advertisement.keyName {
                claims.append(.init(value: .keyFile(file), origin: origin("identityKeyFile")))
            }
        }
        if let address = entry.address, !fleet.template.hasAddress {
            claims.append(.init(value: .address(address), origin: filler.origin(of: JSONPath([.key("address")]))))
        }
        return claims
    }
}

/// A beacon with its profile, its entry in the manifest, and its problems.
public struct GeneratedBeacon: Sendable {
    /// A value that no two beacons may share.
    struct Claim {
        enum Value: Hashable {
            case identity(FleetManifest.Identity)
            case address(DeviceAddress)
            case keyFile(String)
        }

        var value: Value
        /// The place of the value in the files; `nil` to report problems at the place of the beacon.
        var origin: ValueOrigin?
    }

    struct Problem {
        var problem: FileProblem
        /// The end of the message. It names the beacon. If several problems differ only in this end, the first of them
        /// is listed.
        var suffix: String
        /// `true` for a problem of a table's cell. If several cells of a column have the same problem, only the first
        /// is listed, and the others are counted.
        var isAboutCell = false
    }

    /// The position of the beacon in the order of the fleet file.
    let index: Int
    public let name: String
    /// The text of the profile, which is written to the file `NAME.json`; empty if the template cannot be filled.
    public internal(set) var profile: [UInt8] = []
    /// The beacon's entry in the manifest; `nil` if the profile has an error.
    public internal(set) var beacon: FleetManifest.Beacon?
    /// The advertisements of the machine, each with its type, interval and length.
    var machineAdvertisements: [FleetTraffic.Advertisement] = []
    var problems: [Problem] = []
    var claims: [Claim] = []

    init(index: Int, name: String) {
        self.index = index
        self.name = name
    }
}

extension FleetManifest.Advertisement {
    /// The name of the key file without its directories; `nil` if the advertisement has no identity key.
    var keyName: String? {
        identityKeyFile.map { path in path.split(separator: "/").last.map(String.init) ?? path }
    }

    fileprivate init(_ ofProfile: ProfileAdvertisement, _ advertisement: Advertisement, radioPower: RadioPower?) {
        let type = ofProfile.content.typeName
        let usualSize = Self.usualPayloadSize(type, isRotating: ofProfile.rotatingKey != nil)
        let size = (try? advertisement.payloadOctetCount()) ?? FleetManifest.payloadRange.upperBound
        self.init(
            type: type, identity: .init(ofProfile.content), intervalMicroseconds: ofProfile.requestedMicroseconds,
            pattern: ofProfile.pattern, phy: ofProfile.phy, radioPower: radioPower.map { Int($0.dBm) },
            measuredPower: Self.measuredPower(advertisement, radioPower),
            identityKeyFile: ofProfile.rotatingKey?.identityKeyFile,
            rotationExponent: ofProfile.rotatingKey.map { Int($0.rotationExponent) },
            payloadOctets: usualSize == size || type == "eddystone-url" ? nil : size)
    }

    /// Returns the measured power in the packet; `nil` if it depends on the power that the controller selects.
    private static func measuredPower(_ advertisement: Advertisement, _ power: RadioPower?) -> Int? {
        if case .calibrated = advertisement.measuredPower, power == nil { return nil }
        switch advertisement.content {
        case .iBeacon, .altBeacon:
            return (try? advertisement.measuredPower.atOneMeter(radioPower: power)).map { Int($0.dBm) }
        case .eddystoneUID, .eddystoneURL, .eddystoneEID:
            return (try? advertisement.measuredPower.atZeroMeters(radioPower: power)).map { Int($0.dBm) }
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

    /// The keys of the profile that contain the identity; `nil` for kinds of identities that several beacons may share.
    fileprivate var keys: [String]? {
        switch self {
        case .iBeacon: ["uuid", "major", "minor"]
        case .altBeacon: ["companyId", "id"]
        case .eddystoneUID: ["namespace", "instance"]
        case .eddystoneURL, .none: nil
        }
    }
}
