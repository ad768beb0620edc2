import Testing

@Suite struct HelpTests {
    private static let power = ["--measured-power-dbm", "--measured-power-1m-dbm"]
    private static let rotation = ["--identity-key-file", "--identity-key", "--rotation-exponent", "--time-s"]
    private static let encryption = ["--encryption-key-file", "--encryption-key", "--device-address"]
    private static let onAir = [
        "-a, --adapter", "--duration-s", "--dry-run", "--like", "--capture", "--json", "-q, --quiet",
    ]
    private static let radio = [
        "--interval-ms", "--radio-power-dbm", "--pdu", "--local-name", "--address", "--channels",
    ]
    private static let planned = ["--beacons", "--interval-ms", "--payload-octets"]
    private static let fromFleet = ["--from-fleet", "--site", "--json", "--html"]
    private static let frames: [(String, [String])] = [
        ("ibeacon", ["--uuid", "--major", "--minor", "--measured-power-dbm", "--flags"]),
        ("altbeacon", ["--company-id", "--id", "--measured-power-dbm", "--reserved", "--flags"]),
        ("uid", ["--namespace", "--namespace-from-domain", "--namespace-from-uuid", "--instance"] + power),
        ("url", ["--url"] + power),
        (
            "tlm", ["--battery-mv", "--temperature-c", "--advertisements", "--uptime-s", "--salt"] + rotation
        ),
        ("eid", rotation + power),
        ("bthome", ["--value", "--counter"] + encryption),
        ("raw", ["--structure"]),
    ]

    /// How surveys are read, and what algorithms are given.
    static let levels = ["--absent", "--accept-zero"]
    static let parameters = ["--reading", "--penalty", "--prints", "--neighbors", "--window-s", "--receiver-offset"]

    static let places: [([String], [String])] = [
        (["map"], ["record", "check", "fit", "show", "evaluate", "export", "import", "update", "simulate", "schema"]),
        (
            ["map", "record"],
            [
                "<survey>", "--place", "--position", "--floor", "--heading", "--seconds", "--turn", "--walk",
                "--session", "--site", "--fleet", "--only-known", "-a, --adapter", "--from", "--drop", "--move",
                "--json",
            ]
        ),
        (["map", "check"], ["<survey>", "--json"] + levels),
        (
            ["map", "fit"],
            [
                "<survey>", "-o, --output", "--algorithm", "--grid-m", "--beacon-positions", "--from-site", "--json",
            ] + levels + parameters
        ),
        (["map", "show"], ["<map>", "--html", "--svg", "--site", "--layer", "--beacon", "--json"]),
        (
            ["map", "evaluate"],
            [
                "<files>", "--test", "--leave", "--algorithm", "--all-algorithms", "--protocol", "--floor-penalty-m",
                "--json",
            ] + levels + parameters
        ),
        (["map", "export"], ["<files>", "--format", "-o, --output"] + levels),
        (["map", "import"], ["<files>", "-o, --output"] + levels),
        (["map", "update"], ["<map>", "--survey", "-o, --output", "--json"] + levels),
        (["map", "schema"], ["<kind>"]),
        (
            ["map", "simulate"],
            ["<site>", "-o, --output", "--path", "--truth", "--every-m", "--seconds", "--days", "--seed"]
        ),
        (
            ["locate"],
            [
                "<map>", "-a, --adapter", "--from", "--fleet", "--duration-s", "--algorithm", "--every-s", "--site",
                "--truth", "--html", "--svg", "--scores", "--json",
            ] + levels + parameters
        ),
    ]

