internal import Airtime
internal import Configuration
internal import Fleet
public import Sites

/// A floor with its proposed beacons, and the files to write for it.
public struct ProposedSite: Sendable {
    /// The floor with the existing beacons that stay, followed by the proposed beacons.
    public let site: Site
    /// The number of proposed beacons.
    public let added: Int

    /// Returns nil if nothing is proposed.
    /// - Parameter keeps: True to keep the existing beacons.
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

    /// Returns the text of the site file with all beacons in its list, and everything else unchanged.
    ///
    /// - Parameters:
    ///   - octets: The present text of the site file.
    ///   - picture: The path of the picture to write in the new file; nil to keep the present path.
    public func siteFile(from octets: [UInt8], picture: String? = nil) throws(PlanError) -> String {
        guard let root = JSONDocument.parse(octets).root, case .object(let members) = JSONValue(root) else {
            throw PlanError(.data, "this is not a site file")
        }
        let beacons = JSONValue.array(site.beacons.map(entry))
        let hasBeacons = members.contains { $0.key == "beacons" }
        let changedMembers = members.map { member in
            switch member.key {
            case "beacons": JSONValue.Member("beacons", beacons)
            case "picture": Self.picture(member, named: picture)
            default: member
            }
        }
        return JSONValue.object(changedMembers + (hasBeacons ? [] : [.init("beacons", beacons)])).pretty
    }

    /// Returns the member `picture` with another path of the picture's file; nil keeps the path.
    private static func picture(_ member: JSONValue.Member, named file: String?) -> JSONValue.Member {
        guard let file, case .object(let members) = member.value else { return member }
        return .init(member.key, .object(members.map { $0.key == "file" ? .init("file", .string(file)) : $0 }))
    }

    private func entry(_ beacon: SiteBeacon) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(beacon.name)), .init("position", coordinates(beacon.position)),
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

    /// The position in m, rounded to cm.
    private func coordinates(_ position: FloorPosition) -> JSONValue {
        .array([position.x, position.y].map { PlanQuantity.number(($0 * 100).rounded() / 100).json })
    }

    /// Returns the text of a fleet file of the proposed beacons, which send iBeacon frames at the planned interval,
    /// each with its own identity.
    ///
    /// - Parameter uuid: A new proximity UUID.
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
                                "position": coordinates(beacon.position),
                            ]
                        }),
                ]
            ],
        ]
        return file.pretty
    }
}
