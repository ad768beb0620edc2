internal import Airtime
internal import BluetoothTypes
internal import Configuration
internal import Fleet
public import Sites

/// A floor with its proposed beacons, and the files to write for it.
public struct ProposedSite: Sendable {
    /// The floor. Its list of beacons contains the existing beacons that are kept, followed by the proposed beacons.
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

    /// Returns the text of the site file with the existing and the proposed beacons. If the plan has another target or
    /// other scanners than the file, the text contains those of the plan. Everything else is unchanged.
    ///
    /// - Parameters:
    ///   - octets: The current text of the site file.
    ///   - picture: The path of the picture to write in the new file; nil to keep the current path.
    public func siteFile(from octets: [UInt8], picture: String? = nil) throws(PlanError) -> String {
        guard let root = JSONDocument.parse(octets).root, case .object(let members) = JSONValue(root) else {
            throw PlanError(.data, "this is not a site file")
        }
        let file = Site.decode(octets).site
        var replacements: [JSONValue.Member] = [.init("beacons", .array(site.beacons.map(entry)))]
        var changedMembers = members.map { $0.key == "picture" ? Self.picture($0, named: picture) : $0 }
        if let file, file.scanners != site.scanners {
            let scanners = Self.member(of: site.scanners)
            // A file has only one of the keys scanner and scanners.
            changedMembers.removeAll { ["scanner", "scanners"].contains($0.key) && $0.key != scanners.key }
            replacements.append(scanners)
        }
        if let file, file.target != site.target {
            replacements.append(
                .init(
                    "target",
                    [
                        "detectWithinS": PlanQuantity.number(site.target.seconds).json,
                        "probability": PlanQuantity.number(site.target.probability).json,
                        "beacons": .integer(site.target.beacons),
                    ]))
        }
        for replacement in replacements {
            if let index = changedMembers.firstIndex(where: { $0.key == replacement.key }) {
                changedMembers[index] = replacement
            } else {
                changedMembers.append(replacement)
            }
        }
        return JSONValue.object(changedMembers).pretty
    }

    /// Returns the member `scanner`, or `scanners` for several scanners. Known scanners are written by name, other
    /// scanners by window and interval.
    private static func member(of mix: ScannerMix) -> JSONValue.Member {
        func entry(_ scanner: ScannerPreset) -> JSONValue {
            if ScannerPreset.all.contains(scanner) { return .string(scanner.name) }
            return [
                "windowMs": PlanQuantity.milliseconds(Double(scanner.pattern.windowMicroseconds) / 1000).json,
                "intervalMs": PlanQuantity.milliseconds(Double(scanner.pattern.intervalMicroseconds) / 1000).json,
            ]
        }
        if let only = mix.only { return .init("scanner", entry(only)) }
        // The smallest weight in a site file is 0.001.
        let scale = mix.parts.allSatisfy { $0.share >= 1e-5 } ? 100.0 : 1_000_000
        let parts = mix.parts.map { part -> JSONValue in
            ["scanner": entry(part.scanner), "weight": PlanQuantity.number(part.share * scale).json]
        }
        return .init("scanners", .array(parts))
    }

    /// Returns the member `picture` with `file` as the path of the picture's file. If `file` is nil, the path does not
    /// change.
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

    /// Returns the level at a distance of 1 m in dBm, computed with the path loss of the site. Receivers estimate their
    /// distance from this number.
    private func levelAtOneMeter(atRadioPower radioPower: Double) -> Int {
        let range = MeasuredPowerAtOneMeter.range
        guard let loss = try? site.radio.pathLoss.decibels(atMeters: 1), loss.isFinite else { return -59 }
        return Int(min(max(radioPower - loss, Double(range.lowerBound)), Double(range.upperBound)).rounded())
    }

    /// Returns the text of a fleet file with the proposed beacons. They send iBeacon frames at the planned interval,
    /// each beacon with its own identity.
    ///
    /// - Parameter uuid: A new UUID, the proximity UUID of all frames.
    public func fleetFile(uuid: String) -> String {
        let interval = PlanQuantity.milliseconds(site.defaults.intervalMicroseconds / 1000).json
        let radioPower = site.defaults.radioPower.rounded()
        let measuredPower: JSONValue = .integer(levelAtOneMeter(atRadioPower: radioPower))
        let file: JSONValue = [
            "version": 1, "name": .string(site.name),
            "template": [
                "radioPowerDbm": .integer(Int(radioPower)),
                "advertisements": [
                    [
                        "type": "ibeacon", "uuid": .string(uuid), "major": "${major}", "minor": "${minor}",
                        "measuredPowerDbm": measuredPower, "intervalMs": interval,
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
