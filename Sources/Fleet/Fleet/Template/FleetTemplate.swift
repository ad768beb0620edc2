internal import BluetoothTypes
internal import Configuration
internal import Profiles

/// The template of all profiles: fixed text, with a slot wherever something differs from beacon to beacon.
struct FleetTemplate: Sendable {
    struct Slot: Sendable {
        /// Within the profile.
        var path: JSONPath
        var kind: SlotKind
        var expression: Expression
        /// Where it stands in the fleet file; `nil` for what the template does not write itself.
        var node: JSONNode?
    }

    let slots: [Slot]
    /// The text between the slots, which are whole values: one more than there are slots.
    let fixedText: [[UInt8]]
    /// The object in the fleet file.
    let node: JSONNode
    /// Whether beacons send from an allocated address.
    let hasAddress: Bool
    /// Whether something rotates, so that an epoch is needed.
    let hasEpoch: Bool

    /// What the names of allocated values are.
    static let allocatedNames = ["major", "minor", "namespace", "instance"]

    /// Every key that a template may have.
    static let keys = [
        "version", "name", "adapter", "address", "radioPowerDbm", "channels", "pdu", "calibration", "advertisements",
        "scanResponse",
    ]

    init(_ node: JSONNode, _ decoder: inout ConfigurationDecoder) {
        self.node = node
        var builder = TemplateBuilder()
        var members: [(String, JSONTemplate)] = [("version", .value(.integer(BeaconProfile.version)))]
        builder.add(expression: "name", at: JSONPath([.key("name")]), node: node["name"])
        members.append(("name", .gap))
        let wantsAddress = node["address"].map { $0.string == "random-static" } ?? true
        let rotates = Self.rotates(node)
        for key in [
            "adapter", "address", "radioPowerDbm", "channels", "pdu", "calibration", "eidEpoch",
            "advertisements", "scanResponse",
        ] {
            let path = JSONPath([.key(key)])
            if key == "address", wantsAddress {
                builder.add(expression: "address", at: path, node: node[key], kind: .allocated)
                members.append((key, .gap))
            } else if key == "eidEpoch" {
                guard rotates else { continue }
                builder.add(expression: "eidEpoch", at: path, node: nil, kind: .allocated)
                members.append((key, .gap))
            } else if let value = node[key] {
                members.append((key, builder.value(value, at: path, &decoder)))
            }
        }
        hasAddress = wantsAddress
        hasEpoch = rotates
        slots = builder.slots
        fixedText = JSONTemplate.object(members).prettyPieces.map { Array($0.utf8) }
    }

    private static func rotates(_ node: JSONNode) -> Bool {
        guard case .array(let elements) = node["advertisements"]?.value else { return false }
        return elements.contains { $0["identityKeyFile"] != nil }
    }

    /// Where the key of an advertisement is in a profile.
    ///
    /// - Parameter index: Of the advertisement, from 0.
    static func path(_ index: Int, _ key: String) -> JSONPath {
        JSONPath([.key("advertisements"), .index(index), .key(key)])
    }

    /// The slot that is at a path of the profile or around it.
    func slot(at path: JSONPath) -> Int? {
        slots.firstIndex { path.components.starts(with: $0.path.components) }
    }

    /// The innermost value of the template around a path of the profile.
    func node(at path: JSONPath) -> JSONNode {
        var node = self.node
        for component in path.components {
            let next: JSONNode? =
                switch component {
                case .key(let key): node[key]
                case .index(let index): node[index]
                }
            guard let next else { break }
            node = next
        }
        return node
    }
}

/// Collects the slots of a template while its values are copied.
private struct TemplateBuilder {
    var slots: [FleetTemplate.Slot] = []

    mutating func add(expression variable: String, at path: JSONPath, node: JSONNode?, kind: SlotKind? = nil) {
        guard let expression = try? Expression("${\(variable)}") else { return }
        slots.append(.init(path: path, kind: kind ?? SlotKind(path), expression: expression, node: node))
    }

    mutating func value(_ node: JSONNode, at path: JSONPath, _ decoder: inout ConfigurationDecoder) -> JSONTemplate {
        switch node.value {
        case .string(let text) where text.contains("${"):
            do throws(Expression.Fault) {
                let expression = try Expression(text)
                slots.append(.init(path: path, kind: SlotKind(path), expression: expression, node: node))
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
