/// The kinds of JSON files, told apart by the keys that only they have: for whoever gives one where another is expected.
public enum FileKind: Hashable, Sendable {
    case beaconProfile
    case fleet
    case site
    case listener
    case fleetLock
    case manifest

    /// Recognizes a file by the keys of its outermost object; `nil` for what looks like none of them.
    public init?(_ root: JSONNode) {
        func has(_ key: String) -> Bool { root[key] != nil }
        if has("advertisements") {
            self = .beaconProfile
        } else if has("template") {
            self = .fleet
        } else if has("outline") || has("walls") || has("receiverSensitivityDbm") {
            self = .site
        } else if ["known", "irks", "rssiOffsetDb", "strangers", "zones"].contains(where: has) {
            self = .listener
        } else if has("fleet"), has("beacons") {
            self = has("groups") ? .fleetLock : .manifest
        } else {
            return nil
        }
    }

    /// With its article, such as `a fleet file`.
    public var name: String {
        switch self {
        case .beaconProfile: "a beacon profile"
        case .fleet: "a fleet file"
        case .site: "a site file"
        case .listener: "a listener file"
        case .fleetLock: "the lock of a fleet"
        case .manifest: "the manifest of a fleet"
        }
    }

    /// The command that takes such a file.
    public var command: String {
        switch self {
        case .beaconProfile: "pharos profile check"
        case .fleet, .fleetLock: "pharos fleet check"
        case .site: "pharos plan site"
        case .listener: "pharos listen --print"
        case .manifest: "pharos fleet status"
        }
    }
}

extension ConfigurationDecoder {
    /// Whether `root` may be a file of kind `expected`; else one error says what it is, in place of one for each key.
    package mutating func expect(_ expected: FileKind, _ root: JSONNode) -> Bool {
        guard let found = FileKind(root), found != expected else { return true }
        let command =
            found == .fleetLock ? "`pharos fleet check` takes the fleet file beside it" : "`\(found.command)` takes it"
        error("this is \(found.name), not \(expected.name): \(command)", at: root)
        return false
    }
}
