internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration

/// What a controller cannot do of what a profile asks for.
struct ControllerFault {
    var message: String
    /// In the profile.
    var path: JSONPath
}

extension ControllerKind {
    func faults(of wanted: [Advertisement], _ beacon: FleetManifest.Beacon) -> [ControllerFault] {
        var faults: [ControllerFault] = []
        for (index, advertisement) in wanted.enumerated() {
            let range = intervalRange(for: advertisement.pdu)
            guard !range.contains(advertisement.interval) else { continue }
            faults.append(
                .init(
                    message: "\(advertisement.interval) is not among the intervals of \(description), "
                        + "\(range.lowerBound)...\(range.upperBound)",
                    path: FleetTemplate.path(index, "intervalMs")))
        }
        guard hasOneSet, wanted.count > 1 else { return faults }
        let hasEID = beacon.advertisements.contains { $0.type == "eddystone-eid" }
        let plain = beacon.advertisements.firstIndex { $0.identityKeyFile == nil }
        if hasEID, let plain {
            faults.append(
                .init(
                    message:
                        "\(description) has one address at a time: the address of an EID changes, and the address of "
                        + "\(beacon.advertisements[plain].type) would change with it; remove one of the two, or use a "
                        + "controller with extended advertising",
                    path: JSONPath([.key("advertisements"), .index(plain)])))
        }
        return faults
    }
}
