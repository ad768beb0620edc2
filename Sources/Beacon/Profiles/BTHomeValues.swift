package import BeaconFrames
internal import Configuration
package import LinuxHost

/// The values under the key `values` of a BTHome advertisement: fixed values, and sensors to read.
struct BTHomeValues: Sendable {
    var objects: [BTHomeObject] = []
    var measurements: [Advertisement.BTHomeSource.Measurement] = []

    /// The values as JSON; `nil` if there are none.
    var json: JSONValue? {
        let fixedMembers = objects.map { object -> (String, JSONValue) in
            if object.kind.isBinary { return (object.kind.name, .boolean(object.text == "true")) }
            return (object.kind.name, object.kind.isNumber ? .decimal(object.text) : .string(object.text))
        }
        let sensorMembers = measurements.map { ($0.kind.name, JSONValue.string($0.sensor)) }
        return fixedMembers.isEmpty && sensorMembers.isEmpty ? nil : .record(fixedMembers + sensorMembers)
    }
}

extension SensorQuantity {
    /// The quantity that a sensor for the value of a BTHome object measures.
    package init(btHome kind: BTHomeKind) {
        self =
            switch (kind.name, kind.unit) {
            case ("temperature", _), ("dewpoint", _): .temperature
            case ("humidity", _): .humidity
            case ("pressure", _): .pressure
            case ("illuminance", _): .illuminance
            case ("voltage", _): .voltage
            case ("battery", "%"): .charge
            default: .number
            }
    }
}

extension ValueType<BTHomeValues> {
    /// The values under the key `values` of a BTHome advertisement.
    static var btHomeValues: ValueType {
        let names = Set(BTHomeKind.all.map(\.name)).subtracting(["packet_id"]).sorted()
        return ValueType(
            schema: [
                "type": "object", "minProperties": 1, "propertyNames": ["enum": .array(names.map { .string($0) })],
                "additionalProperties": ["type": ["number", "boolean", "string"]],
            ]
        ) { $0.btHomeValues($1, names) }
    }
}

extension ConfigurationDecoder {
    fileprivate mutating func btHomeValues(_ node: JSONNode, _ names: [String]) -> BTHomeValues? {
        guard let members = node.members else {
            wrongKind(node, expected: "an object of values, such as { \"co2\": \"file:/run/co2\" },")
            return nil
        }
        guard !members.isEmpty else {
            error("there is no value; give one, such as { \"co2\": \"file:/run/co2\" }", at: node)
            return nil
        }
        var values = BTHomeValues()
        var isGood = true
        for member in members { isGood = add(member, names, to: &values) && isGood }
        return isGood ? values : nil
    }

    private mutating func add(_ member: JSONMember, _ names: [String], to values: inout BTHomeValues) -> Bool {
        guard names.contains(member.key) else {
            let advice = NearestWord.find(member.key, among: names).map { "did you mean \"\($0)\"?" }
            error(
                "BTHome has no object \(ProblemText.quoted(member.key)); "
                    + (advice ?? "the objects are \(names.joined(separator: ", "))"), at: member)
            return false
        }
        let kinds = BTHomeKind.all.filter { $0.name == member.key }
        var text: String?
        switch member.value.value {
        case .number(let number): text = number.text
        case .boolean(let value): text = value ? "true" : "false"
        case .string(let value): text = value
        case .null, .array, .object, .malformed: break
        }
        let isBoolean = if case .boolean = member.value.value { true } else { false }
        for kind in kinds where !isBoolean || kind.isBinary {
            guard let object = text.flatMap({ BTHomeObject(kind, text: $0) }) else { continue }
            // The name of a sensor is not a fixed value; the sensor is added below.
            if member.value.string != nil, isSensor(text), kind.isNumber || kind.isBinary { continue }
            values.objects.append(object)
            return true
        }
        let measurableKind = kinds.first { $0.isNumber || $0.isBinary }
        if let measurableKind, let name = member.value.string {
            let quantity = SensorQuantity(btHome: measurableKind)
            do throws(SensorNameError) {
                _ = try SensorChoice(name, for: quantity)
                values.measurements.append(.init(measurableKind, sensor: name))
                return true
            } catch {
                self.error("\(measurableKind.valueForms) or a sensor is expected: \(error)", at: member.value)
                return false
            }
        }
        let forms = Set(kinds.map(\.valueForms)).sorted().joined(separator: "; ")
        if case .number(let number) = member.value.value, kinds.contains(where: \.isNumber) {
            self.error("\(ProblemText.shortened(number.text)) is out of range for \(forms)", at: member.value)
        } else {
            wrongKind(member.value, expected: forms)
        }
        return false
    }

    private func isSensor(_ text: String?) -> Bool {
        guard let text else { return false }
        return text == "auto" || SensorName.Source.allCases.contains { text.hasPrefix($0.rawValue + ":") }
    }
}
