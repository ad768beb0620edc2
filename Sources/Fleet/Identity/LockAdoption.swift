internal import BluetoothTypes
internal import Configuration

extension FleetLock {
    /// Why identities cannot be taken from a manifest.
    public enum AdoptionError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The manifest is of the fleet with this name.
        case otherFleet(String)
        /// What this variable holds stands in no place of its own in the manifest.
        case hidden(variable: String)
        /// This beacon of the manifest does not send what the template says.
        case otherTemplate(beacon: String)

        /// As the end of a sentence.
        public var description: String {
            switch self {
            case .otherFleet(let name): "it is the manifest of the fleet \(name)"
            case .hidden(let variable):
                "it does not say the beacons' \(variable): the template has \"${\(variable)}\" within texts only"
            case .otherTemplate(let name):
                "its beacon \(name) does not send what the fleet file says; take the fleet file that it was made from"
            }
        }
    }

    /// The lock that a manifest was made with, as far as a manifest tells: not the identities of retired beacons.
    ///
    /// - Parameter fleet: The fleet file that the manifest was made from, with other beacons or not.
    public init(adopting manifest: FleetManifest, for fleet: Fleet) throws(AdoptionError) {
        self.init(fleet: fleet.name)
        guard manifest.fleet == fleet.name else { throw .otherFleet(manifest.fleet) }
        let rules = fleet.rules
        func place(_ variable: String, _ isWanted: Bool) throws(AdoptionError) -> Int? {
            guard isWanted else { return nil }
            let slot = fleet.template.slots.first { slot in
                slot.expression.wholeVariable == variable && slot.path.components.last == .key(variable)
            }
            guard let slot, slot.path.components.count == 3, case .index(let index) = slot.path.components[1] else {
                throw .hidden(variable: variable)
            }
            return index
        }
        let majorPlace = try place("major", rules.major != nil)
        let minorPlace = try place("minor", rules.minor != nil)
        let instancePlace = try place("instance", rules.instance != nil)
        var majorPaths: Set<String> = []
        var scopeNumbers: [String: UInt32] = ["": 0]
        for beacon in manifest.beacons {
            func identity(_ place: Int) throws(AdoptionError) -> FleetManifest.Identity {
                guard beacon.advertisements.indices.contains(place) else { throw .otherTemplate(beacon: beacon.name) }
                return beacon.advertisements[place].identity
            }
            func path(_ level: AllocationRules.Level) -> String {
                beacon.group.prefix(level.depth).joined(separator: "/")
            }
            var entry = Entry(
                nameStart: store(beacon.name.utf8), nameCount: UInt8(truncatingIfNeeded: beacon.name.utf8.count))
            if let majorPlace, let rule = rules.major, majorPaths.insert(path(rule.per)).inserted {
                guard case .iBeacon(_, let major, _) = try identity(majorPlace) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                majors.append(.init(group: path(rule.per), major: Int(major), line: 0))
            }
            if let minorPlace, let rule = rules.minor {
                guard case .iBeacon(_, _, let minor) = try identity(minorPlace) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                let scopePath = path(rule.within)
                let number = scopeNumbers[scopePath] ?? scope(scopePath)
                scopeNumbers[scopePath] = number
                (entry.scope, entry.minor) = (number, Int32(minor))
            }
            if let instancePlace {
                guard case .eddystoneUID(_, let instance) = try identity(instancePlace) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                entry.instance = instance.octets.reduce(0) { $0 << 8 | UInt64($1) }
            }
            if fleet.template.hasAddress, let address = beacon.address { entry.address = address.number }
            if fleet.template.hasEpoch, let epoch = beacon.eidEpoch { entry.epoch = Int64(epoch.secondsSince1970) }
            if let serial = beacon.serial {
                entry.boxStart = store(serial.utf8)
                entry.boxCount = UInt8(truncatingIfNeeded: serial.utf8.count)
            }
            entries.append(entry)
        }
    }
}
