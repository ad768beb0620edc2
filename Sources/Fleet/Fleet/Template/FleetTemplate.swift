internal import Configuration
internal import Profiles

/// The template of all profiles: the text of a profile in which a slot replaces each value that contains variables.
struct FleetTemplate: Sendable {
    /// A value that is filled for each beacon.
    struct Slot: Sendable {
        /// The path of the value in the profile.
        var path: JSONPath
        var type: PlaceType
        var expression: Expression
        /// The value in the fleet file; `nil` when Pharos adds it to the template.
        var node: JSONNode?
    }

    let slots: [Slot]
    /// The text between the slots: one piece more than there are slots.
    private let fixedText: [[UInt8]]
    /// The object in the fleet file.
    let node: JSONNode
    /// `true` if beacons send from an allocated address.
    let hasAddress: Bool
    /// `true` if an advertisement has an identity key, so that beacons need an epoch.
    let hasEpoch: Bool

    /// Every key that a template may have.
    static let keys = [
        "version", "name", "adapter", "address", "radioPowerDbm", "channels", "pdu", "calibration", "advertisements",
        "scanResponse",
    ]

    init(_ node: JSONNode, _ decoder: inout ConfigurationDecoder) {
        self.node = node
        var builder = TemplateBuilder()
        var members: [(String, JSONTemplate)] = [("version", .value(.integer(BeaconProfile.version)))]
        builder.add(variable: "name", node: node["name"])
        members.append(("name", .gap))
        let wantsAddress = node["address"].map { $0.string == "random-static" } ?? true
        let hasIdentityKey = Self.hasIdentityKey(node)
        for key in [
            "adapter", "address", "radioPowerDbm", "channels", "pdu", "calibration", "eidEpoch",
            "advertisements", "scanResponse",
        ] {
            if key == "address", wantsAddress {
                builder.add(variable: key, node: node[key])
                members.append((key, .gap))
            } else if key == "eidEpoch" {
                guard hasIdentityKey else { continue }
                builder.add(variable: key, node: nil)
                members.append((key, .gap))
            } else if let value = node[key] {
                members.append((key, builder.value(value, at: JSONPath([.key(key)]), &decoder)))
            }
        }
        hasAddress = wantsAddress
        hasEpoch = hasIdentityKey
        slots = builder.slots
        fixedText = JSONTemplate.object(members).prettyPieces.map { Array($0.utf8) }
    }

    private static func hasIdentityKey(_ node: JSONNode) -> Bool {
        guard case .array(let elements) = node["advertisements"]?.value else { return false }
        return elements.contains { $0["identityKeyFile"] != nil }
    }

    /// The text of a profile with these values in the slots.
    func text(_ values: [JSONValue]) -> [UInt8] {
        var text: [UInt8] = []
        for (index, piece) in fixedText.enumerated() {
            text += piece
            if index < values.count { text += values[index].line.utf8 }
        }
        return text
    }

    /// The path of a key of an advertisement in a profile. Advertisements count from 0.
    static func path(_ advertisement: Int, _ key: String) -> JSONPath {
        JSONPath([.key("advertisements"), .index(advertisement), .key(key)])
    }

    /// The position in ``slots`` of the slot at `path`, or of the slot that contains `path`; `nil` if there is none.
    func slot(at path: JSONPath) -> Int? {
        slots.firstIndex { path.components.starts(with: $0.path.components) }
    }

    /// The value of the template at a path of the profile, with the position of its key.
    func key(at path: JSONPath) -> JSONNode {
        let value = node(at: path)
        let object = node(at: JSONPath(Array(path.components.dropLast())))
        guard let member = object.members?.first(where: { path.components.last == .key($0.key) }) else { return value }
        return JSONNode(value.value, at: member.keyPosition, path: value.path)
    }

    /// The innermost value of the template around a path of the profile.
    func node(at path: JSONPath) -> JSONNode {
        var node = self.node
        for component in path.components {
            let child: JSONNode? =
                switch component {
                case .key(let key): node[key]
                case .index(let index): node[index]
                }
            guard let child else { break }
            node = child
        }
        return node
    }
}

/// The type of the JSON value that a place of a profile takes. It decides to which type the text of a table's cell is
/// converted.
enum PlaceType: Sendable {
    case number
    case boolean
    case string
    /// A string or a number.
    case any

    init(_ path: JSONPath) {
        guard case .key(let key) = path.components.last else {
            // An element of `channels`, or of a list of UUIDs.
            self = path.components.contains(.key("channels")) ? .number : .any
            return
        }
        if path.components.count == 2, path.components[0] == .key("calibration") {
            self = key == "receiver" ? .any : .number
            return
        }
        switch key {
        case "major", "minor", "intervalMs", "radioPowerDbm", "measuredPowerDbm", "measuredPower1mDbm", "companyId",
            "reserved", "flags", "rotationExponent", "powerDbm", "version", "forS":
            self = .number
        case "encrypted", "uptime", "advertisements": self = .boolean
        case "uuid", "namespace", "instance", "id", "data", "url", "localName", "name", "identityKeyFile":
            self = .string
        default: self = .any
        }
    }

    /// The value of a cell at such a place: a number or a boolean if the place takes such a value and the text states
    /// one.
    func value(ofCell text: String) -> JSONValue {
        if self == .number, let number = JSONNumber(text) { return .number(number) }
        if self == .boolean, text == "true" || text == "false" { return .boolean(text == "true") }
        return .string(text)
    }
}

/// Collects the slots of a template while its values are copied.
private struct TemplateBuilder {
    var slots: [FleetTemplate.Slot] = []

    /// Adds a slot for a key of the profile that has the value of the variable of the same name.
    mutating func add(variable: String, node: JSONNode?) {
        let expression = Expression(variable: variable)
        slots.append(.init(path: JSONPath([.key(variable)]), type: .string, expression: expression, node: node))
    }

    mutating func value(_ node: JSONNode, at path: JSONPath, _ decoder: inout ConfigurationDecoder) -> JSONTemplate {
        switch node.value {
        case .string(let text) where text.contains("${"):
            do throws(Expression.Fault) {
                let expression = try Expression(text)
                slots.append(.init(path: path, type: PlaceType(path), expression: expression, node: node))
                return .gap
            } catch {
                decoder.error(error.description, at: node)
                return .value(.string(text))
            }
        case .array(let elements):
            return .array(elements.enumerated().map { value($1, at: path.index($0), &decoder) })
        case .object(let members):
            return .object(members.map { ($0.key, value($0.value, at: path.key($0.key), &decoder)) })
        default: return .value(JSONValue(node))
        }
    }
}
