import Testing

@testable import Configuration

@Suite("Declared sections") struct SectionTests {
    private enum Lamp {
        enum Color: String, CaseIterable { case red, green }

        static let name = Key("name", .name, "Name of the lamp, such as \"hall\".", isRequired: true)
        static let power = Key("powerW", .thousandths(500...60_000, unit: "W"), "Electrical power.", default: 5500)
        static let color = Key("color", ValueType<Color>.word, "Color of the light.", default: Color.red)
        static let from = Key("from", .position(.real(-10...10, unit: "m")), "One end.")
        static let on = Key("on", .boolean, "Switch it on.")
        static let off = Key("off", .boolean, "Switch it off.")
        static let section = Section(
            "A lamp.", [name, power, color, from, on, off],
            rules: [
                .notBoth("on", "off", otherwise: "give \"on\" or \"off\", not both"),
                .with("color", needs: "powerW", otherwise: "a color needs \"powerW\""),
                .oneOrMore(of: ["on", "off"], otherwise: "give \"on\" or \"off\""),
            ])
    }

    private func problems(_ text: String) -> [String] {
        let (_, problems) = ConfigurationDecoder.decode(Array(text.utf8)) { decoder, root -> Bool? in
            guard let object = decoder.open(Lamp.section, root) else { return nil }
            _ = decoder.read(Lamp.name, in: object)
            _ = decoder.read(Lamp.power, in: object)
            _ = decoder.read(Lamp.from, in: object)
            return decoder.read(Lamp.color, in: object) == .red
        }
        return problems.map(\.description)
    }

    @Test("values are read, and absent values get their defaults")
    func values() {
        let (file, found) = ConfigurationDecoder.decode(Array(#"{"name": "hall", "from": [1, -2.5]}"#.utf8)) {
            (decoder, root) -> [Double]? in
            #expect(decoder.read(Lamp.name, in: root) == "hall")
            #expect(decoder.read(Lamp.power, in: root) == 5500)
            #expect(decoder.read(Lamp.color, in: root) == .red)
            #expect(decoder.read(Lamp.on, in: root) == nil)
            return decoder.read(Lamp.from, in: root)
        }
        #expect(file == [1, -2.5])
        #expect(found.isEmpty)
    }

    @Test(
        "each problem is reported at its place",
        arguments: [
            (#"{"name": "a", "on": true}"#, []),
            (#"{"on": true}"#, [#"1:1: the key "name" is missing: name of the lamp, such as "hall""#]),
            (#"{"name": "a", "on": true, "off": true}"#, [#"1:34: off: give "on" or "off", not both"#]),
            (#"{"name": "a"}"#, [#"1:1: give "on" or "off""#]),
            (
                #"{"name": "a", "on": true, "color": "red"}"#, [#"1:36: color: a color needs "powerW""#]
            ),
            (#"{"name": "a", "on": true, "powerW": 0.4}"#, ["1:37: powerW: 0.4 is out of range 0.5...60 W"]),
            (
                #"{"name": "a", "on": true, "form": [1, 2]}"#,
                [#"1:27: form: the key "form" is not known; did you mean "from"?"#]
            ),
        ] as [(String, [String])])
    func places(_ text: String, _ expected: [String]) {
        #expect(problems(text) == expected)
    }

    @Test("the schema has types, ranges, defaults and rules")
    func schema() {
        #expect(
            Lamp.power.schema.line
                == #"{"description":"Electrical power. Range: 0.5...60 W. Default: 5.5.","#
                + #""type":"number","minimum":0.5,"maximum":60,"default":5.5}"#)
        #expect(Lamp.name.schema.line.contains(##""$ref":"#/$defs/name""##))
        let file = Lamp.section.schemaFile(title: "Lamp")
        #expect(file.contains("\"title\": \"Lamp\""))
        #expect(file.contains("\"required\": [\"name\"]"))
        #expect(file.contains("\"position\": {"))
    }
}
