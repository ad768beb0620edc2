extension AirBatch {
    /// Decides for each receiver what becomes of a packet.
    mutating func judge(_ packet: Int) {
        let wanted = packets[packet]
        guard wanted.advertiser >= 0 else { return }
        let advertiser = Int(wanted.advertiser)
        let isCounted =
            scene.advertisers[advertiser].isCounted && wanted.eventStart >= 0
            && wanted.eventStart < scene.conditions.durationMicroseconds
        findOverlapping(packet)
        for receiver in scene.receivers.indices {
            let link = receiver * scene.advertisers.count + advertiser
            let isAudible = powers[link] >= sensitivities[receiver]
            let isClear = isAudible && survives(packet, at: receiver)
            let isReceived =
                isClear && wanted.start >= deafUntil[receiver]
                && windows[receiver].cover(start: wanted.start, end: wanted.end, channel: Int(wanted.channel))
            if isReceived { deafUntil[receiver] = wanted.end + scene.receivers[receiver].deadTimeMicroseconds }
            guard isCounted else { continue }
            count(wanted, link, receiver, isAudible: isAudible, isClear: isClear, isReceived: isReceived)
        }
    }

    private mutating func findOverlapping(_ packet: Int) {
        overlapping.removeAll(keepingCapacity: true)
        let wanted = packets[packet]
        var other = packet - 1
        while other >= 0, packets[other].start > wanted.start - longestAirtime {
            if packets[other].channel == wanted.channel, packets[other].end > wanted.start, !isOwn(other, wanted) {
                overlapping.append(other)
            }
            other -= 1
        }
        other = packet + 1
        while other < packets.count, packets[other].start < wanted.end {
            if packets[other].channel == wanted.channel, !isOwn(other, wanted) { overlapping.append(other) }
            other += 1
        }
    }

    /// Whether a packet comes from the box of the wanted one, which sends one after the other.
    private func isOwn(_ packet: Int, _ wanted: AirPacket) -> Bool {
        let advertiser = packets[packet].advertiser
        guard hasBoxes, advertiser >= 0, let box = scene.advertisers[Int(advertiser)].box else { return false }
        return box == scene.advertisers[Int(wanted.advertiser)].box
    }

    private func power(_ packet: Int, at receiver: Int) -> Double {
        let advertiser = Int(packets[packet].advertiser)
        return advertiser < 0 ? strangersPower : powers[receiver * scene.advertisers.count + advertiser]
    }

    private func survives(_ packet: Int, at receiver: Int) -> Bool {
        guard !overlapping.isEmpty else { return true }
        guard let capture else {
            return !overlapping.contains { power($0, at: receiver) >= sensitivities[receiver] }
        }
        let limit = power(packet, at: receiver) * capture
        var sum = 0.0
        for other in overlapping {
            let power = power(other, at: receiver)
            if power > limit { return false }
            sum += power
        }
        guard sum > limit else { return true }
        // The sum at an instant is largest where one of them starts, or where the wanted packet does.
        let start = packets[packet].start
        return sumOnAir(at: start, receiver) <= limit
            && !overlapping.contains { packets[$0].start > start && sumOnAir(at: packets[$0].start, receiver) > limit }
    }

    private func sumOnAir(at instant: Double, _ receiver: Int) -> Double {
        overlapping.reduce(0) { sum, other in
            packets[other].start <= instant && packets[other].end > instant ? sum + power(other, at: receiver) : sum
        }
    }

    private mutating func count(
        _ wanted: AirPacket, _ link: Int, _ receiver: Int, isAudible: Bool, isClear: Bool, isReceived: Bool
    ) {
        let advertiser = Int(wanted.advertiser)
        let channel = Int(wanted.channel)
        counts[receiver].copies += 1
        if isAudible {
            counts[receiver].audible += 1
            beacons[advertiser].audible += 1
            if isClear {
                counts[receiver].clear += 1
                beacons[advertiser].clear += 1
            }
            if wanted.event >= 0, channel == 0 { countByEvent(Int(wanted.event), isClear: isClear) }
        }
        counts[receiver].count(links[link].follow(channel, isAudible: isAudible, isLost: isAudible && !isClear))

        if channel == 0 { links[link].event = [] }
        if isAudible { links[link].event.insert(.audible) }
        if isClear { links[link].event.insert(.clear) }
        if isReceived, !links[link].event.contains(.received) {
            links[link].event.insert(.received)
            links[link].isSeen = true
            settle(link, receiver, at: wanted.eventStart)
        }
        guard channel == channels - 1 else { return }
        let event = links[link].event
        counts[receiver].events += 1
        beacons[advertiser].events += 1
        if event.contains(.audible) { counts[receiver].audibleEvents += 1 }
        if event.contains(.clear) { counts[receiver].clearEvents += 1 }
        if event.contains(.received) {
            counts[receiver].received += 1
            beacons[advertiser].received += 1
        }
    }

    private mutating func countByEvent(_ event: Int, isClear: Bool) {
        guard event < AirSimulation.countedEvents else { return }
        while clearByEvent.count <= event { clearByEvent.append((0, 0)) }
        clearByEvent[event].trials += 1
        if isClear { clearByEvent[event].hits += 1 }
    }

    /// Ends the waits that began before an event that was received.
    private mutating func settle(_ link: Int, _ receiver: Int, at eventStart: Double) {
        let horizon = scene.conditions.horizon
        while links[link].nextInstant < instants.count, instants[links[link].nextInstant] <= eventStart {
            let latency = eventStart - instants[links[link].nextInstant]
            counts[receiver].latency.count(latency <= horizon ? latency : nil, batch: index)
            links[link].nextInstant += 1
        }
    }

    /// What the batch counted, with the waits that never ended.
    mutating func tally() -> AirTally {
        for (advertiser, description) in scene.advertisers.enumerated() where description.isCounted {
            for receiver in scene.receivers.indices {
                let link = receiver * scene.advertisers.count + advertiser
                for _ in links[link].nextInstant..<instants.count { counts[receiver].latency.count(nil, batch: index) }
                beacons[advertiser].links += 1
                if links[link].isSeen { beacons[advertiser].seen += 1 }
            }
        }
        var tally = AirTally()
        tally.receivers = counts.map { ReceptionTally($0) }
        tally.all = ReceptionTally(counts.reduce(into: ReceptionCounts()) { $0.add($1) })
        tally.beacons = beacons.map { AirTally.Beacon($0) }
        tally.clearByEvent = clearByEvent.map { ShareTally(hits: $0.hits, trials: $0.trials) }
        return tally
    }
}
