public import BluetoothTypes
internal import Configuration

/// What kind of controller a box has, as far as it limits what a beacon may ask for.
public enum ControllerKind: String, CaseIterable, Hashable, Sendable {
    /// A Raspberry Pi's own: legacy advertising only, on some models that of Bluetooth 4, so 100 ms is what all do.
    case raspberryPi = "raspberry-pi"
    /// Before Core 5.0: 100 ms or more for whatever is not connectable.
    case bluetooth4 = "bluetooth-4"
    /// Core 5.0 or later without extended advertising.
    case bluetooth5 = "bluetooth-5"
    /// With extended advertising: several sets, each with its own interval, address and power.
    case extended
    /// The controller in software.
    case virtual

    /// The intervals that it takes for advertising of a kind (Core Specification 5.4, Vol 4 Part E 7.8.5, 7.8.53; the
    /// 100 ms stood in 7.8.5 before 5.0).
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

    /// Whether one advertisement's data, address and power take turns with those of all others.
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

/// Who listens to a fleet, as far as it changes what is good for it.
public enum FleetListener: String, CaseIterable, Hashable, Sendable {
    case homeAssistant = "home-assistant"
    case android
    case ios
    case gateway
}

/// What a controller cannot do of what a shape asks for.
struct ControllerFault: Sendable {
    var message: String
    /// In the profile.
    var path: JSONPath

    static func find(_ shape: Shape, _ controller: ControllerKind) -> [ControllerFault] {
        var faults: [ControllerFault] = []
        for (index, advertisement) in shape.advertisements.enumerated() {
            let range = controller.intervalRange(for: advertisement.pdu)
            guard !range.contains(advertisement.interval) else { continue }
            faults.append(
                .init(
                    message: "\(advertisement.interval) is not among the intervals of \(controller.description), "
                        + "\(range.lowerBound)...\(range.upperBound)",
                    path: JSONPath([.key("advertisements"), .index(index), .key("intervalMs")])))
        }
        guard controller.hasOneSet, shape.advertisements.count > 1 else { return faults }
        let hasEID = shape.advertisements.contains { $0.type == "eddystone-eid" }
        let plain = shape.advertisements.firstIndex { $0.text.keyFile == nil }
        if hasEID, let plain {
            faults.append(
                .init(
                    message:
                        "\(controller.description) has one address at a time: the address of an EID turns over, and "
                        + "that of \(shape.advertisements[plain].type) would with it; take one of the two out, or use a "
                        + "controller with extended advertising",
                    path: JSONPath([.key("advertisements"), .index(plain)])))
        }
        return faults
    }
}
