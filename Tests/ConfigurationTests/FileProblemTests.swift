import Configuration
import Testing

@Suite("Problems of files")
struct FileProblemTests {
    private func problem(
        _ line: Int, _ file: String? = nil, _ kind: FileProblem.Kind = .invalid,
        _ severity: FileProblem.Severity = .error
    ) -> FileProblem {
        FileProblem("it is wrong", at: .init(line: line, column: 3), severity: severity, kind: kind, in: file)
    }

    @Test("the text has file, place, path and severity in the format of compilers")
    func text() {
        let path = JSONPath.root.key("advertisements").index(0).key("major")
        let warning = FileProblem(
            "70000 is large", at: .init(line: 7, column: 14), path: path, severity: .warning, in: "lobby.json")
        #expect(warning.description == "lobby.json:7:14: warning: advertisements[0].major: 70000 is large")
        #expect(problem(2).description == "2:3: it is wrong")
        #expect(problem(2).inFile("a.csv").description == "a.csv:2:3: it is wrong")
        #expect(problem(2, "a.csv").text(file: "b.csv") == "b.csv:2:3: it is wrong")
    }

    @Test("control characters in a file name are escaped")
    func escapes() {
        let name = "a\u{1B}[2J\u{9B}1m\u{202E}\nb.json"
        #expect(problem(2).text(file: name) == "a\\u001b[2J\\u009b1m\\u202e\\u000ab.json:2:3: it is wrong")
        #expect(problem(2, name).description == problem(2).text(file: name))
    }

    @Test("problems are grouped by file in input order, and sorted by line within a file")
    func order() {
        let sorted = FileProblem.sorted([problem(9, "b"), problem(5, "a"), problem(2, "b"), problem(1, "a")])
        #expect(sorted.map(\.description) == ["b:2:3", "b:9:3", "a:1:3", "a:5:3"].map { "\($0): it is wrong" })
    }

    @Test("missing is worse than malformed, and malformed than invalid; warnings refuse nothing")
    func refusal() {
        #expect([problem(1), problem(1, nil, .malformed), problem(1, nil, .missing)].refusal == .missing)
        #expect([problem(1), problem(1, nil, .malformed)].refusal == .malformed)
        #expect([problem(1), problem(1, nil, .malformed, .warning)].refusal == .invalid)
        #expect([problem(1, nil, .missing, .warning)].refusal == nil)
    }

    @Test("text that is not JSON and bytes that are not UTF-8 are malformed")
    func malformed() {
        let texts: [[UInt8]] = [Array("{".utf8), [0x22, 0xFF, 0x22], [0xFF, 0xFE, 0x7B, 0x00]]
        for text in texts {
            let problems = JSONDocument.parse(text, file: "x.json").problems
            #expect(problems.refusal == .malformed && problems.allSatisfy { $0.file == "x.json" })
        }
    }

    @Test("the JSON has the key `file` only if the file is known")
    func json() {
        let object = #""line":2,"column":3,"path":"","severity":"error","message":"it is wrong"}"#
        #expect(problem(2).json.line == "{" + object)
        #expect(problem(2, "a").json.line == #"{"file":"a","# + object)
    }
}
