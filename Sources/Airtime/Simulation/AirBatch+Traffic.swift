import BluetoothTypes

extension SplitMix64 {
    /// Normally distributed around 0 with a deviation of 1 (Box and Muller).
    mutating func nextNormal() -> Double {
        let radius = (-2 * log(1 - nextUnit())).squareRoot()
        return radius * cos(2 * .pi * nextUnit())
    }
}

extension AirBatch {
    /// Draws when every advertiser and the strangers start first.
    mutating func beginTraffic(_ begin: Double) {
        for (index, advertiser) in scene.advertisers.enumerated() {
            switch advertiser.start {
            case .longAgo:
                let shortest = advertiser.intervalMicroseconds
                let longest = shortest + AdvertisingDelay.maximumMicroseconds
                // A random instant falls into a period in proportion to its length, and anywhere within it.
                let square = shortest * shortest + random.nextUnit() * (longest * longest - shortest * shortest)
                nextStart[index] = begin + square.squareRoot() * random.nextUnit() * advertiser.clock
            case .at(let time):
                nextStart[index] = time
                nextEvent[index] = 0
            }
        }
        if let strangers = scene.conditions.strangers, strangers.rate > 0 {
            nextStranger = (0..<channels).map { _ in begin + pause(strangers.rate) }
        }
    }

    /// Puts everything that starts before `end` on the air, in order; copies of an event may start later than it.
    mutating func send(until end: Double) {
        for index in nextStart.indices {
            while nextStart[index] < end { sendEvent(index) }
        }
        if let strangers = scene.conditions.strangers {
            for channel in nextStranger.indices {
                while nextStranger[channel] < end {
                    let start = nextStranger[channel]
                    packets.append(
                        AirPacket(
                            start: start, end: start + strangers.airtimeMicroseconds, eventStart: start, advertiser: -1,
                            event: -1, channel: Int32(channel)))
                    nextStranger[channel] += pause(strangers.rate)
                }
            }
        }
        packets.sort { $0.start < $1.start }
    }

    private mutating func sendEvent(_ index: Int) {
        let advertiser = scene.advertisers[index]
        let eventStart = nextStart[index]
        for channel in 0..<channels {
            let offset =
                switch channel {
                case 0: 0.0
                case 1: advertiser.secondCopyMicroseconds
                default: advertiser.thirdCopyMicroseconds
                }
            let start = eventStart + offset
            packets.append(
                AirPacket(
                    start: start, end: start + advertiser.airtimeMicroseconds, eventStart: eventStart,
                    advertiser: Int32(index), event: nextEvent[index], channel: Int32(channel)))
        }
        let delay = random.nextUnit() * AdvertisingDelay.maximumMicroseconds
        nextStart[index] += (advertiser.intervalMicroseconds + delay) * advertiser.clock
        if nextEvent[index] >= 0, nextEvent[index] < .max { nextEvent[index] += 1 }
    }

    /// The time to the next of packets that start at random.
    private mutating func pause(_ rate: Double) -> Double {
        -log(1 - random.nextUnit()) / rate
    }
}
