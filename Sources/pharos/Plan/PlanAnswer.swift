internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost
internal import PlanReport

/// How the answer of a planner's command is to be given.
struct PlanOutput: ParsableArguments {
    @Flag(help: "One JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp("Write a page with pictures and controls as well.", valueName: "file"), completion: .file())
    var html: String?
}

/// What a planner's command found: the same facts for people, for programs and for the page.
struct PlanAnswer {
    /// Title, answer, figures, curves, notes.
    var content: PlanPageContent
    /// The members of the JSON object.
    var json: [(String, JSONValue)]
    /// Drawn between the figures and the notes, on a terminal and elsewhere.
    var charts: [String] = []

    init(title: String, answer: String) {
        content = PlanPageContent(title: title, answer: answer, command: Self.command)
        json = []
    }

    /// A row of the table of figures. Rows of nothing are left out.
    mutating func figure(_ name: String, _ value: String?, unit: String = "", remark: String = "") {
        guard let value else { return }
        content.figures.append(.init(name, value, unit: unit, remark: remark))
    }

    mutating func note(_ text: String) {
        content.notes.append(text)
    }

    /// Says so where an interval is not one that controllers can be set to.
    mutating func noteRounding(of requested: RequestedInterval?) {
        guard let requested, requested.microseconds != requested.interval.microseconds else { return }
        note(
            "Controllers count in steps of 0.625 ms: \(requested.milliseconds) ms is sent, and computed, as "
                + "\(requested.interval).")
    }

    /// A member of the JSON object; what is not finite is `null`.
    mutating func member(_ name: String, _ value: Double?) {
        json.append((name, .real(value)))
    }

    /// A curve in text, as wide as the terminal and no wider than reads well.
    mutating func chart(_ curve: PlanPageContent.Curve) {
        let encoding =
            Terminal.environment("LC_ALL") ?? Terminal.environment("LC_CTYPE") ?? Terminal.environment("LANG")
        let isPlain = encoding.map { !$0.uppercased().contains("UTF") } ?? false
        charts.append(TextChart(width: min(72, Terminal.columns), isPlain: isPlain).curve(curve, height: 10))
    }

    func show(_ output: PlanOutput) throws {
        if let path = output.html {
            do throws(SystemError) {
                try Files.replace(path, with: Array(PlanPage(content).html.utf8), isDurable: false)
            } catch {
                throw Failure(.osError, "\(path): the page cannot be written: \(error.text)")
            }
        }
        Terminal.write(output.json ? JSONValue.record(json).line + "\n" : text)
        if let path = output.html, !output.json { Terminal.write("\npage written: \(path)\n") }
    }

    private var text: String {
        var table = Table(["", "", "", ""], alignment: [.left, .right])
        for figure in content.figures { table.add([figure.name, figure.value, figure.unit, figure.remark]) }
        let notes = content.notes.map { "- \($0)\n" }.joined()
        return ([content.answer + "\n", table.text] + charts + [notes]).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The command line, as somebody would type it again.
    private static var command: String {
        (["pharos"] + CommandLine.arguments.dropFirst()).map { word in
            let isPlain = word.utf8.allSatisfy {
                "-_./:=,+%@".utf8.contains($0) || Character(Unicode.Scalar($0)).isLetter
                    || Character(Unicode.Scalar($0)).isNumber
            }
            return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
        }.joined(separator: " ")
    }
}

extension JSONValue {
    /// A number with all its digits; `null` for none and for what JSON has no number for.
    static func real(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite else { return .null }
        let whole = Int(exactly: value)
        return .decimal(whole.map { "\($0)" } ?? "\(value)")
    }
}
