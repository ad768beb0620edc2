internal import Airtime
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

/// The boxes around one receiver, and what each of them sends: as the options say it, or as a site of a fleet does.
struct PlannedAir {
    /// Boxes that send the same. A box never collides with itself: it has one radio.
    struct Boxes {
        let count: Int
        let frames: [PlannedFrame]
    }

    let boxes: [Boxes]
    /// Where the boxes come from; `nil` where the options say it.
    let origin: Origin?

    /// A site of a fleet.
    struct Origin {
        let fleet: String
        /// Empty for beacons without a site.
        let site: String

        /// As people call it.
        var name: String { site.isEmpty ? "the fleet \(fleet)" : "the site \(site)" }
    }

    init(_ boxes: [Boxes], from origin: Origin? = nil) {
        self.boxes = boxes
        self.origin = origin
    }

    /// So many boxes with the same frames.
    init(beacons: Int, frames: [PlannedFrame]) {
        self.init([Boxes(count: beacons, frames: frames)])
    }

    var beacons: Int { boxes.reduce(0) { $0 + $1.count } }
    var advertisements: Int { boxes.reduce(0) { $0 + $1.count * $1.frames.count } }

    /// The frame where all boxes send one and the same: what the models of equal fleets take as it is.
    var onlyFrame: PlannedFrame? {
        guard let first = boxes.first?.frames.first, boxes.allSatisfy({ $0.frames.count == 1 }) else { return nil }
        let isEqual = boxes.allSatisfy {
            $0.frames[0].interval == first.interval && $0.frames[0].airtime == first.airtime
        }
        return isEqual ? first : nil
    }

    func kinds() throws(AirtimeError) -> [AdvertisingBoxes] {
        try boxes.map { kind throws(AirtimeError) in
            try AdvertisingBoxes(
                count: kind.count,
                advertisements: kind.frames.map {
                    (intervalMicroseconds: Double($0.interval.microseconds), airtimeMicroseconds: $0.airtime)
                })
        }
    }

    /// The advertisement that a beacon is found by: each beacon's most frequent one, and of these the least frequent, so
    /// that every beacon of the site is found at least as fast.
    var asked: (kind: Int, frame: Int) {
        let fastest = boxes.enumerated().compactMap { kind, boxes in
            boxes.frames.indices.min { boxes.frames[$0].pace < boxes.frames[$1].pace }.map { (kind: kind, frame: $0) }
        }
        return fastest.max { frame($0).pace < frame($1).pace } ?? (0, 0)
    }

    func frame(_ place: (kind: Int, frame: Int)) -> PlannedFrame { boxes[place.kind].frames[place.frame] }

    /// An equal fleet in which the asked advertisement stands as it does among these boxes, and the probability that what
    /// is not in that fleet spoils no packet.
    func fleet() throws(AirtimeError) -> (group: AdvertiserGroup, otherClear: Double) {
        if let onlyFrame { return (try onlyFrame.group(beacons), 1) }
        return try BoxSurroundings(kind: asked.kind, advertisement: asked.frame, in: kinds()).fleet(ofBoxes: beacons)
    }

    /// Every advertisement as the simulation takes it; those of one box know that they are.
    ///
    /// - Parameter isCounted: Which of them are counted; `nil` for all.
    func advertisers(isCounted: PlannedFrame.Pace? = nil) throws(AirtimeError) -> [AirAdvertiser] {
        let limit = AirSimulation.maximumAdvertisers
        guard advertisements <= limit else {
            throw .quantity(
                name: "a number of simulated advertisements (1...\(limit))", value: Double(advertisements))
        }
        var advertisers: [AirAdvertiser] = []
        for kind in boxes {
            for _ in 0..<kind.count {
                let box = kind.frames.count > 1 ? advertisers.count : nil
                for frame in kind.frames {
                    var advertiser = AirAdvertiser(
                        intervalMicroseconds: Double(frame.interval.microseconds), airtimeMicroseconds: frame.airtime)
                    advertiser.box = box
                    advertiser.isCounted = isCounted.map { $0 == frame.pace } ?? true
                    advertisers.append(advertiser)
                }
            }
        }
        return advertisers
    }

    /// Each different frame once, with how many boxes send it and, where probabilities are given for all, the share of its
    /// packets that are clear.
    func streams(_ clear: [[Double]]) -> [(frame: PlannedFrame, beacons: Int, clear: Double)] {
        var places: [PlannedFrame.Pace: Int] = [:]
        var streams: [(frame: PlannedFrame, beacons: Int, clear: Double)] = []
        for (kind, shares) in zip(boxes, clear) {
            for (frame, share) in zip(kind.frames, shares) {
                let place = places[frame.pace] ?? streams.count
                if place == streams.count {
                    places[frame.pace] = place
                    streams.append((frame, 0, 0))
                }
                streams[place].beacons += kind.count
                streams[place].clear += Double(kind.count) * share
            }
        }
        return streams.map { ($0.frame, $0.beacons, $0.clear / Double(max(1, $0.beacons))) }
    }
}

extension PlannedFrame {
    /// What tells frames apart on the air, and orders them: how often, how long, and of which type.
    struct Pace: Hashable, Comparable {
        let interval: AdvertisingInterval
        let octets: Int
        let name: String

        static func < (left: Self, right: Self) -> Bool {
            (left.interval, left.octets, left.name) < (right.interval, right.octets, right.name)
        }
    }

    var pace: Pace { Pace(interval: interval, octets: payloadOctets, name: name) }
}

extension PlanAnswer {
    /// Which site is told of.
    mutating func origin(of air: PlannedAir) {
        guard let origin = air.origin else { return }
        json.append(("fleet", .string(origin.fleet)))
        json.append(("site", .string(origin.site)))
    }

    /// Which of a fleet's advertisements is asked about, and how the others count.
    mutating func asked(of air: PlannedAir) {
        guard air.origin != nil else { return }
        let frame = air.frame(air.asked)
        json.append(("advertisement", frame.json))
        figure("asked", frame.name, remark: "every \(frame.interval), \(frame.payloadOctets) octets of data")
        guard air.onlyFrame == nil else { return }
        note(
            "A beacon is found by its most frequent advertisement; asked is the least frequent of these at the site, so "
                + "every beacon is found at least as fast. The site's other advertisements count with intervals and "
                + "lengths of their own; a box does not collide with itself.")
    }
}
