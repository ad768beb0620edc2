internal import Configuration

/// What a place of a profile takes, as far as it matters for filling it and for telling good values fast.
enum SlotKind: Hashable, Sendable {
    /// `major` and `minor`.
    case integer16
    /// Other numbers, and what may be a number.
    case number
    case boolean
    /// Octets in hexadecimal.
    case hexadecimal
    case url
    /// A text of which only the length matters.
    case sizedText
    case keyFile
    /// The profile's own name, which the beacon's is.
    case name
    /// The address and the epoch that are allocated.
    case allocated
    /// Any other string.
    case text

    init(_ path: JSONPath) {
        guard case .key(let key) = path.components.last else {
            // An element of `channels`, or of a list of UUIDs.
            self = path.components.contains(.key("channels")) ? .number : .text
            return
        }
        if path.components.count == 2, path.components[0] == .key("calibration") {
            self = .number
            return
        }
        switch key {
        case "major", "minor": self = .integer16
        case "intervalMs", "radioPowerDbm", "measuredPowerDbm", "measuredPower1mDbm", "companyId", "reserved", "flags",
            "rotationExponent", "powerDbm", "version":
            self = .number
        case "encrypted": self = .boolean
        case "uuid", "namespace", "instance", "id", "data": self = .hexadecimal
        case "url": self = .url
        case "localName": self = .sizedText
        case "name": self = path.components.count == 1 ? .name : .sizedText
        case "identityKeyFile": self = .keyFile
        default: self = .text
        }
    }

    /// Whether a cell of a table that looks like a number is one here.
    var takesNumbers: Bool { self == .integer16 || self == .number }

    /// Whether only a string can stand here, so that a number is written as one.
    var takesStringsOnly: Bool {
        switch self {
        case .hexadecimal, .url, .sizedText, .keyFile, .name, .allocated: true
        case .integer16, .number, .boolean, .text: false
        }
    }
}
