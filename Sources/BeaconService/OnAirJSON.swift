public import Advertiser
internal import BeaconFrames
internal import BeaconStatus
internal import BluetoothTypes
public import Configuration

/// `advertise --json`: one object for each thing that happens.
public enum OnAirJSON {
    /// The event `on-air`.
    public static func onAir(_ facts: OnAirFacts, _ session: some KeptSession) -> JSONValue {
        let advertisements = zip(session.advertisements, facts.asked).map(members)
        var line: [(String, JSONValue)] = [
            ("event", .string("on-air")),
            ("name", .string(facts.name)),
            ("adapter", .string(facts.adapter)),
            ("family", .string(session.controller.family.rawValue)),
        ]
        // What reads a single advertisement need not know of lists.
        if advertisements.count == 1 { line += advertisements[0] }
        line.append(("advertisements", .array(advertisements.map(JSONValue.record))))
        line.append(("warnings", .array(session.warnings.map(JSONValue.string))))
        return .record(line)
    }

    private static func members(
        _ status: OnAirAdvertisement, _ asked: RequestedInterval
    ) -> [(String, JSONValue)] {
        let wanted = status.advertisement
        return [
            ("address", .optional(status.address) { .string($0.description) }),
            (
                "addressType",
                .optional(status.address) { _ in .string(status.isAddressRandom ? "random-static" : "public") }
            ),
            ("type", .string(wanted.content.typeName)),
            ("pdu", .string(wanted.pdu.rawValue)),
            ("intervalMs", .decimal(asked.milliseconds)),
            ("grantedIntervalMs", .milliseconds(status.grantedMicroseconds)),
            ("sharedBy", .integer(status.sharers)),
            ("instance", .optional(status.place.instance) { .integer($0) }),
            ("radioPowerDbm", .optional(wanted.radioPower) { .integer(Int($0.dBm)) }),
            ("grantedRadioPowerDbm", .optional(status.grant.power) { .integer(Int($0.dBm)) }),
            ("radioPowerNote", .string(status.grant.description)),
            ("octets", .hex(status.payload.octets)),
        ]
    }

    /// The event `off-air`.
    ///
    /// - Parameter heard: What a second virtual controller has heard of it; `nil` on real adapters.
    public static func offAir(_ session: some KeptSession, _ heard: HeardOnAir?) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("event", .string("off-air")), ("events", .integer(Int(clamping: session.computedEvents))),
            ("eventsCounted", .boolean(false)),
        ]
        if let heard { members.append(("heard", .integer(heard.reports))) }
        let advertisements = session.advertisements.map { status in
            JSONValue.record([
                ("type", .string(status.advertisement.content.typeName)),
                ("events", .integer(Int(clamping: status.events))),
            ])
        }
        members.append(("advertisements", .array(advertisements)))
        return .record(members)
    }
}

extension OnAirAdvertisement.Place {
    /// The number of the kernel's instance; `nil` for a set.
    var instance: Int? {
        guard case .instance(let number) = self else { return nil }
        return Int(number)
    }

    /// `set 1`, `instance 3`.
    var text: String {
        switch self {
        case .set(let position): "set \(position + 1)"
        case .instance(let number): "instance \(number)"
        }
    }
}