    static let options: [([String], [String])] =
        [
            ([], ["encode", "decode", "adapters", "advertise", "controller", "profile", "--version"]),
            (["encode"], frames.map(\.0)), (["advertise"], frames.map(\.0) + ["profile"]),
            (["decode"], ["--json", "--lint", "--explain", "<input>"] + rotation + encryption),
            (["adapters"], ["-a, --adapter", "--json"]), (["controller"], ["--listen", "--like", "--seed"]),
            (
                ["audit"],
                ["<file>", "-a, --adapter", "--replay", "--duration-s", "--site", "--floor", "--json", "--html"]
            ),
            (
                ["listen"],
                [
                    "<file>", "--print", "-a, --adapter", "--replay", "--duration-s", "--every-s", "--json",
                    "--schema", "--state-dir", "--runtime-dir", "--metrics-file",
                ]
            ),
            (["history"], ["<name>", "--from", "--to", "--history", "--state-dir", "--csv", "--json"]),
            (
                ["qualify"],
                ["--sender", "--receiver", "--duration-s", "--hears", "--known", "--json"]
            ),
            (
                ["calibrate"],
                [
                    "--beacon", "--strongest", "-a, --adapter", "--replay", "--known", "--distance-m", "--seconds",
                    "--turn", "--headings", "--channels", "--radio-power-dbm", "--reference-offset-db", "--write",
                    "--json",
                ]
            ),
            (
                ["find"],
                [
                    "<beacon>", "-a, --adapter", "--replay", "--known", "--map", "--turn", "--sound", "--duration-s",
                    "--json",
                ]
            ),
            (["profile"], ["init", "check", "show", "schema"]),
            (["profile", "init"], ["<file>", "--type", "--name", "--url", "--interval-ms"]),
            (["profile", "check"], ["<files>", "--json"]),
            (["profile", "show"], ["<file>"]), (["profile", "schema"], []),
            (["fleet"], ["init", "check", "generate", "diff", "schema"]),
            (["fleet", "init"], ["<sample>", "-o, --output"]),
            (["fleet", "check"], ["<file>", "--json"]), (["fleet", "diff"], ["<file>", "--against", "--json"]),
            (["fleet", "generate"], ["<file>", "-o, --output", "--manifest-only", "--release", "--json"]),
            (
                ["plan"],
                ["interval", "collisions", "latency", "density", "walk", "energy", "site", "simulate", "thesis"]
            ),
            (["plan", "site"], ["<file>", "--places", "--propose", "--schema", "--json", "--html"]),
            (["plan", "thesis"], ["--beacons"] + fromFleet),
            (
                ["plan", "interval"],
                ["--beacons", "--payload-octets", "--max-throughput", "--write-profile"] + fromFleet
            ),
            (["plan", "collisions"], ["--profile", "--copy-spacing-ms"] + planned + fromFleet),
            (["plan", "latency"], ["--scanner", "--undiscovered-after-s"] + planned + fromFleet),
            (["plan", "density"], ["--interval-ms", "--payload-octets", "--path-loss"] + fromFleet),
            (["plan", "walk"], ["--speed-mps", "--range-m"] + planned + fromFleet),
            (["plan", "energy"], ["--chip", "--battery"] + planned + fromFleet),
            (["plan", "simulate", "collisions"], ["--seed", "--precision", "--jobs"] + planned + fromFleet),
            (["plan", "simulate", "latency"], ["--seed", "--precision", "--jobs"] + planned + fromFleet),
            (["advertise", "profile"], ["<profile>", "--advertisement"] + onAir),
        ] + frames.map { (["encode", $0.0], $0.1 + ["--format", "--explain"]) }
        + frames.map { (["advertise", $0.0], $0.1 + radio + onAir) } + [(["ibeacon"], frames[0].1 + radio + onAir)]

    @Test(arguments: options + places)
    func helpNamesEveryOption(_ command: [String], _ options: [String]) throws {
        let result = try Program.run(command + ["--help"])
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.output.hasPrefix("OVERVIEW: ") && result.output.contains("USAGE: "))
        let starts = Set(result.output.split(separator: "\n").map { $0.drop { $0 == " " } })
        for option in options {
            #expect(
                starts.contains { $0 == option || $0.hasPrefix(option + " ") },
                "\(command.joined(separator: " ")) \(option)")
        }
        // A line for each option: nothing stands there without a word of explanation.
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix("  --") {
            #expect(line.contains("  ") && (line.dropFirst(26).isEmpty ? next.hasPrefix("        ") : true), "\(line)")
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

    /// pharos knows the commands of pharos-hub by name, and says of them what they say of themselves.
    @Test func commandsOfTheHubAreNamedByBoth() throws {
        let here = Self.commands(try Program.run("--help").output)
        let hub = Self.commands(try Program.shell(#""${0%/*}/pharos-hub" --help"#).output)
        #expect(!hub.isEmpty && hub.allSatisfy { here[$0.key] == $0.value }, "\(hub)")
    }

    /// Without the package the static program says which one it needs.
    @Test func aMachineWithoutTheHubIsToldWhichPackageItNeeds() throws {
        let result = try Program.shell(
            #"d=$(mktemp -d) && cp "$0" "$d" && "$d/pharos" listen x.json; c=$?; rm -r "$d"; exit $c"#)
        #expect(result.code == 69 && result.output.isEmpty)
        #expect(
            result.errors == "pharos: listen needs the package pharos-hub, which this machine does not have: "
                + "apt install pharos-hub\n")
    }

    /// A beacon is found without it, but not on a map.
    @Test func findingOnAMapNeedsTheHub() throws {
        let result = try Program.shell(
            #"d=$(mktemp -d) && cp "$0" "$d" && "$d/pharos" find a --map=b; c=$?; rm -r "$d"; exit $c"#)
        #expect(result.code == 69 && result.errors.hasPrefix("pharos: find --map needs the package pharos-hub"))
    }

    /// What the list of subcommands in a help text says of each.
    private static func commands(_ help: String) -> [String: String] {
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
