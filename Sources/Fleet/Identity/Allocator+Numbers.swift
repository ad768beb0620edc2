internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity

extension Allocator {
    mutating func nextMinor(scope: UInt32, _ number: Int) -> Int32 {
        let entries = allocation.lock.entries
        let next = minors[Int(scope)].next {
            entries.filter { $0.scope == scope && $0.minor >= 0 }.map { Int($0.minor) }
        }
        if let next { return Int32(truncatingIfNeeded: next) }
        let path = allocation.lock.scopes[Int(scope)]
        let whose = path.isEmpty ? "the fleet" : "\"\(path)\""
        let node = fleet.rules.nodes["minor"] ?? fleet.template.node
        problems.add(
            "the 65536 minor numbers of \(whose) are all given out; count them within a smaller part "
                + "(\"within\"), or release retired beacons", at: node, in: fleet.file)
        return -1
    }

    mutating func newInstance(
        _ rule: AllocationRules.Instance, _ serial: String?, _ number: Int, _ index: Int
    ) -> UInt64 {
        switch rule {
        case .counter:
            while nextInstance <= AllocationRules.instanceLimit, instances.contains(nextInstance) { nextInstance += 1 }
            guard nextInstance <= AllocationRules.instanceLimit else {
                problems.add(
                    "the instance numbers up to ffffffffffff are all given out: the lock has the last one; release the "
                        + "retired beacons with the highest ones, or take serial numbers (\"from\": \"serial\")",
                    at: fleet.rules.nodes["instance"] ?? fleet.template.node, in: fleet.file)
                return FleetLock.none
            }
            let given = nextInstance
            nextInstance += 1
            _ = instances.insert(given, index)
            return given
        case .serial:
            let place = reader.place(of: number, column: "serial")
            guard let serial else {
                let message =
                    "the instance comes from the box's serial number, and this beacon has none: add its \"serial\""
                problems.add(FileProblem(message, at: place.position, path: place.path, in: place.file))
                return FleetLock.none
            }
            let given = Self.instance(fromSerial: serial)
            if let first = instances.insert(given, index) {
                let other = allocation.lock.name(allocation.lock.entries[first])
                if other == fleet.names.string(number), first >= isTaken.count || !isTaken[first] {
                    // The same box under the same name, counted in another group from now on: its number goes with it.
                    allocation.lock.entries[first].instance = FleetLock.none
                    return given
                }
                let isGone = fleet.names.find(other) == nil
                let message =
                    "the serial number \"\(serial)\" gives the same instance as that of \"\(other)\""
                    + (isGone ? "; `pharos fleet generate --release \(other)` gives that up" : "")
                problems.add(FileProblem(message, at: place.position, path: place.path, in: place.file))
                return FleetLock.none
            }
            return given
        }
    }

    /// The last 12 digits of a hexadecimal serial number; of another one the first 12 of its fingerprint.
    static func instance(fromSerial serial: String) -> UInt64 {
        let digits = serial.filter { $0 != ":" && $0 != "-" }
        let isHexadecimal = !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        let source =
            isHexadecimal ? String(digits.suffix(12)) : String(Fingerprint.text(of: Array(serial.utf8)).prefix(12))
        return UInt64(source, radix: 16) ?? 0
    }

    /// 46 bits that follow from the fleet's and the beacon's names; others where somebody has these already.
    mutating func newAddress(_ number: Int) -> UInt64 {
        let range = fleet.names.range(number)
        let text = fleet.names.text
        let fleetSeed = StableHash.of(Array(fleet.name.utf8), 0..<fleet.name.utf8.count)
        var attempt: UInt64 = 0
        while true {
            let bits = StableHash.of(text, range, seed: fleetSeed &+ attempt) >> 16
            let address = bits | 0xC000_0000_0000
            attempt += 1
            guard DeviceAddress(number: address).isValidStaticRandom else { continue }
            if addresses.insert(address, number) == nil { return address }
        }
    }
}
