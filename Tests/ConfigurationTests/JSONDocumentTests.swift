import BluetoothTypes
import Configuration
import Testing

@Suite("Reading JSON")
struct JSONDocumentTests {
    @Test("keeps line, column and path of every value")
    func keepsPlaces() throws {
        let text = "{\n  \"a\": [1, {\"é😀\": true,\r\n\"b\":null}],\r\"c d\": \"x\"\n}"
        let (root, problems) = JSONDocument.parse(Array(text.utf8))
        #expect(problems == [])
        let a = try #require(root?["a"])
        #expect(a.position == JSONPosition(line: 2, column: 8))
        #expect(a[0]?.path.description == "a[0]")
        #expect(a[1]?["é😀"]?.position == JSONPosition(line: 2, column: 19))
        #expect(a[1]?["é😀"]?.path.description == "a[1][\"é😀\"]")
        #expect(a[1]?["b"]?.position == JSONPosition(line: 3, column: 5))
        #expect(root?["c d"]?.position == JSONPosition(line: 4, column: 8))
        #expect(root?["c d"]?.path.description == "[\"c d\"]")
        guard case .object(let members) = root?.value else {
            Issue.record("the root is not an object")
            return
        }
        #expect(members.map(\.keyPosition.description) == ["2:3", "4:1"])
    }

