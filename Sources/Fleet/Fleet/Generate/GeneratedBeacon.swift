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
    ///   - number: The position of the beacon, 0..<``count``, in the order of the fleet file.
    ///   - keys: The contents of the directory that the fleet file names for its keys; `nil` when it names none.
    public func beacon(_ number: Int, keys: FleetKeyFolder? = nil) -> GeneratedBeacon {
        let beacon = fleet.beacons[number]
        let identity = identity(of: number)
        let filler = TemplateFiller(fleet, number, identity)
        var result = GeneratedBeacon(number: number, name: beacon.name)
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
            // An unknown key is an error in the template, even if its value comes from a variable.
            let origin = problem.isAboutKey ? filler.originOfKey(at: problem.path) : filler.origin(of: problem.path)
            add(problem.message + lostZeros(of: problem, origin, number, identity), origin, severity: problem.severity)
        }
        guard let profile,
            let wanted = try? profile.advertisements(staticAddress: { _ in DeviceAddress(FixedOctets<6>()) })
        else { return result }
        var entry = entry(beacon, identity, profile, wanted, Fingerprint.text(of: result.profile))
        (entry.tags, entry.attachments) = (filler.tags, filler.attachments)
        result.beacon = entry
        result.machineAdvertisements = zip(entry.advertisements, wanted).map { own, wanted in
            .init(
                type: own.type, interval: wanted.interval, pattern: wanted.pattern, phy: wanted.phy,
                payloadOctets: (try? wanted.payloadOctetCount()) ?? FleetManifest.payloadRange.upperBound)
        }
        if let controller = fleet.controller(of: beacon) {
            for fault in controller.faults(of: wanted, entry) { add(fault.message, filler.origin(of: fault.path)) }
        }
        for (index, advertisement) in entry.advertisements.enumerated() {
            guard let file = advertisement.keyName, let fault = keys?.fault(file) else { continue }
            let origin = filler.origin(of: FleetTemplate.path(index, "identityKeyFile"))
            let place = origin.isCell ? fleet.place(origin, of: beacon) : fleet.place(of: beacon)
            result.problems.append(.init(problem: place.problem(fault), suffix: ""))
        }
        result.claims = claims(profile, entry, filler)
        return result
    }

    /// The end of a message about a cell from which a spreadsheet has removed leading zeros; empty for other problems.
    private func lostZeros(
        of problem: FileProblem, _ origin: ValueOrigin, _ number: Int, _ identity: FleetAllocation.Identity
    ) -> String {
        var beacon = fleet.beacons[number]
        guard problem.isError, case .column(let column) = origin,
            let (name, variable) = beacon.variables.first(where: {
                if case .column(column) = $0.value.origin { true } else { false }
            }), case .cell(let text) = variable.value,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return "" }
        for zeros in 1...3 {
            let whole = String(repeating: "0", count: zeros) + text
            beacon.variables[name]?.value = .cell(whole)
            let filler = TemplateFiller(fleet, number, identity, as: beacon)
            let (_, rest) = BeaconProfile.decode(fleet.template.text(filler.values))
            guard rest.contains(where: { $0.isError && $0.path == problem.path }) else {
                let lost = zeros == 1 ? "a leading zero" : "\(zeros) leading zeros"
                return "; the cell \"\(text)\" has lost \(lost), as in \"\(whole)\": in the spreadsheet, format this "
                    + "column as text"
            }
        }
        return ""
    }

    /// The end of a message about a variable of a group or of a beacon, which states the name of the beacon; empty for
    /// other messages.
    private func suffix(_ origin: ValueOrigin, _ name: String) -> String {
        guard case .node(let node) = origin, origin.closeness > 0, node.path.components.contains(.key("variables"))
        else { return "" }
        return " (the beacon \"\(name)\")"
    }

    private func entry(
        _ beacon: Fleet.Beacon, _ identity: FleetAllocation.Identity, _ profile: BeaconProfile,
        _ wanted: [Advertisement], _ hash: String
    ) -> FleetManifest.Beacon {
        let address: DeviceAddress? = if case .explicit(let address) = profile.address { address } else { nil }
        return FleetManifest.Beacon(
            name: beacon.name, title: beacon.title, group: fleet.groups[beacon.group].path, host: beacon.host,
            serial: beacon.serial,
            controller: fleet.controller(of: beacon)?.rawValue, adapter: profile.adapter, address: address,
            position: beacon.position, profileHash: hash, eidEpoch: identity.epoch,
            advertisements: zip(profile.advertisements, wanted).map { own, wanted in
                .init(own, wanted, radioPower: own.radioPower ?? profile.radioPower)
            })
    }

    /// Collects the values that no other beacon may have.
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
        /// The place of the value in the files; `nil` if problems are reported at the place of the beacon.
        var origin: ValueOrigin?
    }

    struct Problem {
        var problem: FileProblem
        /// The end of the message, which names the beacon. Problems that differ only in this end are listed once.
        var suffix: String
        /// `true` for a problem of a table's cell. If other cells of the column have the same problem, they are only
        /// counted.
        var isAboutCell = false
    }

    let number: Int
    public let name: String
    /// The text of the profile, the file `NAME.json`; empty when the template cannot be filled.
    public internal(set) var profile: [UInt8] = []
    /// The beacon's entry in the manifest; `nil` when the profile has an error.
    public internal(set) var beacon: FleetManifest.Beacon?
    /// The advertisements of the machine, each with its type, interval and length.
    var machineAdvertisements: [FleetTraffic.Advertisement] = []
    var problems: [Problem] = []
    var claims: [Claim] = []

    init(number: Int, name: String) {
        self.number = number
        self.name = name
    }
}

extension FleetManifest.Advertisement {
    /// The name of the key file without its directories; `nil` if the advertisement has no rotating key.
    var keyName: String? {
        identityKeyFile.map { path in path.split(separator: "/").last.map(String.init) ?? path }
    }

    fileprivate init(_ own: ProfileAdvertisement, _ wanted: Advertisement, radioPower: RadioPower?) {
        let type = own.content.typeName
        let usual = Self.usualPayloadSize(type, isRotating: own.rotatingKey != nil)
        let octets = (try? wanted.payloadOctetCount()) ?? FleetManifest.payloadRange.upperBound
        self.init(
            type: type, identity: .init(own.content), intervalMicroseconds: own.requestedMicroseconds,
            pattern: own.pattern, phy: own.phy,
            radioPower: radioPower.map { Int($0.dBm) }, measuredPower: Self.measuredPower(wanted, radioPower),
            identityKeyFile: own.rotatingKey?.identityKeyFile,
            rotationExponent: own.rotatingKey.map { Int($0.rotationExponent) },
            payloadOctets: usual == octets || type == "eddystone-url" ? nil : octets)
    }

    /// The measured power in the packet; `nil` when it depends on the power that the controller selects.
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

    /// The keys in the profile that contain the identity; `nil` if several beacons may have the same identity.
    fileprivate var keys: [String]? {
        switch self {
        case .iBeacon: ["uuid", "major", "minor"]
        case .altBeacon: ["companyId", "id"]
        case .eddystoneUID: ["namespace", "instance"]
        case .eddystoneURL, .none: nil
        }
    }
}
