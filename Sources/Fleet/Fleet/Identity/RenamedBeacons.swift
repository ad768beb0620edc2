/// The beacons that seem to have a new name, although neither `was` nor `pharos fleet rename` states it.
///
/// Each beacon that was in use in the lock and is no longer in the fleet is compared with each beacon that would get a
/// new identity. The two are regarded as one renamed beacon if one of these signs has the same value for both, and for
/// no other beacon of the lock or of the fleet:
///
/// 1. the serial number of the machine;
/// 2. the host;
/// 3. the group together with the title;
/// 4. the name without the leading zeros of its numbers, and in lower case.
///
/// Otherwise they are regarded as a removed beacon and a new beacon. A beacon that gets its own retired identity back
/// is not regarded as renamed.
struct RenamedBeacons {
    enum Sign: CaseIterable {
        case serial
        case host
        case title
        case name

        fileprivate func value(of entry: FleetLock.Entry) -> String? {
            value(name: entry.name, serial: entry.serial, host: entry.host, title: entry.title, group: entry.group)
        }

        fileprivate func value(of beacon: Fleet.Beacon, in fleet: Fleet) -> String? {
            value(
                name: beacon.name, serial: beacon.serial, host: beacon.host, title: beacon.title,
                group: fleet.groups[beacon.group].pathText)
        }

        private func value(name: String, serial: String?, host: String?, title: String?, group: String) -> String? {
            switch self {
            case .serial: serial
            case .host: host
            case .title: title.map { "\(group)\n\($0)" }
            case .name: RenamedBeacons.normalized(name)
            }
        }
    }

    /// The former name of each renamed beacon, by its present name, and the sign by which it was recognized.
    private(set) var formerNames: [String: (name: String, sign: Sign)] = [:]

    /// - Parameters:
    ///   - entries: The entries of the lock before this allocation.
    ///   - renamed: The former names of beacons that the fleet file states, by their present names.
    init(_ entries: [FleetLock.Entry], _ fleet: Fleet, renamed: [String: String]) {
        let liveEntries = entries.filter { !$0.isRetired }
        let namesInUse = Set(liveEntries.map(\.name))
        let statedFormerNames = Set(renamed.values)
        let missingNames = Set(
            liveEntries.map(\.name).filter { fleet.beaconIndices[$0] == nil && !statedFormerNames.contains($0) })
        let newBeacons = fleet.beacons.filter { !namesInUse.contains($0.name) && renamed[$0.name] == nil }
        guard !missingNames.isEmpty, !newBeacons.isEmpty else { return }
        let retiredEntries = Dictionary(grouping: entries.filter(\.isRetired), by: \.name)
        var recognizedNames: Set<String> = []
        for sign in Sign.allCases {
            let namesInLock = Self.unique(liveEntries.map { (sign.value(of: $0), $0.name) })
            let namesInFleet = Self.unique(fleet.beacons.map { (sign.value(of: $0, in: fleet), $0.name) })
            for beacon in newBeacons where formerNames[beacon.name] == nil {
                guard let value = sign.value(of: beacon, in: fleet), namesInFleet[value] == .some(beacon.name),
                    let name = namesInLock[value] ?? nil, missingNames.contains(name),
                    !recognizedNames.contains(name),
                    retiredEntries[beacon.name]?.contains(where: { sign.value(of: $0) == value }) != true
                else { continue }
                formerNames[beacon.name] = (name, sign)
                recognizedNames.insert(name)
            }
        }
    }

    /// For each value, the name of the only beacon with this value; `nil` if several beacons have the value.
    private static func unique(_ values: [(value: String?, name: String)]) -> [String: String?] {
        var names: [String: String?] = [:]
        for (value, name) in values {
            guard let value else { continue }
            names[value] = names[value] == nil ? name : .some(nil)
        }
        return names
    }

    /// The name without the leading zeros of its numbers, in lower case.
    static func normalized(_ name: String) -> String {
        var result = ""
        var digits = ""
        for character in name.lowercased() + "\n" {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            if !digits.isEmpty {
                let significant = digits.drop { $0 == "0" }
                result += significant.isEmpty ? "0" : significant
                digits = ""
            }
            if character != "\n" { result.append(character) }
        }
        return result
    }
}
