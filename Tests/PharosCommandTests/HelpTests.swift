import Configuration
import Testing

@Suite struct HelpTests {
    /// A command in the output of `--experimental-dump-help`.
    private struct Command {
        let words: [String]
        let abstract: String
        /// The lines of its discussion that are commands to copy.
        let examples: [Substring]
        /// The names of its options and arguments with their help texts.
        let options: [(name: String, help: String)]
    }

    /// Returns all commands of a program except the hidden `help`.
    private static func commands(_ description: String) throws -> [Command] {
        let root = try #require(JSONDocument.parse(Array(description.utf8)).root?["command"])
        var found: [Command] = []
        func visit(_ node: JSONNode, below words: [String]) {
            let options = (node["arguments"]?.elements ?? []).filter { $0["shouldDisplay"]?.isTrue == true }
            let lines = (node["discussion"]?.string ?? "").split(separator: "\n")
            found.append(
                Command(
                    words: words, abstract: node["abstract"]?.string ?? "",
                    examples: lines.filter { $0.hasPrefix("pharos ") && !$0.hasSuffix(".") },
                    options: options.map { ($0["valueName"]?.string ?? "", $0["abstract"]?.string ?? "") }))
            for next in node["subcommands"]?.elements ?? [] {
                guard let name = next["commandName"]?.string, name != "help" else { continue }
                visit(next, below: words + [name])
            }
        }
        visit(root, below: [])
        return found
    }

    /// In a narrow terminal, an example is still one line, which can be copied.
    @Test(arguments: ["\"$0\"", "\"${0%/*}/pharos-hub\""])
    func everyCommandHasHelpAndUnwrappedExamples(_ program: String) throws {
        let commands = try Self.commands(try Program.shell(program + " --experimental-dump-help").output)
        #expect(commands.count > 10 && commands.flatMap(\.examples).count > 20)
        for command in commands {
            let name = command.words.joined(separator: " ")
            #expect(command.abstract.hasSuffix(".") || command.abstract.contains("; exit"), "\(name)")
            for option in command.options { #expect(!option.help.isEmpty, "\(name) \(option.name)") }
            let help = try Program.shell("COLUMNS=40 " + program + " \(name) --help")
            #expect(help.code == 0 && help.errors.isEmpty, "\(name)")
            #expect(help.output.hasPrefix("OVERVIEW: ") && help.output.contains("USAGE: "), "\(name)")
            for line in command.examples { #expect(help.output.contains("\n  \(line)\n"), "\(name): \(line)") }
        }
    }

    @Test func commandsWithoutSubcommandShowTheirHelp() throws {
        for command in [[], ["encode"], ["profile"], ["fleet"]] {
            #expect(try Program.run(command) == Program.run(command + ["--help"]))
        }
    }

    @Test func versionIsANumber() throws {
        let result = try Program.run("--version")
        #expect(result.code == 0 && result.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    }

    /// pharos lists the commands of pharos-hub by name, with the same abstracts.
    @Test func bothProgramsListTheCommandsOfTheHub() throws {
        let here = Self.listed(in: try Program.run("--help").output)
        let hub = Self.listed(in: try Program.shell(#""${0%/*}/pharos-hub" --help"#).output)
        #expect(!hub.isEmpty && hub.allSatisfy { here[$0.key] == $0.value }, "\(hub)")
    }

    /// Without the package, the static program names the package that it needs.
    @Test func namesTheMissingPackageWithoutTheHub() throws {
        let result = try Program.shell(
            #"d=$(mktemp -d) && cp "$0" "$d" && "$d/pharos" listen x.json; c=$?; rm -r "$d"; exit $c"#)
        #expect(result.code == 69 && result.output.isEmpty)
        #expect(
            result.errors == "pharos: listen needs the package pharos-hub, which this machine does not have: "
                + "apt install pharos-hub\n")
    }

    /// `find` works without pharos-hub, but not on a map.
    @Test func findingOnAMapNeedsTheHub() throws {
        let result = try Program.shell(
            #"d=$(mktemp -d) && cp "$0" "$d" && "$d/pharos" find a --map=b; c=$?; rm -r "$d"; exit $c"#)
        #expect(result.code == 69 && result.errors.hasPrefix("pharos: find --map needs the package pharos-hub"))
    }

    /// Returns the abstracts in the list of subcommands of a help text.
    private static func listed(in help: String) -> [String: String] {
        var found: [String: String] = [:]
        var last = ""
        for line in help.split(separator: "\n").drop(while: { $0 != "SUBCOMMANDS:" }).dropFirst() {
            if line.hasPrefix("  See ") { break }
            let words = line.split(separator: " ")
            if line.hasPrefix("   ") {
                found[last, default: ""] += " " + words.joined(separator: " ")
            } else {
                last = String(words[0])
                found[last] = words.dropFirst().joined(separator: " ")
            }
        }
        return found
    }
}