    @Test(
        "unescapes strings",
        arguments: [
            ("\"\"", ""), ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{C}\n\r\t"), ("\"\\u00e9\\u00E9\"", "éé"),
            ("\"\\ud83d\\ude00\"", "😀"), ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"), ("\"\\u0000\"", "\0"),
        ])
    func unescapes(_ text: String, _ expected: String) {
        let (root, problems) = JSONDocument.parse(Array(text.utf8))
        #expect(problems == [])
        #expect(root?.string == expected)
    }

    @Test(
        "reports mistakes with their positions, and continues if the meaning is clear",
        arguments: [
            ("", ["1:1: the file is empty"]),
            (" \n ", ["2:2: the file is empty"]),
            ("\u{FEFF}{}", ["1:1: the file starts with a byte order mark"]),
            ("{} x", ["1:4: nothing may follow"]),
            ("{\"a\":1,}", ["1:7: remove the comma after the last item"]),
            ("[1,2,]", ["1:5: remove the comma after the last item"]),
            ("[1 2]", ["1:4: a comma is missing"]),
            ("{\"a\":1 \"b\":2}", ["1:8: a comma is missing"]),
            ("{\"a\" 1}", ["1:6: a colon is missing"]),
            ("{a:1}", ["1:2: the key a is not in double quotes"]),
            ("{\"a\":1,\"a\":2}", ["1:8: the key \"a\" appears twice; the first is at 1:2"]),
            ("{\"a\":1,\"\\u0061\":2}", ["1:8: the key \"a\" appears twice; the first is at 1:2"]),
            (
                "[1, // one\n 2, /* two */ 3, # three\n 4]",
                ["1:5: JSON has no", "2:5: JSON has no", "2:18: JSON has no"]
            ),
            (
                "[True, NULL, None]",
                ["1:2: [0]: write true instead of True", "1:8: [1]: write null", "1:14: [2]: None is not"]
            ),
            (
                "[01, +1, .5, 1., 0x1F, 1e, -, NaN]",
                ["1:2:", "1:6:", "1:10:", "1:14:", "1:18:", "1:24:", "1:28:", "1:31:"]
            ),
            ("[yes, hello]", ["1:2: [0]: yes is not a JSON value; write true", "1:7: [1]: hello is not a JSON value"]),
            ("\"\\x\"", ["1:2: a backslash must be followed by"]),
            ("\"\\u12g4\"", ["1:2: \\u must be followed by four"]),
            ("\"\\ud83d\"", ["1:2: this is half of a surrogate pair"]),
            ("\"\\ude00\"", ["1:2: this is half of a surrogate pair"]),
            ("\"\\ud83d\\u0041\"", ["1:2: this is half of a surrogate pair"]),
            ("\"a\u{1}b\"", ["1:3: write the control character U+0001"]),
            ("{\"a\":\"b\n}", ["1:6: a: the string that begins here is not closed"]),
            ("\"abc", ["1:5: the file ends inside the string that begins at 1:1"]),
            ("[1, [2", ["1:7: [1]: the file ends inside the list that begins at 1:5"]),
            ("[1,", ["1:4: the file ends inside the list that begins at 1:1"]),
            ("{\"a\":{", ["1:7: a: the file ends inside the object that begins at 1:6"]),
            ("{\"a\":", ["1:6: a: the file ends where a value is expected"]),
            ("{\"a\"}", ["1:5: a colon and a value are expected"]),
            ("{\"a\"", ["1:5: a colon and a value are expected"]),
            ("{,}", ["1:2: a key in double quotes is expected here"]),
            ("[,]", ["1:2: [0]: a value is expected here, not \",\""]),
            ("['a']", ["1:2: [0]: a value is expected here, not a single quote"]),
            ("[1}", ["1:3: a comma or \"]\" is expected here, not \"}\""]),
            ("]", ["1:1: a value is expected here"]),
            ("[\u{7}]", ["1:2: [0]: a value is expected here, not U+0007"]),
        ] as [(String, [String])])
    func reports(_ text: String, _ expected: [String]) {
        let problems = JSONDocument.parse(Array(text.utf8)).problems.map(\.description)
        #expect(problems.count == expected.count, "\(problems)")
        for (problem, start) in zip(problems, expected) { #expect(problem.hasPrefix(start)) }
    }

    @Test(
        "reports a CSV table where a JSON file is expected",
        arguments: [
            "\u{FEFF}Nummer;Gebäude\n0001;haupt\n", "name,site\na,b\n", "\"name\"\t\"site\"\r\na\tb\r\n",
            "sep=;\nname;site\na;b",
        ])
    func namesTables(_ text: String) {
        let problems = JSONDocument.parse(Array(text.utf8)).problems.map(\.message)
        #expect(problems == ["this is a table (CSV), and a JSON file is expected; name a JSON file"])
    }

    @Test(
        "does not mistake invalid JSON for a table",
        arguments: ["hello, you", "a: 1, b: 2\nc: 3, d: 4", "\"a\": 1,\n\"b\": 2,\n", "// x, y\n1, 2", "1\n2\n"])
    func doesNotMistakeBrokenJSONForATable(_ text: String) {
        let problems = JSONDocument.parse(Array(text.utf8)).problems.map(\.message)
        #expect(!problems.isEmpty && !problems.contains { $0.contains("table") }, "\(problems)")
    }

    @Test(
        "reports encodings other than UTF-8",
        arguments: [
            ([0x22, 0xC3, 0x22], "1:2: these bytes are not UTF-8"), ([0x22, 0xC0, 0x80, 0x22], "1:2: these bytes"),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], "1:2: these bytes"), ([0x22, 0x41, 0xFF, 0x22], "1:3: these bytes"),
            ([0xFF, 0xFE, 0x7B, 0], "1:1: this file is UTF-16"), ([0x7B, 0, 0x7D, 0], "1:1: this file is UTF-16"),
            ([0xFF, 0xFE, 0, 0], "1:1: this file is UTF-32"),
        ] as [([UInt8], String)])
    func reportsEncodings(_ octets: [UInt8], _ start: String) {
        let problems = JSONDocument.parse(octets).problems
        #expect(problems.first?.description.hasPrefix(start) == true, "\(problems)")
    }

    /// In a recording or a picture, a message for each wrong byte would not help.
    @Test("reports only once that a file is not text")
    func reportsNonTextContentOnce() {
        let octets = Array("{\n".utf8) + (0..<10).flatMap { _ in [0xFF, 0x20] as [UInt8] }
        let problems = JSONDocument.parse(octets).problems.map(\.description)
        #expect(problems.count == 1 && problems[0].contains("from 2:1 on, this is not text in UTF-8"), "\(problems)")
    }

    @Test("accepts nesting up to the limit and refuses deeper nesting")
    func limitsDepth() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(JSONDocument.parse(nested(JSONDocument.depthLimit)).problems == [])
        for depth in [JSONDocument.depthLimit + 1, 100_000] {
            let (root, problems) = JSONDocument.parse(nested(depth))
            #expect(root == nil)
            #expect(problems.map(\.position.column) == [JSONDocument.depthLimit + 1])
        }
    }

    @Test(
        "a decimal comma is reported once with the number to write",
        arguments: [
            ("{\"a\": 152,5, \"b\": 1}", ["1:7: a: is this a decimal comma? write 152.5"]),
            ("{\"a\": -4,25}", ["1:7: a: is this a decimal comma? write -4.25"]), ("{\"a\": [152,5]}", []),
        ])
    func reportsDecimalCommas(_ text: String, _ expected: [String]) {
        #expect(JSONDocument.parse(Array(text.utf8)).problems.map(\.description) == expected)
    }

    @Test("stops at the maximum number of problems")
    func limitsProblems() {
        let text = "[" + String(repeating: "x,", count: 1000) + "1]"
        let (root, problems) = JSONDocument.parse(Array(text.utf8))
        #expect(root == nil)
        #expect(problems.count == JSONDocument.problemLimit)
    }

    @Test("never crashes on random bytes, and reports places inside the text", arguments: 0..<20)
    func survivesNoise(_ seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let tokens = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "1", "-", "e9", ".", "true", "\n", "/*", "é",
        ]
        for _ in 0..<200 {
            let length = Int.random(in: 0...60, using: &generator)
            var octets: [UInt8] = []
            for _ in 0..<length {
                if Bool.random(using: &generator) {
                    octets.append(UInt8.random(in: 0...255, using: &generator))
                } else {
                    octets += Array((tokens.randomElement(using: &generator) ?? "").utf8)
                }
            }
            let (root, problems) = JSONDocument.parse(octets)
            #expect(root != nil || !problems.isEmpty)
            let lines = octets.count { $0 == 10 || $0 == 13 } + 1
            #expect(problems.allSatisfy { $0.position.line <= lines && $0.position.column <= octets.count + 1 })
            #expect(problems == problems.sorted { $0.position < $1.position })
        }
    }
}
