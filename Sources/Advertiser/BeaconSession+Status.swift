public import BeaconFrames
public import BluetoothTypes
internal import HCI

/// What is on the air, for whoever wants to know.
extension BeaconSession {
    /// One advertisement as it is now.
    public struct AdvertisementStatus: Hashable, Sendable {
        public let advertisement: Advertisement
        /// Position of its set among the sets of the allocation.
        public let set: Int
        /// How many advertisements are sent from that set in turn; 1 for a set of its own.
        public let sharers: Int
        /// Whether it is the one whose data its set holds now.
        public let isItsTurn: Bool
        /// The interval that its set runs at.
        public let setInterval: AdvertisingInterval
        /// The address that listeners see.
        public let address: DeviceAddress
        /// Whether it is a random one: planned so, or because it turns over with an ephemeral id.
        public let isAddressRandom: Bool
        /// The mean time between two of its events.
        public let meanPeriodMicroseconds: Int
        /// What the radio really sends with; known after the start.
        public let grant: RadioPowerGrant
        /// What is sent now, or will be when its turn comes.
        public let payload: AdvertisingData
        /// Computed from the time on the air and the mean period: see ``BeaconSession/computedEvents``.
        public let events: UInt64

        /// The interval that it comes to: what was asked for, or a little less where it shares a set.
        public var grantedIntervalMicroseconds: Int { meanPeriodMicroseconds - 5000 }
    }

    /// In the order of the plan's sources.
    public var advertisements: [AdvertisementStatus] {
        let now = countedUntil
        return frames.indices.compactMap { frame in
            guard let index = plan.allocation.set(of: frame), sets.indices.contains(index),
                let member = sets[index].allocation.members.firstIndex(of: frame)
            else { return nil }
            let set = sets[index]
            let period = set.plan.interval.meanPeriodMicroseconds
            return AdvertisementStatus(
                advertisement: frames[frame].source.advertisement, set: index, sharers: set.allocation.members.count,
                isItsTurn: set.current == frame, setInterval: set.plan.interval, address: set.address,
                isAddressRandom: set.plan.randomAddress != nil || set.allocation.rotatingKey != nil,
                meanPeriodMicroseconds: set.scheduler?.meanPeriodMicroseconds(of: member) ?? period, grant: set.grant,
                payload: frames[frame].payload,
                events: frames[frame].eventsBefore + set.tally.events(of: member, at: now))
        }
    }

    /// Advertising events of all advertisements since the start, computed from the time on the air and the mean period:
    /// a legacy controller does not count them, and an extended one tells only at the end of a set.
    public var computedEvents: UInt64 { events(at: countedUntil) }

    /// Whole seconds since the start.
    public var secondsOnAir: Int { elapsed(at: countedUntil) / 1_000_000 }

    /// What telemetry tells at an instant.
    func counters(at now: HCIInstant) -> TelemetryCounters {
        countersAtStart.advanced(byEvents: events(at: now), microseconds: elapsed(at: now))
    }

    /// Counts the events of the sets' time on the air to what was there before, so that the sets may begin anew.
    func countCompleted() {
        let now = host.now
        for set in sets {
            for (member, frame) in set.allocation.members.enumerated() where frames.indices.contains(frame) {
                frames[frame].eventsBefore += set.tally.events(of: member, at: now)
            }
        }
    }

    private var countedUntil: HCIInstant { stoppedAt ?? host.now }

    private func elapsed(at now: HCIInstant) -> Int { onAirSince.map { max(0, now.microseconds(since: $0)) } ?? 0 }

    private func events(at now: HCIInstant) -> UInt64 {
        guard onAirSince != nil else { return 0 }
        var events = frames.reduce(eventsOfOthers) { $0 + $1.eventsBefore }
        for set in sets {
            for member in set.allocation.members.indices { events += set.tally.events(of: member, at: now) }
        }
        return events
    }
}
