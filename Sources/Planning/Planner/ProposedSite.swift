internal import Airtime
internal import Configuration
internal import Fleet
public import Sites

/// A floor with the beacons that are proposed for it, and the files that can be made of it.
public struct ProposedSite: Sendable {
    /// The floor with the beacons that stay, and then those that are proposed.
    public let site: Site
    /// How many are proposed.
    public let added: Int

    /// `nil` where nothing is proposed.
    ///
    /// - Parameter keeps: Whether the beacons that stand there stay.
    init?(of site: Site, _ placement: SitePlacement, keeps: Bool) {
        guard !placement.positions.isEmpty else { return nil }
        var site = site
        var names = Set(keeps ? site.beacons.map(\.name) : [])
        var number = 0
        if !keeps { site.beacons = [] }
        guard let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: site.defaults.payloadOctets) else {
            return nil
        }
        for position in placement.positions {
            repeat { number += 1 } while !names.insert("new-\(number)").inserted
            let beacon = try? SiteBeacon(
                name: "new-\(number)", position: position, intervalMicroseconds: site.defaults.intervalMicroseconds,
                airtimeMicroseconds: airtime, radioPower: site.defaults.radioPower)
            guard let beacon else { return nil }
            site.beacons.append(beacon)
        }
        self.site = site
        added = placement.positions.count
    }

    /// The proposed beacons.
    var beacons: ArraySlice<SiteBeacon> { site.beacons.suffix(added) }

    /// The site file with all beacons listed in it; everything else as it was.
    ///
    /// - Parameter octets: The site file that was asked about.
    public func siteFile(from octets: [UInt8]) throws(PlanError) -> String {
        guard let root = JSONDocument.parse(octets).root, case .object(let members) = JSONValue(root) else {
            throw PlanError(.data, "this is no site file")
        }
        let beacons = JSONValue.array(site.beacons.map(entry))
        let hasBeacons = members.contains { $0.key == "beacons" }
        let changed = members.map { $0.key == "beacons" ? JSONValue.Member("beacons", beacons) : $0 }
        return JSONValue.object(changed + (hasBeacons ? [] : [.init("beacons", beacons)])).pretty
    }

    private func entry(_ beacon: SiteBeacon) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(beacon.name)), .init("position", place(beacon.position)),
        ]
        if beacon.intervalMicroseconds != site.defaults.intervalMicroseconds {
            members.append(.init("intervalMs", PlanQuantity.milliseconds(beacon.intervalMicroseconds / 1000).json))
        }
        let octets = PacketTiming.payloadOctets(airtimeMicroseconds: beacon.airtimeMicroseconds)
        if octets != site.defaults.payloadOctets { members.append(.init("payloadOctets", .integer(octets))) }
        if beacon.radioPower != site.defaults.radioPower {
            members.append(.init("radioPowerDbm", PlanQuantity.number(beacon.radioPower).json))
        }
        return .object(members)
    }

    /// Metres, to the centimetre.
    private func place(_ position: FloorPosition) -> JSONValue {
        .array([position.x, position.y].map { PlanQuantity.number(($0 * 100).rounded() / 100).json })
    }

    /// A fleet file of the proposed beacons, to go on from: iBeacon frames at the interval that was planned with, each
    /// with an identity of its own.
    ///
    /// - Parameter uuid: What the fleet's beacons are known by; a new one.
    public func fleetFile(uuid: String) -> String {
        let interval = PlanQuantity.milliseconds(site.defaults.intervalMicroseconds / 1000).json
        let file: JSONValue = [
            "version": 1, "name": .string(site.name),
            "template": [
                "radioPowerDbm": .integer(Int(site.defaults.radioPower.rounded())),
                "advertisements": [
                    [
                        "type": "ibeacon", "uuid": .string(uuid), "major": "${major}", "minor": "${minor}",
                        "measuredPowerDbm": -59, "intervalMs": interval,
                    ]
                ],
            ],
            "identities": ["major": ["per": "site"], "minor": ["within": "site"]],
            "groups": [
                [
                    "name": .string(site.name),
                    "beacons": .array(
                        beacons.map { beacon in
                            [
                                "name": .string(beacon.name), "host": .string(beacon.name),
                                "position": place(beacon.position),
                            ]
                        }),
                ]
            ],
        ]
        return file.pretty
    }
}
