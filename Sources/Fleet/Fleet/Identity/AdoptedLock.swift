internal import BluetoothTypes
internal import Configuration

extension FleetLock {
    /// The reason why a lock cannot be restored from a manifest.
    public enum AdoptionError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The manifest belongs to the fleet with this name.
        case otherFleet(String)
        /// The manifest does not contain the value of this variable in a field of its own.
        case hidden(variable: String)
        /// This beacon of the manifest does not match the template.
        case otherTemplate(beacon: String)

        /// The reason, as the end of a sentence.
        public var description: String {
            switch self {
            case .otherFleet(let name): "it is the manifest of the fleet \(name)"
            case .hidden(let variable):
                "it does not contain the beacons' \(variable): "
                    + "the template has \"${\(variable)}\" only within longer texts"
            case .otherTemplate(let name):
                "its beacon \(name) does not match the fleet file; use the fleet file from which the manifest was made"
            }
        }
    }

    /// Restores a lock from the manifest that was generated with it. The identities of retired beacons are lost,
    /// because a manifest does not contain them.
    ///
    /// - Parameter fleet: The fleet file from which the manifest was generated. Its beacons may have changed.
    public init(adopting manifest: FleetManifest, for fleet: Fleet) throws(AdoptionError) {
        self.init(fleet: fleet.name)
        guard manifest.fleet == fleet.name else { throw .otherFleet(manifest.fleet) }
        let rules = fleet.rules
        /// Returns the index of the advertisement whose identity contains the variable; `nil` if no rule allocates the
        /// variable.
        func advertisementIndex(_ variable: String, _ isAllocated: Bool) throws(AdoptionError) -> Int? {
            guard isAllocated else { return nil }
            let slot = fleet.template.slots.first { slot in
                slot.expression.wholeVariable == variable && slot.path.components.last == .key(variable)
            }
            guard let slot, slot.path.components.count == 3, case .index(let index) = slot.path.components[1] else {
                throw .hidden(variable: variable)
            }
            return index
        }
        let majorIndex = try advertisementIndex("major", rules.major != nil)
        let minorIndex = try advertisementIndex("minor", rules.minor != nil)
        let instanceIndex = try advertisementIndex("instance", rules.instance != nil)
        var majorPaths: Set<String> = []
        for beacon in manifest.beacons {
            func identity(_ index: Int) throws(AdoptionError) -> FleetManifest.Identity {
                guard beacon.advertisements.indices.contains(index) else { throw .otherTemplate(beacon: beacon.name) }
                return beacon.advertisements[index].identity
            }
            func path(_ level: AllocationRules.Level) -> String {
                beacon.group.prefix(level.depth).joined(separator: "/")
            }
            var entry = Entry(
                name: beacon.name, serial: beacon.serial, host: beacon.host, title: beacon.title,
                group: beacon.title == nil ? "" : beacon.group.joined(separator: "/"))
            if let majorIndex, let rule = rules.major, majorPaths.insert(path(rule.per)).inserted {
                guard case .iBeacon(_, let major, _) = try identity(majorIndex) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                groups.append(.init(path: path(rule.per), major: Int(major)))
            }
            if let minorIndex, let rule = rules.minor {
                guard case .iBeacon(_, _, let minor) = try identity(minorIndex) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                (entry.scope, entry.minor) = (path(rule.within), Int(minor))
            }
            if let instanceIndex {
                guard case .eddystoneUID(_, let instance) = try identity(instanceIndex) else {
                    throw .otherTemplate(beacon: beacon.name)
                }
                entry.instance = instance.octets.reduce(0) { $0 << 8 | UInt64($1) }
            }
            if fleet.template.hasAddress { entry.address = beacon.address }
            if fleet.template.hasEpoch { entry.epoch = beacon.eidEpoch }
            entries.append(entry)
        }
    }
}
