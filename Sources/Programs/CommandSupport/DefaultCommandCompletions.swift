internal import ArgumentParser

/// Adds the arguments of default subcommands to a completion script.
///
/// The argument parser's scripts do not know default subcommands. Without this addition, a shell would offer no profiles
/// and no options after `pharos advertise`, which is short for `pharos advertise profile`.
struct DefaultCommandCompletions {
    /// A command with a default subcommand.
    private struct Command {
        let name: String
        let subcommands: [String]
        let defaultSubcommand: String

        init?(_ command: any ParsableCommand.Type) {
            let configuration = command.configuration
            guard let name = configuration.commandName, let chosen = configuration.defaultSubcommand?.configuration,
                let defaultSubcommand = chosen.commandName, chosen.shouldDisplay
            else { return nil }
            self.name = name
            self.defaultSubcommand = defaultSubcommand
            subcommands = configuration.subcommands.compactMap { $0.configuration.commandName }
        }

        /// The lines at the beginning of the command's function in bash.
        var bash: String {
            """
                case "${unparsed_words[0]}" in
                \(subcommands.joined(separator: "|")))
                    ;;
                *)
                    # The words are those of the default subcommand
                    local -ar all_words=("${unparsed_words[@]}")
                    _pharos_\(name)_\(defaultSubcommand)
                    unparsed_words=("${all_words[@]}")
                    if [[ "${#unparsed_words[@]}" -gt 1 ]]; then return; fi
                    ;;
                esac
            """
        }

        /// The lines after the first line of the command's function in zsh.
        var zsh: String {
            """
                # Without a subcommand, the words are those of the default subcommand
                if [[ CURRENT -gt 2 && "${words[2]}" != (\(subcommands.joined(separator: "|"))) || "${words[2]}" == -* ]]; then
                    _pharos_\(name)_\(defaultSubcommand)
                    return
                fi
                if [[ CURRENT -eq 2 ]]; then _pharos_\(name)_\(defaultSubcommand) && ret=0; fi
            """
        }

        /// The lines at the beginning of the command's case in fish.
        var fish: String {
            """
                        # Without a subcommand, the words are those of the default subcommand
                        if set -q unparsed_tokens[2]; and not contains -- $unparsed_tokens[2] \(subcommands.joined(separator: " "))
                            set unparsed_tokens \(name) \(defaultSubcommand) $unparsed_tokens[2..]
                        end
            """
        }

        /// The line in fish that offers files as the first argument of the command.
        var fishFiles: String {
            "complete -c 'pharos' -n '__pharos_should_offer_completions_for_positional \"pharos \(name)\" -eq 1' -F"
        }
    }

    private let commands: [Command]

    /// Finds the commands of `root` that have a default subcommand.
    init(of root: any ParsableCommand.Type) {
        commands = root.configuration.subcommands.compactMap { Command($0) }
    }

    /// Returns the script with the arguments of the default subcommands.
    func added(to script: String) -> String {
        var lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let isZsh = lines.first?.hasPrefix("#compdef") ?? false
        func insert(_ text: String, _ distance: Int, after line: String) {
            guard let index = lines.firstIndex(of: line) else { return }
            lines.insert(text, at: min(index + distance, lines.count))
        }
        for command in commands {
            insert(isZsh ? command.zsh : command.bash, isZsh ? 2 : 1, after: "_pharos_\(command.name)() {")
            insert(command.fish, 1, after: "        case '\(command.name)'")
            insert(command.fishFiles, 1, after: "complete -c 'pharos' -f")
        }
        return lines.joined(separator: "\n")
    }
}
