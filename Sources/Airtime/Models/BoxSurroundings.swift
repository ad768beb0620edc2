internal import Glibc

/// One advertisement among boxes that send several of different intervals, for the models that know equal fleets only.
///
/// Advertisers of the asked one's interval stay an equal fleet, because collisions with them come in runs (see
/// ``RunsModel``); the rest spoils packets independently of each other. The probability that a packet is clear is exact
/// either way: what rounding to whole advertisers leaves goes to the rest, as does a difference of lengths.
public struct BoxSurroundings: Hashable, Sendable {
    /// T of the asked advertisement in µs.
    public let intervalMicroseconds: Double
    /// tau of the asked advertisement in µs.
    public let airtimeMicroseconds: Double
    /// ln of the probability that what an average other box sends at the asked interval spares a packet.
    public let logSparingEqual: Double
    /// The same of what it sends at other intervals.
    public let logSparingOther: Double

    /// Boxes that send the asked advertisement, of T and tau µs, and nothing else.
    public init(intervalMicroseconds: Double, airtimeMicroseconds: Double) throws(AirtimeError) {
        let group = try AdvertiserGroup(
            count: 1, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
        logSparingEqual = group.logSparing(packetOf: airtimeMicroseconds)
        logSparingOther = 0
    }

    /// An advertisement of one of the boxes, among the others.
    ///
    /// - Parameters:
    ///   - kind: The asked box's kind, a place in `boxes`.
    ///   - advertisement: A place in its advertisements.
    ///   - isAmongMore: The other boxes are more of the same mixture, rather than those that are there.
    ///
    /// Refuses places that are not there, and an advertisement of a kind without a box.
    public init(
        kind: Int, advertisement: Int, in boxes: [AdvertisingBoxes], isAmongMore: Bool = false
    ) throws(AirtimeError) {
        guard boxes.indices.contains(kind), boxes[kind].count > 0,
            boxes[kind].advertisements.indices.contains(advertisement)
        else { throw .quantity(name: "a place of an advertisement", value: Double(advertisement)) }
        let asked = boxes[kind].advertisements[advertisement]
        let airtime = asked.airtimeMicroseconds
        var (equal, other, count) = (0.0, 0.0, 0.0)
        for (place, kindOfBox) in boxes.enumerated() {
            let number = Double(kindOfBox.count - (place == kind && !isAmongMore ? 1 : 0))
            let equals = kindOfBox.logSparing(packetOf: airtime) {
                $0.intervalMicroseconds == asked.intervalMicroseconds
            }
            equal += number * equals
            other += number * (kindOfBox.logSparing(packetOf: airtime) - equals)
            count += number
        }
        intervalMicroseconds = asked.intervalMicroseconds
        airtimeMicroseconds = airtime
        logSparingEqual = count > 0 ? equal / count : 0
        logSparingOther = count > 0 ? min(0, other / count) : 0
    }

    /// ln of the probability that an average box spares a packet of `airtime` µs with all that it sends beside its most
    /// frequent advertisement; 0 without a box.
    public static func logSparingCompanions(in boxes: [AdvertisingBoxes], packetOf airtime: Double) -> Double {
        var (sum, count) = (0.0, 0.0)
        for kind in boxes {
            let fastest = kind.fastest
            for (place, group) in kind.advertisements.enumerated() where place != fastest {
                sum += Double(kind.count) * group.logSparing(packetOf: airtime)
            }
            count += Double(kind.count)
        }
        return count > 0 ? sum / count : 0
    }

    /// ln of the probability that one other box spares a packet.
    public var logSparing: Double { logSparingEqual + logSparingOther }

    /// An equal fleet, and the probability that what is not in it spoils no packet, which together lose as many packets
    /// as the asked box's do among `boxes` in all.
    public func fleet(ofBoxes boxes: Int) throws(AirtimeError) -> (group: AdvertiserGroup, otherClear: Double) {
        guard boxes >= 1 else { throw .count(boxes) }
        let one = try AdvertiserGroup(
            count: 1, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        let single = one.logSparing(packetOf: airtimeMicroseconds)
        let others = Double(boxes - 1)
        // A millionth of an advertiser is a rounding error.
        let equals = single < 0 ? min(others * logSparingEqual / single + 1e-6, 1e9).rounded(.down) : 0
        let group = try AdvertiserGroup(
            count: 1 + Int(max(0, equals)), intervalMicroseconds: intervalMicroseconds,
            airtimeMicroseconds: airtimeMicroseconds)
        let rest = others * logSparing - max(0, equals) * single
        return (group, rest < -1e-9 ? exp(rest) : 1)
    }
}
