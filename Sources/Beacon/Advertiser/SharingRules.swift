internal import BeaconFrames
internal import BluetoothTypes

/// Decides which advertisements may share an advertising set. They may differ only in their interval and their data,
/// because all other values can be changed only while the set is disabled.
struct SharingRules {
    private let advertisements: [Advertisement]
    private let ephemeralKeys: Set<Advertisement.RotatingKey>

    init(_ advertisements: [Advertisement]) {
        self.advertisements = advertisements
        var keys: Set<Advertisement.RotatingKey> = []
        for advertisement in advertisements {
            if case .eddystoneEID(let key) = advertisement.content { keys.insert(key) }
        }
        ephemeralKeys = keys
    }

    /// If the address of an advertisement changes together with an ephemeral id, returns the key of this id. This
    /// applies to an Eddystone-EID and to encrypted telemetry with the same key. `nil` for a fixed address.
    func rotatingKey(of member: Int) -> Advertisement.RotatingKey? {
        guard let key = advertisements[member].content.rotatingKey, ephemeralKeys.contains(key) else { return nil }
        return key
    }

    /// Checks the rules that do not depend on the controller.
    func check() throws(SessionError) {
        for member in advertisements.indices {
            if rotatingKey(of: member) != nil, !advertisements[member].scanResponse.octets.isEmpty {
                throw .impossible(
                    "\(name(member)): a scan response stays the same, so it would identify the beacon despite its ephemeral "
                        + "id; remove the scan response")
            }
            try checkTelemetry(member)
        }
    }

    /// Checks that telemetry is sent from the address of another frame: receivers assign telemetry to the beacon with
    /// the same address.
    private func checkTelemetry(_ member: Int) throws(SessionError) {
        let telemetry = advertisements[member]
        guard case .eddystoneTLM = telemetry.content, rotatingKey(of: member) == nil else { return }
        let others = advertisements.indices.filter { other in
            if case .eddystoneTLM = advertisements[other].content { return false }
            return rotatingKey(of: other) == nil
        }
        guard let other = others.first, !others.contains(where: { advertisements[$0].address == telemetry.address })
        else { return }
        throw .impossible(
            "\(name(member)) is sent from \(Self.text(telemetry.address)), but no other frame is: receivers assign "
                + "telemetry to the frame with the same address; use the address of \(name(other)), "
                + Self.text(advertisements[other].address))
    }

    /// Returns the members of each set, in the order of the advertisements.
    func groups(sets: Int, hasExtendedAdvertising: Bool) throws(SessionError) -> [[Int]] {
        var groups: [[Int]] = []
        for member in advertisements.indices {
            if let index = groups.firstIndex(where: { differences($0[0], member).isEmpty }) {
                groups[index].append(member)
            } else {
                groups.append([member])
            }
        }
        guard groups.count <= sets else {
            throw .impossible(refusal(groups, sets, hasExtendedAdvertising))
        }
        // Spare sets go to the advertisements with the shortest intervals, which leaves the most time to the
        // advertisements that still share a set.
        while groups.count < sets, let (index, member) = fastest(in: groups) {
            groups[index].removeAll { $0 == member }
            groups.append([member])
        }
        return groups.sorted { ($0.first ?? 0) < ($1.first ?? 0) }
    }

    private func fastest(in groups: [[Int]]) -> (index: Int, member: Int)? {
        var result: (index: Int, member: Int)?
        for (index, group) in groups.enumerated() where group.count > 1 {
            for member in group {
                guard let best = result?.member else {
                    result = (index, member)
                    continue
                }
                if advertisements[member].interval < advertisements[best].interval { result = (index, member) }
            }
        }
        return result
    }

    private func refusal(_ groups: [[Int]], _ sets: Int, _ hasExtendedAdvertising: Bool) -> String {
        let firstMember = groups[0][0]
        // The first advertisement for which no set is left.
        let leftMember = groups[sets][0]
        let count = sets == 1 ? "one advertising set" : "\(sets) advertising sets"
        let reasons = differences(firstMember, leftMember)
        let remedy =
            reasons.contains(Self.pattern)
            ? "give the pattern's advertisement one \"intervalMs\", remove the other advertisement"
            : reasons.contains(Self.ephemeral)
                ? "remove one of them" : "make these values equal, or remove one of them"
        let capability = hasExtendedAdvertising ? "more sets" : "extended advertising"
        return "\(name(firstMember)) and \(name(leftMember)) cannot share an advertising set: "
            + reasons.joined(separator: "; ")
            + ". This controller has \(count), and \(groups.count) would be needed: \(remedy), or use a controller "
            + "with \(capability)"
    }

    private static let pattern = "a pattern of intervals needs a set of its own"
    private static let ephemeral = "an ephemeral id shares its address only with its own encrypted telemetry"

    /// Returns the reasons why two advertisements cannot share a set; empty if they can.
    private func differences(_ one: Int, _ other: Int) -> [String] {
        let (left, right) = (advertisements[one], advertisements[other])
        let (leftKey, rightKey) = (rotatingKey(of: one), rotatingKey(of: other))
        var result: [String] = []
        if left.pattern != nil || right.pattern != nil { result.append(Self.pattern) }
        if leftKey != rightKey {
            result.append(Self.ephemeral)
        } else if leftKey == nil, left.address != right.address {
            result.append("they differ in address (\(Self.text(left.address)), \(Self.text(right.address)))")
        }
        if left.channels != right.channels {
            result.append("they differ in channels (\(left.channels) and \(right.channels))")
        }
        if left.radioPower != right.radioPower {
            result.append("they differ in radio power (\(Self.text(left.radioPower)), \(Self.text(right.radioPower)))")
        }
        if left.pdu != right.pdu {
            result.append("they differ in PDU (\(left.pdu.rawValue), \(right.pdu.rawValue))")
        }
        if left.phy != right.phy {
            result.append("they differ in PHY (\(Self.text(left.phy)), \(Self.text(right.phy)))")
        }
        if left.scanResponse != right.scanResponse {
            result.append("they differ in scan response")
        }
        return result
    }

    private func name(_ member: Int) -> String {
        "advertisement \(member + 1) (\(advertisements[member].content.typeName))"
    }

    private static func text(_ address: Advertisement.AddressRule) -> String {
        switch address {
        case .public: "the public address"
        case .staticRandom(let address), .random(let address): address.description
        }
    }

    private static func text(_ phy: ExtendedPHY?) -> String { phy?.rawValue ?? "legacy" }

    private static func text(_ power: RadioPower?) -> String { power.map { "\($0)" } ?? "not set" }
}
