import Configuration
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
    @Test("writes the same text as JSONValue")
    func writesTheSameTextAsJSONValue() {
        let texts = ["", "hall", "a \"b\" \\ c", "line\nend\u{7F}", "Zähler 東京"]
        let numbers = [0, 7, -1, 10, 1000, -123_456, Int.max, Int.min]
        var row = JSONWriter()
        row.beginObject()
        for (index, text) in texts.enumerated() { row.add("t\(index)", text) }
        row.add("none", nil as String?)
        row.beginArray("numbers")
        for number in numbers {
            row.beginObject()
            row.add("whole", number)
            row.add("thousandths", thousandths: number)
            row.endObject()
        }
        row.endArray()
        row.beginArray("values")
        row.add([1, "b"])
        row.add(.null)
        row.endArray()
        row.beginArray("empty")
        row.endArray()
        row.beginObject("last")
        row.add("number", nil as Int?)
        row.add("thousandths", thousandths: nil)
        row.add("tree", ["a": [1, "b"], "c": .null])
        row.add("null", .null)
        row.endObject()
        row.endObject()

        let members = texts.enumerated().map { JSONValue.Member("t\($0)", .string($1)) }
        let pairs = numbers.map { number -> JSONValue in
            ["whole": .integer(number), "thousandths": .number(JSONNumber(thousandths: number))]
        }
        let value = JSONValue.object(
            members + [
                .init("none", .null), .init("numbers", .array(pairs)), .init("values", [[1, "b"], .null]),
                .init("empty", []),
                .init(
                    "last",
                    ["number": .null, "thousandths": .null, "tree": ["a": [1, "b"], "c": .null], "null": .null]),
            ])
        #expect(String(decoding: row.octets, as: UTF8.self) == value.line)
        row.removeAll()
        #expect(row.octets.isEmpty)
    }

    @Test(
        "writes thousandths without trailing zeros",
        arguments: [
            (0, "0"), (1, "0.001"), (-1, "-0.001"), (10, "0.01"), (1500, "1.5"), (-20_000, "-20"), (100_010, "100.01"),
        ])
    func thousandths(_ value: Int, _ text: String) {
        var row = JSONWriter()
        row.beginObject()
        row.add("n", thousandths: value)
        row.endObject()
        #expect(String(decoding: row.octets, as: UTF8.self) == "{\"n\":\(text)}")
    }
}
