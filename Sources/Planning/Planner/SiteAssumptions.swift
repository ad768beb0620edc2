internal import Airtime
internal import BluetoothTypes
internal import Sites

/// The values that determine how many beacons a floor needs: the packets and powers of the beacons, the path loss and
/// the sensitivity of receivers.
extension SiteQuestion {
    /// Adds the assumptions to the JSON and, as a note, to the text and the page.
    func stateAssumptions(in answer: inout PlanAnswer) {
        let defaults = site.defaults
        // Proposed beacons have the default values.
        let addsDefaults = proposal != nil || site.beacons.isEmpty
        func values(_ value: (SiteBeacon) -> Double, or usual: Double) -> [Double] {
            site.beacons.map(value) + (addsDefaults ? [usual] : [])
        }
        let intervals = values({ $0.intervalMicroseconds / 1000 }, or: defaults.intervalMicroseconds / 1000)
        let payloads = values({ Double($0.payloadOctets) }, or: Double(defaults.payloadOctets))
        let powers = values({ $0.radioPower }, or: defaults.radioPower)
        let (radio, loads) = (site.radio, site.backgroundLoad)
        answer.add(
            .assumptions,
            .object([
                (.assumedInterval, .milliseconds(Self.common(intervals))),
                (.assumedPayload, Self.common(payloads).map { .count(Int($0)) } ?? .nothing),
                (.assumedPower, .number(Self.common(powers))),
                (.assumedPathLoss, .word("\(radio.pathLoss)")), (.assumedShadowing, .number(radio.shadowing)),
                (.assumedSensitivity, .number(radio.sensitivity)),
            ]))
        answer.note(
            "Assumptions: the beacons send \(Self.text(payloads)) bytes every \(Self.text(intervals)) ms with "
                + "\(Self.text(powers)) dBm; the path loss is \(radio.pathLoss), with a shadowing of "
                + "\(NumberFormat.significant(radio.shadowing)) dB; receivers decode packets from "
                + "\(NumberFormat.significant(radio.sensitivity)) dBm on; "
                + (loads == .none ? "no other devices use the channels." : "other devices use the channels."))
    }

    /// Returns the value that all beacons have; nil if they differ.
    private static func common(_ values: [Double]) -> Double? {
        values.allSatisfy { $0 == values.first } ? values.first : nil
    }

    /// Returns the value that all beacons have, or the smallest and the largest value.
    private static func text(_ values: [Double]) -> String {
        guard let low = values.min(), let high = values.max() else { return "–" }
        let (lowText, highText) = (NumberFormat.significant(low, 6), NumberFormat.significant(high, 6))
        return low == high ? lowText : "\(lowText) to \(highText)"
    }

    static let keysOfAssumptions: [PlanKey] = [
        .assumptions, .assumedInterval, .assumedPayload, .assumedPower, .assumedPathLoss, .assumedShadowing,
        .assumedSensitivity,
    ]
}

extension PlanKey {
    fileprivate static let assumptions = PlanKey(
        "assumptions", "The values of the site file, or their defaults, that determine the answer.")
    fileprivate static let assumedInterval = PlanKey(
        "assumptions.intervalMs", "Advertising interval of all beacons in ms; null if they differ.")
    fileprivate static let assumedPayload = PlanKey(
        "assumptions.payloadOctets", "Bytes of advertising data of all beacons; null if they differ.")
    fileprivate static let assumedPower = PlanKey(
        "assumptions.radioPowerDbm", "Radiated power of all beacons in dBm; null if they differ.")
    fileprivate static let assumedPathLoss = PlanKey("assumptions.pathLoss", "The path loss in words.")
    fileprivate static let assumedShadowing = PlanKey(
        "assumptions.shadowingDb", "Standard deviation of the loss among links of equal length, in dB.")
    fileprivate static let assumedSensitivity = PlanKey(
        "assumptions.receiverSensitivityDbm", "Weakest power that a receiver decodes, in dBm.")
}
