public import Airtime
public import Configuration

/// A period of a rehearsal, event by event, for a page that plays it.
public struct RehearsalPlayback: Hashable, Sendable {
    /// The advertising events in the order of their times, as columns of equal length.
    public struct Events: Hashable, Sendable {
        /// The starts of the events, in ms from the beginning of the rehearsal.
        public var milliseconds: [Double] = []
        /// The indices of the beacons in the report.
        public var beacons: [Int] = []
        /// By event: the number of phones and receivers that received it.
        public var received: [Int] = []
        /// By event: the number of phones and receivers at which another packet destroyed it, and that received no
        /// other copy of it.
        public var collided: [Int] = []

        public init() {}

        public var count: Int { milliseconds.count }
    }

    /// The track of a phone, and the beacons that it discovers.
    public struct Phone: Hashable, Sendable {
        /// The name of the phone's scanner.
        public var scanner: String
        /// The times and positions at the corners of the track. Between two corners, the phone moves at constant speed.
        public var track: [TrackPoint]
        public var discoveries: [Discovery]

        public init(scanner: String, track: [TrackPoint] = [], discoveries: [Discovery] = []) {
            self.scanner = scanner
            self.track = track
            self.discoveries = discoveries
        }
    }

    /// A time and a position.
    public struct TrackPoint: Hashable, Sendable {
        /// The time in s from the beginning of the rehearsal.
        public var atS: Double
        public var position: FloorPosition

        public init(atS: Double, _ position: FloorPosition) {
            self.atS = atS
            self.position = position
        }
    }

    /// The first packet of a beacon that a phone receives during a visit.
    public struct Discovery: Hashable, Sendable {
        /// The time in s from the beginning of the rehearsal.
        public var atS: Double
        /// The index of the beacon in the report.
        public var beacon: Int

        public init(atS: Double, beacon: Int) {
            self.atS = atS
            self.beacon = beacon
        }
    }

    /// A change during the period for the player, such as a planted fault.
    public struct Change: Hashable, Sendable {
        /// The time in s from the beginning of the rehearsal.
        public var atS: Double
        /// The index of the beacon in the report; nil if the change is not about one beacon.
        public var beacon: Int?
        /// The change in one sentence.
        public var text: String

        public init(atS: Double, beacon: Int?, text: String) {
            self.atS = atS
            self.beacon = beacon
            self.text = text
        }
    }

    /// The beginning of the period, in s from the beginning of the rehearsal.
    public var fromS: Double
    /// The end of the period, in s from the beginning of the rehearsal.
    public var toS: Double
    public var events = Events()
    public var phones: [Phone] = []
    public var changes: [Change] = []

    public init(fromS: Double, toS: Double) {
        self.fromS = fromS
        self.toS = toS
    }

    /// The period as JSON: the events as lists of numbers, tracks as `[[tS, x, y], …]`, discoveries as
    /// `[[tS, beacon], …]`, changes as `[[tS, beacon or null, text], …]`.
    public var json: JSONValue {
        .record([
            ("fromS", .rounded(fromS)), ("toS", .rounded(toS)),
            (
                "sends",
                .record([
                    ("ms", .array(events.milliseconds.map { .rounded($0) })),
                    ("beacon", .array(events.beacons.map { .integer($0) })),
                    ("received", .array(events.received.map { .integer($0) })),
                    ("collided", .array(events.collided.map { .integer($0) })),
                ])
            ),
            (
                "phones",
                .array(
                    phones.map { phone in
                        .record([
                            ("scanner", .string(phone.scanner)),
                            (
                                "track",
                                .array(
                                    phone.track.map {
                                        .array([.rounded($0.atS), .rounded($0.position.x), .rounded($0.position.y)])
                                    })
                            ),
                            (
                                "discoveries",
                                .array(phone.discoveries.map { .array([.rounded($0.atS), .integer($0.beacon)]) })
                            ),
                        ])
                    })
            ),
            (
                "changes",
                .array(
                    changes.map {
                        .array([.rounded($0.atS), .optional($0.beacon) { .integer($0) }, .string($0.text)])
                    })
            ),
        ])
    }
}
