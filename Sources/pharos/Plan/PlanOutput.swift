internal import ArgumentParser
internal import Configuration
internal import LinuxHost
internal import PlanReport
internal import Planner

/// How the answer of a planner's command is to be given.
struct PlanOutput: ParsableArguments {
    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp("Write a page with pictures and controls as well.", valueName: "file"), completion: .file())
    var html: String?

    /// Prints the answer, and ends with 1 where what was asked for cannot be had.
    func show(_ answer: PlanAnswer) throws {
        if let html {
            do throws(SystemError) {
                try Files.replace(html, with: Array(answer.page(command: Self.command).utf8), isDurable: false)
            } catch {
                throw Failure(.osError, "\(html): the page cannot be written: \(error.text)")
            }
        }
        Terminal.write(json ? answer.json.line + "\n" : answer.text(charts: Self.charts))
        if let html, !json { Terminal.write("\npage written: \(html)\n") }
        if !answer.holds { throw Failure(.failure) }
    }

    /// As wide as the terminal, in characters and colours that it has.
    private static var charts: TextChart {
        let encoding =
            Terminal.environment("LC_ALL") ?? Terminal.environment("LC_CTYPE") ?? Terminal.environment("LANG")
        let isPlain = encoding.map { !$0.uppercased().contains("UTF") } ?? false
        return TextChart(width: Terminal.columns, isPlain: isPlain, isColored: Terminal.wantsColor)
    }

    /// The command line, as somebody would type it again.
    static var command: String {
        (["pharos"] + CommandLine.arguments.dropFirst()).map { word in
            let isPlain = word.utf8.allSatisfy {
                "-_./:=,+%@".utf8.contains($0) || Character(Unicode.Scalar($0)).isLetter
                    || Character(Unicode.Scalar($0)).isNumber
            }
            return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
        }.joined(separator: " ")
    }
}
