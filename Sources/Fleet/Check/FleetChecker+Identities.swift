internal import BluetoothTypes
internal import Configuration
internal import Profiles

extension FleetChecker {
    mutating func checkIdentities(_ shape: Shape, _ number: Int) {
        for (index, advertisement) in shape.advertisements.enumerated() where !advertisement.identity.isEmpty {
            IdentityText.key(advertisement, reader, into: &key)
            let hash = StableHash.of(key, 0..<key.count)
            if let first = identities.insert(hash, number), first != number {
                compare(first, number, index, advertisement)
            } else if advertisement.type == "ibeacon", fleet.listeners.contains(.homeAssistant) {
                homeAssistant.add(advertisement, reader)
            }
        }
        if case .explicit(let address) = shape.profile?.address, !fleet.template.hasAddress {
            checkAddress(address, at: JSONPath([.key("address")]), number)
        }
        for (index, advertisement) in shape.advertisements.enumerated() {
            guard let address = advertisement.address else { continue }
            checkAddress(address, at: JSONPath([.key("advertisements"), .index(index), .key("address")]), number)
        }
    }

    /// Two advertisements of one box may share an address, two boxes may not.
    private mutating func checkAddress(_ address: DeviceAddress, at path: JSONPath, _ number: Int) {
        let hash = StableHash.of(address.octets.octets, 0..<6)
        guard let first = identities.insert(hash, number), first != number else { return }
        let message = "\(address) is also the address of \"\(fleet.names.string(first))\""
        problems.add(add(message, at: place(ofPath: path, number)))
    }

    /// Whether two beacons with the same hash have the same identity, too.
    mutating func compare(_ first: Int, _ number: Int, _ index: Int, _ advertisement: ShapeAdvertisement) {
        other.fill(first, allocation)
        let (shape, _) = otherShapes.find(other)
        for candidate in shape.advertisements where !candidate.identity.isEmpty {
            IdentityText.key(candidate, other, into: &otherKey)
            guard otherKey == key else { continue }
            let text = String(decoding: key, as: UTF8.self).split(separator: "\0").dropFirst().joined(separator: " ")
            let place = other.place(of: first)
            let message =
                "\(advertisement.type) \(text) is also what \"\(fleet.names.string(first))\" sends "
                + "(\(place.file):\(place.position))"
            let keys = advertisement.identity.map(\.name)
            let slots = keys.compactMap { slot(at: JSONPath([.key("advertisements"), .index(index), .key($0)])) }
            let own =
                slots.first { if case .column = reader.plan.slots[$0].origin { true } else { false } } ?? slots.last
            let origin = own.map { reader.plan.slots[$0].origin }
            if let origin, case .column = origin {
                problems.add(add(message, at: reader.place(origin, of: number)))
            } else {
                problems.add(add(message, at: reader.place(of: number)))
            }
            return
        }
    }

    /// Where the value at a path of the profile comes from.
    mutating func place(ofPath path: JSONPath, _ number: Int) -> BeaconReader.Place {
        let origin = slot(at: path).map { reader.plan.slots[$0].origin } ?? .node(templateNode(path))
        return reader.place(origin, of: number)
    }
}
