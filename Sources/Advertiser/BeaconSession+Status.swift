internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// What is on the air, for whoever wants to know.
extension BeaconSession {
    /// In the order of the plan's sources.
    public var advertisements: [OnAirAdvertisement] {
        let now = countedUntil
        return frames.indices.compactMap { frame in
            guard let index = plan.allocation.set(of: frame), sets.indices.contains(index),
                let member = sets[index].allocation.members.firstIndex(of: frame)
            else { return nil }
            let set = sets[index]
            let period =
                set.scheduler?.meanPeriodMicroseconds(of: member) ?? set.plan.interval.meanPeriodMicroseconds
            // The mean of the random delay after each interval (Core Specification 5.4, Vol 6 Part B 4.4.2.2.1).
            let granted = period - AdvertisingInterval.meanDelayMicroseconds
            return OnAirAdvertisement(
                advertisement: frames[frame].source.advertisement, place: .set(index),
                sharers: set.allocation.members.count, isItsTurn: set.current == frame,
                setInterval: set.plan.interval...set.plan.interval, grantedMicroseconds: granted...granted,
                meanPeriodMicroseconds: period, address: set.address,
                isAddressRandom: set.plan.randomAddress != nil || set.allocation.rotatingKey != nil, grant: set.grant,
                payload: frames[frame].payload,
                events: frames[frame].eventsBefore + set.tally.events(of: member, at: now))
        }
    }

    public var controller: OnAirController {
        let found = plan.capabilities
        return OnAirController(
            family: found.hasExtendedAdvertising ? .extended : .legacy,
            hasExtendedAdvertising: found.hasExtendedAdvertising, version: found.version,
            manufacturer: found.manufacturer.description, address: found.publicAddress)
    }

    public var warnings: [String] {
        advertisements.compactMap { status in
            status.grant.complaint.map { "\(status.advertisement.content.typeName): radio power \($0)" }
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

extension RadioPowerGrant {
    /// What is to be said where the power is not the one that was asked for.
    fileprivate var complaint: String? {
        switch self {
        case .notSettable, .unverified: description
        case .granted, .reported, .unknown: nil
        }
    }
}
