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

            The options are those of the question: see pharos help plan QUESTION. An option can have several values, \
            separated by commas; each combination of values gets an answer. Such values also work without compare: \
            pharos plan collisions --beacons 100,250,500 --interval-ms 100.
            """)

    /// The questions of `plan` whose answers can be compared.
    static let questions = [
        "interval", "collisions", "latency", "pattern", "density", "walk", "energy", "range", "thesis",
    ]
    /// The options whose value may itself contain commas: files, names, and numbers that belong together. Their values
    /// are not split into lists.
    private static let optionsWithoutLists: Set<String> = [
        "--path-loss", "--from-fleet", "--site", "--profile", "--write-profile", "--html", "--copy-spacing-ms",
        "--scanners", "--scanner-file", "--pattern", "--background",
    ]
    /// The largest number of answers in a comparison.
    private static let answerLimit = 100

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
        guard combinations.count <= Self.answerLimit else {
            throw Failure(
                .usage, "these lists give \(combinations.count) answers; give at most \(Self.answerLimit) at once")
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
            // A command that prints its help or version gives no answer.
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
        if let doubt = Self.doubtfulList(in: question) { Terminal.writeMessage(doubt) }
        if !comparison.holds { throw Failure(.failure) }
    }

    /// Returns the arguments of the program. If a question has an option with a list of values, `plan QUESTION` is
    /// replaced by `plan compare QUESTION`.
    static func expanded(_ arguments: [String]) -> [String] {
        guard arguments.count > 2, arguments[0] == "plan", questions.contains(arguments[1]),
            combinations(Array(arguments.dropFirst())).count > 1
        else { return arguments }
        return ["plan", "compare"] + arguments.dropFirst()
    }

    /// The options that do not accept 0. For these options `0,95` cannot be a list of values.
    private static let aboveZero: Set<String> = [
        "--probability", "--detect-within-s", "--undiscovered-after-s", "--speed-mps", "--range-m", "--spacing-m",
        "--charge-uc", "--capacity-mah", "--interval-ms", "--scan-window-ms", "--scan-interval-ms",
    ]

    /// The smallest whole number that each option accepts. For example, `152,5` cannot be a list of intervals, because
    /// 5 is too small.
    private static let leastNumbers: [String: Int] = [
        "--interval-ms": 20, "--scan-window-ms": 3, "--scan-interval-ms": 3,
        // A number from 1 to 10 is neither a share nor a percentage.
        "--probability": 10,
    ]

    /// Returns a sentence about the first list that may be a number with a decimal comma, such as `10,5`; `nil` if there
    /// is none. Lists of two whole numbers are usually in ascending order.
    static func doubtfulList(in arguments: [String]) -> String? {
        var option: String?
        for argument in arguments {
            var value = argument
            if argument.hasPrefix("--") {
                option = String(argument.prefix { $0 != "=" })
                guard let equals = argument.firstIndex(of: "=") else { continue }
                value = String(argument[argument.index(after: equals)...])
            }
            let parts = value.split(separator: ",", omittingEmptySubsequences: false)
            guard let option, !optionsWithoutLists.contains(option), parts.count == 2, let first = Int(parts[0]),
                let second = Int(parts[1]), second < first || second < 10 && option != "--beacons"
            else { continue }
            return "\(option) \(TerminalText.line(value)): a comma separates values, so these are two values, "
                + "\(first) and \(second); a decimal number has a point"
        }
        return nil
    }

    /// Returns a sentence about the first value with a decimal comma; `nil` if there is none. A comma usually separates
    /// the values of a list: `1,5` has two values. But `0,95` cannot be a list of probabilities, `152,5` cannot be a
    /// list of intervals, and `1,5s` has only one unit, so it is one number.
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
            guard let option, !optionsWithoutLists.contains(option), parts.count == 2, Int(parts[0]) != nil,
                let digit = parts[1].first, digit.isNumber
            else { continue }
            let unit = parts[1].drop { !$0.isLetter && $0 != "%" }
            let isZero = parts[0] == "0" && aboveZero.contains(option) && Int(parts[1]) != nil
            let isTooSmall = Int(parts[1]).map { $0 < leastNumbers[option] ?? 0 } ?? false
            guard !unit.isEmpty || isZero || isTooSmall else { continue }
            let list = TerminalText.line(parts[0] + unit + "," + parts[1])
            let listAdvice = unit.isEmpty ? "" : "; for two values write \(list)"
            return "\(option): \(ProblemText.quoted(value)): a comma separates values; use a point in a number: "
                + TerminalText.line(parts.joined(separator: ".")) + listAdvice
        }
        return nil
    }

    /// Returns every combination of the values in lists: its arguments, and the values of the options that differ.
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
            guard let name = option, !optionsWithoutLists.contains(name), parts.count > 1, !parts.contains("") else {
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

/// Receives the answer of a command that runs as part of a comparison.
final class PlanAnswerCollector: Sendable {
    @TaskLocal static var current: PlanAnswerCollector?

    private let receivedAnswer = Monitor<PlanAnswer?>(nil)

    var answer: PlanAnswer? { receivedAnswer.change { $0 } }

    func take(_ answer: PlanAnswer) { receivedAnswer.change { $0 = answer } }
}
