internal import BluetoothTypes
internal import Configuration

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
        let plain = shape.advertisements.firstIndex { $0.keyFile == nil }
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
