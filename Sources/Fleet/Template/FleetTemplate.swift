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
    /// The text between the slots: one more than there are slots. A slot that is a whole value has no quotes around it
    /// here.
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
        var members: [JSONValue.Member] = [.init("version", .integer(BeaconProfile.version))]
        builder.add(expression: "name", at: JSONPath([.key("name")]), node: node["name"])
        members.append(.init("name", builder.lastMark))
        let wantsAddress = node["address"].map { $0.string == "random-static" } ?? true
        let rotates = Self.rotates(node)
        for key in [
            "adapter", "address", "radioPowerDbm", "channels", "pdu", "calibration", "eidEpoch",
            "advertisements", "scanResponse",
        ] {
            let path = JSONPath([.key(key)])
            if key == "address", wantsAddress {
                builder.add(expression: "address", at: path, node: node[key], kind: .allocated)
                members.append(.init(key, builder.lastMark))
            } else if key == "eidEpoch" {
                guard rotates else { continue }
                builder.add(expression: "eidEpoch", at: path, node: nil, kind: .allocated)
                members.append(.init(key, builder.lastMark))
            } else if let value = node[key] {
                members.append(.init(key, builder.value(value, at: path, &decoder)))
            }
        }
        hasAddress = wantsAddress
        hasEpoch = rotates
        slots = builder.slots
        fixedText = Self.split(JSONValue.object(members).pretty, slots: builder.slots)
    }

    private static func rotates(_ node: JSONNode) -> Bool {
        guard case .array(let elements) = node["advertisements"]?.value else { return false }
        return elements.contains { $0["identityKeyFile"] != nil }
    }

    /// Cuts the text at the marks, and takes the quotes off those that are whole values.
    private static func split(_ text: String, slots: [Slot]) -> [[UInt8]] {
        var chunks: [[UInt8]] = []
        var rest = Array(text.utf8)[...]
        for index in slots.indices {
            let mark = Array(TemplateBuilder.mark(index).utf8)
            guard let place = rest.firstRange(of: mark) else { continue }
            // Marks are whole values always, so a quote stands on both sides.
            chunks.append(Array(rest[..<place.lowerBound].dropLast()))
            rest = rest[place.upperBound...].dropFirst()
        }
        chunks.append(Array(rest))
        return chunks
    }
}

/// Collects the slots of a template while its values are copied.
private struct TemplateBuilder {
    var slots: [FleetTemplate.Slot] = []

    /// Two characters that no one types, around the slot's number.
    static func mark(_ index: Int) -> String { "\u{F8FF}\u{F0000}\(index)\u{F8FF}" }

    var lastMark: JSONValue { .string(Self.mark(slots.count - 1)) }

    mutating func add(expression variable: String, at path: JSONPath, node: JSONNode?, kind: SlotKind? = nil) {
        guard let expression = try? Expression("${\(variable)}") else { return }
        slots.append(.init(path: path, kind: kind ?? SlotKind(path), expression: expression, node: node))
    }

    mutating func value(_ node: JSONNode, at path: JSONPath, _ decoder: inout ConfigurationDecoder) -> JSONValue {
        switch node.value {
        case .string(let text) where text.contains("${") || text.contains("\u{F0000}"):
            do throws(Expression.Fault) {
                let expression = try Expression(text)
                slots.append(.init(path: path, kind: SlotKind(path), expression: expression, node: node))
                return lastMark
            } catch {
                decoder.error(error.description, at: node)
                return .string(text)
            }
        case .array(let elements):
            return .array(elements.enumerated().map { value($1, at: path.index($0), &decoder) })
        case .object(let members):
            return .object(members.map { .init($0.key, value($0.value, at: path.key($0.key), &decoder)) })
        default: return JSONValue(node)
        }
    }
}
