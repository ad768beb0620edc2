internal import BeaconFrames
public import BluetoothTypes
internal import Configuration

/// The kind of a machine's controller. It limits the intervals and the number of advertising sets.
public enum ControllerKind: String, CaseIterable, Hashable, Sendable {
    /// The controller of a Raspberry Pi. It has only legacy advertising. Some models follow Bluetooth 4, so the
    /// shortest interval of advertising that is not connectable is 100 ms.
    case raspberryPi = "raspberry-pi"
    /// A controller before Core 5.0. Advertising that is not connectable has intervals of 100 ms or more.
    case bluetooth4 = "bluetooth-4"
    /// A controller of Core 5.0 or later without extended advertising.
    case bluetooth5 = "bluetooth-5"
    /// A controller with extended advertising: several sets, each with its own interval, address and power.
    case extended
    /// The virtual controller, which is simulated in software.
    case virtual

    /// Returns the intervals that the controller supports (Core Specification 5.4, Vol 4 Part E 7.8.5 and 7.8.53; the
    /// limit of 100 ms was in 7.8.5 before Core 5.0).
    public func intervalRange(for pdu: AdvertisingPDU) -> ClosedRange<AdvertisingInterval> {
        switch self {
        case .raspberryPi, .bluetooth4:
            let lowest =
                pdu == .connectable
                ? AdvertisingInterval.legacyRange.lowerBound : AdvertisingInterval.nonconnectableMinimumBefore5
            return lowest...AdvertisingInterval.legacyRange.upperBound
        case .bluetooth5: return AdvertisingInterval.legacyRange
        case .extended, .virtual: return AdvertisingInterval.extendedRange
        }
    }

    /// `true` if all advertisements of a beacon share one advertising set and are therefore sent alternately.
    public var hasOneSet: Bool { self != .extended && self != .virtual }

    var description: String {
        switch self {
        case .raspberryPi: "a Raspberry Pi's controller"
        case .bluetooth4: "a controller of Bluetooth 4"
        case .bluetooth5: "a controller of Bluetooth 5 without extended advertising"
        case .extended: "a controller with extended advertising"
        case .virtual: "the virtual controller"
        }
    }
}

/// A value of a profile that a controller does not support.
struct ControllerFault {
    var message: String
    /// The path of the value in the profile.
    var path: JSONPath
}

extension ControllerKind {
    func faults(of advertisements: [Advertisement], _ beacon: FleetManifest.Beacon) -> [ControllerFault] {
        var faults: [ControllerFault] = []
        for (index, advertisement) in advertisements.enumerated() {
            let range = intervalRange(for: advertisement.pdu)
            let key = advertisement.pattern == nil ? "intervalMs" : "pattern"
            let intervals = advertisement.pattern?.parts.map(\.interval.interval) ?? [advertisement.interval]
            guard let interval = intervals.first(where: { !range.contains($0) }) else { continue }
            faults.append(
                .init(
                    message: "\(interval) is out of range for \(description): "
                        + "\(range.lowerBound)...\(range.upperBound)",
                    path: FleetTemplate.path(index, key)))
        }
        if hasOneSet {
            for (index, advertisement) in advertisements.enumerated() where advertisement.phy != nil {
                faults.append(
                    .init(
                        message:
                            "\(description) has no extended advertising: remove \"phy\" to send legacy PDUs, or use "
                            + "a controller with extended advertising",
                        path: FleetTemplate.path(index, "phy")))
            }
        }
        guard hasOneSet, advertisements.count > 1 else { return faults }
        if let index = advertisements.firstIndex(where: { $0.pattern != nil }) {
            faults.append(
                .init(
                    message: "\(description) has one advertising set, and a pattern needs a set of its own: give this "
                        + "advertisement one \"intervalMs\", remove the other advertisements, or use a controller with "
                        + "extended advertising",
                    path: FleetTemplate.path(index, "pattern")))
        }
        let hasEID = beacon.advertisements.contains { $0.type == "eddystone-eid" }
        let indexWithoutKey = beacon.advertisements.firstIndex { $0.identityKeyFile == nil }
        if hasEID, let indexWithoutKey {
            faults.append(
                .init(
                    message:
                        "\(description) has one address at a time: the address of an EID changes, and the address of "
                        + "\(beacon.advertisements[indexWithoutKey].type) would change with it; remove one advertisement, "
                        + "or use a controller with extended advertising",
                    path: JSONPath([.key("advertisements"), .index(indexWithoutKey)])))
        }
        return faults
    }
}
