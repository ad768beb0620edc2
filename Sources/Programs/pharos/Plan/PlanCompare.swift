internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Planner

struct PlanCompare: ForwardingCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Answer a question for several values of its options.",
        discussion: """
            pharos plan compare collisions --beacons 100,250,500 --interval-ms 100,500
            pharos plan compare latency --scanner android-low-power,ios-find-my --beacons 50 --interval-ms 300
            pharos plan compare energy --chip nrf52832 --battery cr2032,cr2477 --interval-ms 500 --csv

            The options are those of the question: see pharos help plan QUESTION. An option can have several \
            values, separated by commas; each combination of values gets an answer. Such values also work without compare: \
            pharos plan collisions --beacons 100,250,500 --interval-ms 100.
            """)

    /// The questions that can be compared.
    static let questions = [
        "interval", "collisions", "latency", "pattern", "density", "walk", "energy", "range", "thesis",
    ]
    /// Options whose value may contain commas itself: files, names, and numbers that belong together.
    private static let withoutLists: Set<String> = [
        "--path-loss", "--from-fleet", "--site", "--profile", "--write-profile", "--html", "--copy-spacing-ms",
        "--scanners", "--scanner-file", "--pattern", "--background",
    ]
    /// The largest number of answers.
    private static let limit = 100

    @Argument(parsing: .captureForPassthrough, help: "A question of pharos plan, and its options.")
    var question: [String] = []

    func run() throws {
        guard let name = question.first, name != "--help", name != "-h" else {
            throw question.isEmpty
                ? Failure(.usage, "name a question: \(Self.questions.joined(separator: ", "))")
                : CleanExit.helpRequest(self)
        }
        guard Self.questions.contains(name) else {
            let nearest = NearestWord.find(name, among: Self.questions).map { "did you mean \($0)?" }
            throw Failure(
                .usage,
                "pharos plan compare: there is no question \(ProblemText.quoted(name)); "
                    + (nearest ?? "there are \(Self.questions.joined(separator: ", "))"))
        }
        if let problem = Self.decimalComma(in: question) { throw Failure(.usage, problem) }
        let combinations = Self.combinations(question)
        guard combinations.count <= Self.limit else {
            throw Failure(
                .usage, "these lists give \(combinations.count) answers; give at most \(Self.limit) at once")
        }
        guard !question.contains(where: { $0 == "--html" || $0.hasPrefix("--html=") || $0 == "--write-profile" }) else {
            throw Failure(.usage, "with --html or --write-profile, give one value for each option, not a list")
        }
        var alternatives: [PlanComparison.Alternative] = []
        for (arguments, settings) in combinations {
            let collector = PlanAnswerCollector()
            try PlanAnswerCollector.$current.withValue(collector) {
                var command = try Pharos.parseAsRoot(["plan"] + arguments)
                try command.run()
            }
            // Help and version are not answers.
            guard let answer = collector.answer else { continue }
            alternatives.append(.init(settings: settings, answer: answer))
        }
        let comparison = PlanComparison(alternatives)
        if question.contains("--json") {
            Terminal.write(comparison.json.line + "\n")
        } else if question.contains("--csv") {
            Terminal.write(comparison.csv)
        } else {
            Terminal.show(comparison.text(columns: Terminal.outputIsTerminal ? Terminal.columns : .max))
        }
        if !comparison.holds { throw Failure(.failure) }
    }

    /// The arguments of the program, with `plan compare QUESTION` for a question that has a list of values.
    static func expanded(_ arguments: [String]) -> [String] {
        guard arguments.count > 2, arguments[0] == "plan", questions.contains(arguments[1]),
            combinations(Array(arguments.dropFirst())).count > 1
        else { return arguments }
        return ["plan", "compare"] + arguments.dropFirst()
    }

    /// Options that refuse 0, so that `0,95` is not a list.
    private static let aboveZero: Set<String> = [
        "--probability", "--detect-within-s", "--undiscovered-after-s", "--speed-mps", "--range-m", "--spacing-m",
        "--charge-uc", "--capacity-mah", "--interval-ms", "--scan-window-ms", "--scan-interval-ms",
    ]

    /// A sentence about the first value that has a decimal comma; nil if there is none. A comma between two values makes a
    /// list: `1,5` has two values. But `0,95` is not a list of probabilities, and `1,5s` has one unit for one number.
    static func decimalComma(in arguments: [String]) -> String? {
        var option: String?
        for argument in arguments {
            var value = argument
            if argument.hasPrefix("--") {
                option = String(argument.prefix { $0 != "=" })
                guard let equals = argument.firstIndex(of: "=") else { continue }
                value = String(argument[argument.index(after: equals)...])
            }
            let parts = value.split(separator: ",", omittingEmptySubsequences: false)
            guard let option, !withoutLists.contains(option), parts.count == 2, Int(parts[0]) != nil,
                let digit = parts[1].first, digit.isNumber
            else { continue }
            let unit = parts[1].drop { !$0.isLetter && $0 != "%" }
            let isZero = parts[0] == "0" && aboveZero.contains(option) && Int(parts[1]) != nil
            guard !unit.isEmpty || isZero else { continue }
            let list = TerminalText.line(parts[0] + unit + "," + parts[1])
            let two = unit.isEmpty ? "" : "; for two values write \(list)"
            return "\(option): \(ProblemText.quoted(value)): a comma separates values; use a point in a number: "
                + TerminalText.line(parts.joined(separator: ".")) + two
        }
        return nil
    }

    /// Every combination of the values in lists: the arguments, and the options that differ.
    static func combinations(_ arguments: [String]) -> [(arguments: [String], settings: [PlanComparison.Setting])] {
        var combinations: [(arguments: [String], settings: [PlanComparison.Setting])] = [([], [])]
        var option: String?
        for argument in arguments {
            var (prefix, value) = ("", argument)
            if argument.hasPrefix("--") {
                option = String(argument.prefix { $0 != "=" })
                guard let equals = argument.firstIndex(of: "=") else {
                    for index in combinations.indices { combinations[index].arguments.append(argument) }
                    continue
                }
                prefix = String(argument[...equals])
                value = String(argument[argument.index(after: equals)...])
            }
            let parts = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard let name = option, !withoutLists.contains(name), parts.count > 1, !parts.contains("") else {
                for index in combinations.indices { combinations[index].arguments.append(argument) }
                continue
            }
            combinations = combinations.flatMap { combination in
                parts.map { part in
                    (
                        combination.arguments + [prefix + part],
                        combination.settings + [.init(option: String(name.dropFirst(2)), value: part)]
                    )
                }
            }
        }
        return combinations
    }
}

/// Receives the answer of a question that another command asks.
final class PlanAnswerCollector: Sendable {
    @TaskLocal static var current: PlanAnswerCollector?

    private let received = Monitor<PlanAnswer?>(nil)

    var answer: PlanAnswer? { received.change { $0 } }

    func take(_ answer: PlanAnswer) { received.change { $0 = answer } }
}
