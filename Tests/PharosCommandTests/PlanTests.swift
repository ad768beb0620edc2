import LinuxHost
import TestSupport
import Testing

/// The planner's commands: wrong input, written files, and long runs that are interrupted.
@Suite struct PlanTests {
    struct Mistake: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        /// Expected in the first line on standard error.
        let reason: String

        init(_ words: String, _ reason: String) {
            arguments = ["plan"] + words.split(separator: " ").map(String.init)
            self.reason = reason
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        Mistake("collisions --beacons 0 --interval-ms 100", "0 is out of range 1...100000000"),
        Mistake("collisions --beacons -5 --interval-ms 100", "-5 is out of range 1...100000000"),
        Mistake("collisions --beacons 5 --interval-ms 19", "it is out of range 20 ms...10.24 s"),
        Mistake("collisions --beacons 5 --interval-ms 10.3s", "it is out of range 20 ms...10.24 s"),
        Mistake("collisions --beacons 5 --interval-ms nan", "write milliseconds as 100"),
        Mistake("collisions --beacons 5 --interval-ms 100 --payload-octets 32", "a legacy packet holds no more"),
        Mistake("collisions --beacons 5 --interval-ms 100 --background-load 1", "write a share below 1"),
        Mistake("collisions --beacons 5 --interval-ms 100 --background-load nan", "--background-load"),
        Mistake("collisions --beacons 5 --interval-ms 100 --copy-spacing-ms 6..0.45", "write the smaller number first"),
        Mistake("collisions --beacons 5", "--interval-ms"),
        Mistake("latency --beacons 5 --interval-ms 100 --scanner pigeon", "use one of android-low-power"),
        Mistake("latency --beacons 5 --interval-ms 100 --scanner ios", "use one of ios-"),
        Mistake("latency --beacons 5 --interval-ms 100 --scanner linux:6,continuous:1", "weights are for --scanners"),
        Mistake("latency --beacons 5 --interval-ms 100 --scanner android-low-powr", "did you mean android-low-power?"),
        Mistake(
            "latency --beacons 5 --interval-ms 100 --scan-window-ms 200 --scan-interval-ms 100",
            "200 ms is longer than the scan interval of 100 ms"),
        Mistake("latency --beacons 5 --interval-ms 100 --scan-window-ms 200", "--scan-interval-ms"),
        Mistake(
            mix + "continuous:0", "--scanners continuous:0: the weight must be above 0"),
        Mistake(
            mix + "linux:2,continuous:-1", "part 2, \"continuous:-1\": the weight must be above 0"),
        Mistake(mix + "linux:1e999,continuous:1", "part 1, \"linux:1e999\": the weight must not be infinite"),
        Mistake(mix + "linux:nan,continuous:1", "part 1, \"linux:nan\": the weight is not a number"),
        Mistake(mix + "linux:60%,continuous:30%", "the percentages add up to 90 %, not to 100 %"),
        Mistake(mix + "linux:60%,continuous:40", "part 2, \"continuous:40\": give weights to all scanners"),
        Mistake(mix + "linux:1,continuous", "part 2, \"continuous\": give weights to all scanners"),
        Mistake(mix + "linux:1,linux:2", "part 2, \"linux:2\": linux occurs twice; add up its weights"),
        Mistake(mix + "linux:1,", "part 2, \"\": write a scanner and its weight"),
        Mistake(mix + "linux:1,pigeon:2", "part 2, \"pigeon:2\": use one of android-low-power"),
        Mistake(mix + "linux:1,continuous:1e-12", "less than a billionth of the mix"),
        Mistake(mix + "linux:1 --scanner linux", "Give one of --scanner, --scanners"),
        Mistake("latency --beacons 5 --interval-ms 100 --scanner-file x", "--scanner-file needs --scanner"),
        Mistake("site x.json --scanners linux:0", "the weight must be above 0"),
        Mistake(
            mix + "linux --undiscovered-after-s -1", "The value '-1' of --undiscovered-after-s is negative"),
        Mistake("interval --beacons 5", "--detect-within-s and --probability, or --max-throughput"),
        Mistake("interval --beacons 5 --detect-within-s -1 --probability 0.9", "write a number above 0"),
        Mistake("interval --beacons 5 --detect-within-s 1 --probability 1", "--probability"),
        Mistake("density --interval-ms 100 --detect-within-s 10 --probability 0", "--probability"),
        Mistake(
            "density --interval-ms 100 --detect-within-s 10 --probability 2", "did you mean 2 %? Write 2% or 0.02"),
        Mistake(
            "density --interval-ms 100 --detect-within-s 10 --probability 9.5",
            "did you mean 9.5 %? Write 9.5% or 0.095"),
        Mistake("interval --beacons 5 --detect-within-s 1 --probability 0,95", "use a point in a number: 0.95"),
        Mistake("interval --beacons 5 --detect-within-s 1 --probability 99,9", "use a point in a number: 99.9"),
        Mistake("collisions --beacons 5 --interval-ms 152,5", "use a point in a number: 152.5"),
        Mistake("site x.json --places 2000,5000", "write one number, without a comma"),
        Mistake("site x.json --places 10,000", "did you mean 10000?"),
        Mistake("range --distance-m 4s", "write a number, such as 2.5 or 2.5 m"),
        Mistake("latency --beacons 5 --interval-ms 100 --scan-window-ms x --scan-interval-ms 9", "5.12s"),
        Mistake("interval --beacons 5 --detect-within-s 0,5s --probability 0.9", "use a point in a number: 0.5s"),
        Mistake("walk --speed-mps 1,4m --distance-m 3 --interval-ms 100", "for two values write 1m,4m"),
        Mistake("simulate latency --beacons 5 --interval-ms 100 --undiscovered-after-s 0,5", "did you mean 0.5?"),
        Mistake("simulate collisions --beacons 5 --interval-ms 100 --precision 5", "did you mean 5 %?"),
        Mistake(
            "simulate collisions --beacons 5 --interval-ms 100 --shard 5/4",
            "there is no part 5 of 4: the parts are numbered from 1 to 4"),
        Mistake("simulate collisions --beacons 5 --interval-ms 100 --shard 1/0", "0 parts are out of range 1...100000"),
        Mistake(
            "walk --speed-mps 1 --distance-m 3 --interval-ms 100 --range-m 10 --path-loss heydon",
            "Give --range-m or --path-loss, not both"),
        Mistake("walk --speed-mps 0 --distance-m 3 --interval-ms 100", "0 is out of range 0.001...1000 m/s"),
        Mistake("energy --interval-ms 100 --chip z80 --battery cr2477", "use one of nrf52832"),
        Mistake(
            "energy --interval-ms 100 --chip nrf52840 --battery cr2477", "for another chip give --charge-uc instead"),
        Mistake("energy --interval-ms 100 --battery cr2477", "Give a chip, --chip, or the charge"),
        Mistake("energy --interval-ms 100 --charge-uc 8", "Give a battery, --battery, or its capacity"),
        Mistake("energy --interval-ms 100 --chip nrf52832 --battery potato", "use one of"),
        Mistake("simulate collisions --beacons 5 --interval-ms 100 --seed x", "--seed"),
        Mistake("simulate collisions --beacons 5 --interval-ms 100 --precision 0", "--precision"),
        Mistake("range", "Give at least one of --spacing-m, --range-m, --distance-m"),
        Mistake("range --spacing-m 0", "0 is out of range 0.01...1000000 m"),
        Mistake("range --range-m -1", "-1 is out of range 0.001...1000000 m"),
        Mistake("range --distance-m x", "write a number"),
        Mistake("range --distance-m 1 --radio-power-dbm 21", "21 is out of range -127...20 dBm"),
        Mistake("battery", "pharos plan has no command"),
        Mistake("range --level-dbm 41", "41 is out of range -150...40 dBm"),
        Mistake("range --height-m -2", "-2 is out of range 0...1000 m"),
        Mistake("range --body-db nan", "write a number"),
        Mistake("range --interferer-m 1e9", "out of range 0...500000 m"),
        Mistake("range --distance-m 4 --capture-db 12", "--capture-db needs --interferer-m"),
        Mistake("range --spacing-m 10 --path-loss thesis --radio-power-dbm 10", "the range is infinite"),
        Mistake("range --spacing-m 0.01 --range-m 100000", "a radius in grid spacings"),
        Mistake("thesis --beacons 0", "0 is out of range 1...100000000"),
    ])
    func mistakesAreNamed(_ mistake: Mistake) throws {
        let result = try Program.run(mistake.arguments)
        #expect(result.code == 64)
        #expect(result.output.isEmpty)
        let line = result.errors.split(separator: "\n").first.map(String.init) ?? ""
        #expect(line.hasPrefix("pharos: ") && line.contains(mistake.reason), "\(line)")
    }

    private static let mix = "latency --beacons 5 --interval-ms 100 --scanners "

    @Test("weights on any scale, percentages, and no weights give the same mix")
    func weightsAreRelative() throws {
        let words = "plan latency --beacons 1 --interval-ms 300 --json --scanners".split(separator: " ").map(
            String.init)
        let mixes = [
            "linux:3,continuous:3", "linux:50%,continuous:50%", "Linux, continuous", "linux:0.5,continuous:.5",
        ]
        let outputs = try Set(mixes.map { try Program.run(words + [$0]).output })
        #expect(outputs.count == 1 && outputs.first?.hasPrefix("{") == true, "\(outputs)")
    }

    @Test("a scanner file adds its own scanner names and keeps the known scanners")
    func ownScanners() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("scanners.json", RepositoryFile("profiles/scanners/our-visitors.json").octets)
        let words = ["plan", "latency", "--beacons", "1", "--interval-ms", "300", "--json", "--scanner-file", path]
        let mixed = try Program.run(words + ["--scanners", "our-app-2026:1,linux:1"])
        #expect(mixed.output.contains(#""scanner":"our-app-2026 50 %, linux 50 %""#), "\(mixed.errors)")
        #expect(try Program.run(words + ["--scanner", "guide-tablet"]).code == 0)
        let unknown = try Program.run(words + ["--scanner", "nothing"])
        #expect(
            unknown.code == 64 && unknown.errors.contains("our-app-2026, guide-tablet, android-low-power"),
            "\(unknown.errors)")
        let list = try Program.run("plan", "scanners", "--scanner-file", path)
        #expect(list.output.contains("guide-tablet") && list.output.contains("- ios-background: Assumed"))
        let wrong = try folder.file(
            "wrong.json", Array(#"{"version":1,"name":"x","scanners":[{"name":"linux"}]}"#.utf8))
        let refused = try Program.run("plan", "scanners", "--scanner-file", wrong)
        #expect(refused.code == 78 && refused.errors.contains("wrong.json:1:"), "\(refused.errors)")
        #expect(try Program.run("plan", "scanners", "--scanner-file", "/nowhere.json").code == 66)
    }

    @Test("options replace the scanner of a site file, and a site file can have a mix")
    func sitesHaveMixes() throws {
        let folder = try TemporaryFolder()
        func site(_ scanner: String) throws -> String {
            try folder.file(
                "site.json",
                Array(
                    (#"{"version":1,"name":"hall","outline":[[0,0],[20,0],[20,20],[0,20]],"#
                        + #""beacons":[{"position":[2,2]}],"paths":[{"name":"tour","points":[[0,0],[20,20]]}],"#
                        + #""target":{"detectWithinS":2,"probability":0.9},\#(scanner)}"#).utf8))
        }
        let own = try site(#""scanners":[{"scanner":"linux","weight":1},{"scanner":"harmony","weight":3}]"#)
        let inFile = try Program.run("plan", "site", own, "--places", "50", "--json").output
        #expect(inFile.contains(#""scanners":[{"scanner":"linux","share":0.25,"holdingShare":"#), "\(inFile)")
        #expect(inFile.contains(#""scanners":[{"scanner":"linux","probabilitySeen":"#), "\(inFile)")
        let asked = ["--places", "50", "--json", "--scanners", "linux:1,harmony:3"]
        #expect(try Program.run(["plan", "site", site(#""scanner":"continuous""#)] + asked).output == inFile)
    }

    @Test func reportsTheOrderOfMagnitudeBeyondSaturation() throws {
        let result = try Program.run("plan", "collisions", "--beacons", "100000", "--interval-ms", "20")
        #expect(result.code == 0)
        #expect(result.output.contains("destroy each other's packets"))
        #expect(result.output.contains("10^-1327"))
        #expect(!result.output.contains("0.000"))
    }

    @Test func reportsTheBestAndRemediesForAMissedTarget() throws {
        let words = "--beacons 1 --detect-within-s 1 --probability 0.99 --scanner android-low-power"
        let result = try Program.run(["plan", "interval"] + words.split(separator: " ").map(String.init))
        #expect(result.code == 1)
        #expect(result.output.hasPrefix("At best, android-low-power finds"))
        #expect(result.output.contains("less than the 99 % of the target. To reach the target, allow "))
    }

    @Test(arguments: [
        "interval --beacons 250 --detect-within-s 2 --probability 0.99 --scanner continuous",
        "density --interval-ms 5000 --detect-within-s 1 --probability 0.99 --scanner linux",
    ])
    func doesNotAdviseAContinuousScannerToListenMore(_ words: String) throws {
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init))
        #expect(result.code == 1)
        let answer = result.output.split(separator: "\n").first.map(String.init) ?? ""
        #expect(
            answer.hasPrefix("At best, continuous finds")
                || answer.hasPrefix("Even a single beacon is found within 1 s"))
        #expect(!answer.contains("paus") && !answer.contains("listen more"), "\(answer)")
    }

    @Test("a scanner without pauses is not advised if it misses the target too")
    func remediesReachTheTarget() throws {
        let words = "interval --beacons 250 --detect-within-s 2 --probability 0.99 --scanner android-low-power"
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init))
        #expect(result.output.contains("To reach the target, allow ") && !result.output.contains("never pauses"))
    }

    @Test("several values give one answer each, as a table, as CSV and as JSON")
    func listsAreCompared() throws {
        let words = ["plan", "collisions", "--beacons", "100,250", "--interval-ms=100,500"]
        let table = try Program.run(words).output.split(separator: "\n").map(String.init)
        #expect(table.first?.split(separator: " ").map(String.init) == ["--beacons", "100", "100", "250", "250"])
        #expect(table[1].split(separator: " ").map(String.init) == ["--interval-ms", "100", "500", "100", "500"])
        let lines = try Program.run(words + ["--csv"]).output.split(separator: "\r\n").map(String.init)
        #expect(lines.count == 5 && lines[0].hasPrefix("beacons,interval-ms,holds,"))
        #expect(lines[4].hasPrefix("250,500,true,"))
        let values = try Program.run(["plan", "compare"] + words.dropFirst() + ["--json"]).output
        let single = try Program.run("plan", "collisions", "--beacons", "250", "--interval-ms", "500", "--json").output
        #expect(values.hasSuffix("\"holds\":true,\"answer\":\(single.dropLast())}]\n"), "\(values)")
    }

    @Test func aSingleAnswerCanBeCSV() throws {
        let words = "plan energy --interval-ms 500 --chip nrf52832 --battery cr2477 --csv"
        let result = try Program.run(words.split(separator: " ").map(String.init))
        let lines = result.output.split(separator: "\r\n")
        #expect(lines.count == 2 && lines[0].contains("lifeDays"))
    }

    @Test(arguments: [
        ("plan collisions --beacons 100,x --interval-ms 100", "'x' is invalid for '--beacons <n>'"),
        ("plan compare colisions --beacons 1,2", "did you mean collisions?"),
        ("plan collisions --beacons 1,2 --interval-ms 100 --html x.html", "with --html or --write-profile, give"),
        ("plan latency --beacons 1 --interval-ms 100 --scanner iphone", "use one of android-low-power, "),
    ])
    func aWrongListIsRefused(_ words: String, _ message: String) throws {
        let result = try Program.run(words.split(separator: " ").map(String.init))
        #expect(result.code == 64 && result.errors.contains(message), "\(result.errors)")
    }

    @Test("hidden commands are not listed")
    func hiddenCommandsStayHidden() throws {
        let result = try Program.run("plan", "bogus")
        #expect(result.code == 64 && result.errors.contains("scanners") && !result.errors.contains("json-keys"))
    }

    @Test("0.95, 95% and 95 mean the same")
    func sharesArePercent() throws {
        let words = "plan density --interval-ms 500 --detect-within-s 5 --json --probability".split(separator: " ").map(
            String.init)
        let outputs = try Set(["0.95", "95%", "95 %", "95"].map { try Program.run(words + [$0]).output })
        #expect(outputs.count == 1 && outputs.first?.hasPrefix("{") == true, "\(outputs)")
    }

    @Test(
        "the usual spellings of a value mean the same",
        arguments: [
            (
                "plan density --interval-ms 500 --probability 0.95 --detect-within-s",
                ["10", "10s", "10sec", "10 seconds"]
            ),
            (
                "plan density --interval-ms 500 --probability 0.95 --detect-within-s",
                ["90", "1.5 minutes", "1.5\u{A0}min"]
            ),
            ("plan density --interval-ms 500 --probability 0.95 --detect-within-s", ["0.5", ".5s", "500\u{202F}ms"]),
            (
                "plan density --interval-ms 500 --detect-within-s 10 --probability",
                ["0.95", "95\u{202F}%", "95\u{A0}%"]
            ),
            (
                "plan density --detect-within-s 10 --probability 0.9 --interval-ms",
                ["500", "500 ms", "0.5\u{A0}seconds"]
            ),
            ("plan range --radio-power-dbm 4 --distance-m", ["10", "10m", "10 metres", "10\u{A0}m"]),
            ("plan range --distance-m 10 --radio-power-dbm", ["4", "4dBm", "4 dBm"]),
            ("plan range --distance-m 10 --body-db", ["15", "15dB", "15 db"]),
            ("plan walk --distance-m 3 --range-m 10 --interval-ms 500 --speed-mps", ["1.4", "1.4 m/s", "1.4mps"]),
            (
                "plan latency --beacons 1 --interval-ms 100 --scan-interval-ms 60 --scan-window-ms",
                ["30", "30ms", "0.03s"]
            ),
        ])
    func spellingsOfAValue(_ words: String, _ values: [String]) throws {
        let words = words.split(separator: " ").map(String.init)
        let results = try values.map { try Program.run(words + [$0, "--json"]) }
        for (value, result) in zip(values, results) { #expect(result.output.hasPrefix("{"), "\(value): \(result)") }
        #expect(Set(results.map(\.output)).count == 1, "\(results)")
    }

    @Test func aListThatMayBeADecimalNumberIsPointedOut() throws {
        let words = "plan density --interval-ms 500 --probability 0.9 --detect-within-s".split(separator: " ")
        let doubtful = try Program.run(words.map(String.init) + ["10,5"])
        #expect(doubtful.errors.contains("these are two values, 10 and 5"), "\(doubtful)")
        let list = try Program.run(words.map(String.init) + ["5,10"])
        #expect(list.errors.isEmpty, "\(list)")
    }

    @Test(
        "each answer names its scanner, even if it is assumed",
        arguments: [
            "interval --beacons 20 --max-throughput",
            "walk --speed-mps 1.4 --distance-m 3 --range-m 10 --interval-ms 500",
            "density --interval-ms 500 --detect-within-s 5 --probability 0.95",
            "simulate latency --beacons 2 --interval-ms 100 --precision 0.2",
        ])
    func theScannerIsNamed(_ words: String) throws {
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init))
        #expect(result.code == 0)
        #expect(result.output.split(separator: "\n").contains { $0.hasPrefix("scanner ") && $0.contains("continuous") })
        #expect(result.output.contains("- The scanner continuous is an ideal receiver"), "\(result.output)")
    }

    @Test("a missed target is stated clearly, with an interval for fewer beacons")
    func aMissedTargetIsNoAdvice() throws {
        let words = "interval --beacons 98 --detect-within-s 5 --probability 0.95 --scanner android-low-power"
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init))
        #expect(result.code == 1)
        let answer = result.output.split(separator: "\n").first.map(String.init) ?? ""
        #expect(!answer.contains("in 95 % of the cases, with") && !answer.contains("allow 5 s"), "\(answer)")
        #expect(answer.contains(#/have \d+ beacons or fewer in range and set [\d.]+ ms/#), "\(answer)")
        #expect(result.output.contains("\nclosest interval") && !result.output.contains("interval to set"))
    }

    @Test(
        "no resonance is reported for a scanner that never pauses",
        arguments: [
            "interval --beacons 60 --detect-within-s 0.001 --probability 0.95",
            "interval --beacons 1000000 --detect-within-s 10 --probability 0.95",
        ])
    func noResonanceWithoutPauses(_ words: String) throws {
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init))
        #expect(!result.output.contains("resonate") && !result.output.contains("Give all beacons the same"))
    }

    @Test("the legend of the dash is printed only if the table has a dash")
    func legendsExplainWhatIsThere() throws {
        for words in ["--detect-within-s 15 --probability 0.95", "--detect-within-s 2 --probability 0.5"] {
            let words = "interval --beacons 60 --scanner android-low-power " + words
            let output = try Program.run(["plan"] + words.split(separator: " ").map(String.init)).output
            let rows = output.split(separator: "\n").filter { $0.contains(#/^ *[\d.]+ ms .* %/#) }
            #expect(output.contains("–: not within") == rows.contains { $0.contains("–") }, "\(output)")
        }
    }

    @Test("simulated times and undiscovered shares have confidence intervals")
    func simulatedTimesHaveIntervals() throws {
        let words = "simulate latency --beacons 2 --interval-ms 100 --precision 0.1 --undiscovered-after-s 0.1"
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init))
        #expect(
            result.output.contains(#/50 % received within +\S+ m?s +± \S+ m?s; the model's value is/#),
            "\(result.output)")
        #expect(result.output.contains(#/not yet found after 100 ms +\S+ % +± \S+ %; the model's value is/#))
        #expect(result.output.contains("the time for 95 % is as precise as --precision requires"))
    }

    @Test("own measurements need no chip or battery, and shelf life limits battery life")
    func ownMeasurements() throws {
        let own = try Program.run(
            "plan", "energy", "--interval-ms", "495", "--charge-uc", "10", "--capacity-mah", "500", "--sleep-ua", "2")
        #expect(own.code == 0, "\(own.errors)")
        #expect(
            own.output.hasPrefix(
                "A battery of 500 mAh lasts 805 days (2.2 years) with a chip of 10 µC an event and 2 µA"),
            "\(own.output)")
        let long = try Program.run(
            "plan", "energy", "--interval-ms", "10240", "--chip", "nrf52832", "--battery", "2xaa-lithium")
        #expect(
            long.output.hasPrefix("A 2xaa-lithium lasts about ten years, as long as a battery is usable: its charge"))
    }

    @Test("comparison CSV has no repeated column, and the requested interval if it was rounded")
    func comparisonRepeatsNoColumnInCSV() throws {
        let words = "plan energy --interval-ms 100,500 --chip nrf52832 --battery cr2477 --csv"
        let csv = try Program.run(words.split(separator: " ").map(String.init)).output.split(separator: "\r\n")
        #expect(csv.count == 3 && csv[0].hasPrefix("interval-ms,holds,lifeDays,"), "\(csv)")
        // If controllers round an interval, the table has the given and the rounded interval.
        let rounded = try Program.run(words.replacing("500", with: "333").split(separator: " ").map(String.init)).output
        #expect(
            rounded.hasPrefix("interval-ms,holds,intervalMs,") && rounded.contains("333,true,333.125,"), "\(rounded)")
    }

    @Test func adviceAvoidsResonanceWithTheScanner() throws {
        let words = "--beacons 1 --detect-within-s 15 --probability 0.95 --scanner android-low-power"
        let result = try Program.run(["plan", "interval"] + words.split(separator: " ").map(String.init))
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("Set 1391.875 ms: android-low-power finds a single beacon within 15 s"))
        #expect(result.output.contains("resonates with the scanner (4:1)"))
    }

    @Test func writesTheIntervalIntoAProfile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("lobby.json", RepositoryFile("profiles/lobby-ibeacon.json").octets)
        let result = try Program.run(
            "plan", "interval", "--beacons", "250", "--max-throughput", "--write-profile", path)
        #expect(result.code == 0)
        let shown = try Program.run("profile", "show", path)
        #expect(shown.output.contains("183.125"), "\(shown.output)")
        #expect(try Program.run("profile", "check", path).code == 0)
    }

    @Test func aWrittenIntervalThatMissesTheTargetIsReported() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("lobby.json", RepositoryFile("profiles/lobby-ibeacon.json").octets)
        let words = "plan interval --beacons 250 --detect-within-s 1 --probability 0.99 --scanner continuous --spread"
        let result = try Program.run(words.split(separator: " ").map(String.init) + ["--write-profile", path])
        #expect(result.code == 1)
        #expect(result.output.contains("this interval comes closest to the target, but misses it"), "\(result)")
    }

    @Test func theLongestIntervalOfControllersIsNotComparedWithALongerOne() throws {
        let words = "plan interval --beacons 1 --detect-within-s 3600 --probability 0.9 --scanner continuous"
        let result = try Program.run(words.split(separator: " ").map(String.init))
        #expect(result.code == 0)
        #expect(result.output.contains("This is the longest interval that controllers support."), "\(result.output)")
        #expect(!result.output.contains("1 % longer"))
    }

    @Test func changesNothingElseInTheProfile() throws {
        let folder = try TemporaryFolder()
        let before = RepositoryFile("profiles/lobby-north.json").octets
        let path = try folder.file("lobby.json", before)
        _ = try Program.shell("chmod 640 \"$1\"", path)
        let words = ["plan", "interval", "--beacons", "250", "--max-throughput", "--write-profile", path]
        let result = try Program.run(words)
        #expect(result.code == 0)
        #expect(result.output.contains("advertisement 1 (ibeacon) from 200 ms to 183.125 ms; nothing else was changed"))
        let text = String(decoding: before, as: UTF8.self)
        let after = try Program.shell("cat \"$1\"; stat -c %a \"$1\"", path).output
        #expect(after == text.replacing("\"intervalMs\": 200", with: "\"intervalMs\": 183.125") + "640\n")
        // All four at this interval are more than one set can send.
        let refused = try Program.run(
            ["plan", "interval", "--beacons", "1", "--max-throughput", "--write-profile", path, "--advertisement"]
                + ["1", "2", "3", "4"])
        #expect(refused.code == 78 && refused.errors.contains("--advertisement"), "\(refused.errors)")
        #expect(try Program.shell("cat \"$1\"; stat -c %a \"$1\"", path).output == after)
    }

    @Test func aProfileThatCannotBeReadIsLeftAlone() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("broken.json", Array("{".utf8))
        let result = try Program.run(
            "plan", "interval", "--beacons", "250", "--max-throughput", "--write-profile", path)
        #expect(result.code == 65)
        #expect(try Program.shell("cat \"$1\"", path).output == "{")
    }

    @Test func aPageIsOneFileUnderItsLimit() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("page.html")
        let result = try Program.run("plan", "collisions", "--beacons", "250", "--interval-ms", "100", "--html", path)
        #expect(result.code == 0)
        let size = try Program.shell("wc -c < \"$1\"", path).output
        #expect((10_000..<500_000).contains(Int(size.filter(\.isNumber)) ?? 0))
    }

    @Test func aPageReplacesNoOtherFile() throws {
        let folder = try TemporaryFolder()
        let site = try folder.file("keep.json", Array("{}".utf8))
        for name in [site, folder.place("page"), folder.place("x.csv"), "-"] {
            let result = try Program.run(
                "plan", "collisions", "--beacons", "5", "--interval-ms", "100", "--html", name)
            #expect(result.code == 64, "\(name): \(result)")
            #expect(result.errors.contains("--html"))
        }
        let named = try Program.run("plan", "thesis", "--beacons", "5", "--html", site)
        #expect(named.errors.contains("keep.html"), "\(named.errors)")
        let text = String(decoding: try Files.read(site), as: UTF8.self)
        #expect(text == "{}")
        let written = try Program.run(
            "plan", "collisions", "--beacons", "5", "--interval-ms", "100", "--html", folder.place("page.HTM"))
        #expect(written.code == 0)
        for option in ["--write-site", "--write-fleet"] {
            let result = try Program.run("plan", "site", site, "--propose", option, site)
            #expect(result.code == 64 && result.errors.contains("give another file"), "\(result.errors)")
        }
    }

    @Test func aPageDoesNotReplaceAFileThatTheCommandReads() throws {
        let folder = try TemporaryFolder()
        let site = try folder.file("site.html", Array("{}".utf8))
        let result = try Program.run("plan", "site", site, "--html", site)
        #expect(result.code == 64 && result.errors.contains("the command reads this file"), "\(result.errors)")
    }

    @Test func reportsAPageThatCannotBeWritten() throws {
        let result = try Program.run("plan", "thesis", "--beacons", "250", "--html", "/nowhere/page.html")
        #expect(result.code == 71)
        #expect(result.errors.hasPrefix("pharos: /nowhere/page.html: the page cannot be written: "))
    }

    @Test func chargeAndCapacityOverrideTheTables() throws {
        let asked = ["plan", "energy", "--interval-ms", "495", "--chip", "nrf52832", "--battery", "cr2477"]
        let given = try Program.run(asked + ["--charge-uc", "10", "--capacity-mah", "500", "--json"])
        #expect(given.code == 0)
        // 0.85 · 500 mAh / (10 µC / 0.5 s + 2 µA) in days.
        #expect(given.output.contains("\"lifeDays\":804.924"), "\(given.output)")
        let charge = try Program.run(asked + ["--charge-uc", "10", "--json"])
        #expect(charge.output.contains("\"lifeDays\":1609.848"), "\(charge.output)")
        for words in [["--charge-uc", "0"], ["--capacity-mah", "0.05"], ["--charge-uc", "10001"]] {
            let refused = try Program.run(asked + words)
            #expect(refused.code == 64 && refused.errors.contains(words[0]), "\(refused.errors)")
        }
    }

    @Test func reportsAllMistakesOfASite() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file(
            "site.json",
            Array(#"{"version":1,"name":"x","outline":[[0,0],[9,9],[9,0],[0,9]],"target":{"probability":2}}"#.utf8))
        let result = try Program.run("plan", "site", path)
        #expect(result.code == 78)
        for message in ["crosses or touches itself", "detectWithinS", "2 is out of range"] {
            #expect(result.errors.contains(message), "\(result.errors)")
        }
        #expect(try Program.run("plan", "site", "/nowhere.json").code == 66)
        let text = try folder.file("text.json", Array("walls".utf8))
        #expect(try Program.run("plan", "site", text).code == 65)
    }

    @Test func aProposalBecomesASiteAndAFleet() throws {
        let folder = try TemporaryFolder()
        let text = """
            {"version":1,"name":"hall","outline":[[0,0],[40,0],[40,20],[0,20]],
             "beacons":[{"name":"door\\u001b[2J","position":[2,2]}],"receiverSensitivityDbm":-80,
             "mounts":[[5,5],[15,5],[25,5],[35,5],[5,15],[15,15],[25,15],[35,15]],
             "pathLoss":{"model":"log-distance","lossAt1mDb":55,"exponent":2.2},
             "target":{"detectWithinS":20,"probability":0.8}}
            """
        let path = try folder.file("site.json", Array(text.utf8))
        let (site, fleet) = (folder.place("next.json"), folder.place("fleet.json"))
        let asked = ["plan", "site", path, "--places", "60"]
        let result = try Program.run(asked + ["--propose", "--write-site", site, "--write-fleet", fleet])
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains(" the target at all 66 computed places. "), "\(result.output)")
        #expect(!result.output.contains("\u{1B}"))
        let again = try Program.run("plan", "site", site, "--places", "60", "--json")
        #expect(again.code == 0 && again.output.contains("\"holdingShare\":1,"), "\(again.output)")
        #expect(try Program.run("fleet", "check", fleet).code == 0)
        // The radio power of 0 dBm less the loss of 55 dB at 1 m.
        let fleetText = String(decoding: try Files.read(fleet), as: UTF8.self)
        #expect(fleetText.contains("\"measuredPowerDbm\": -55"), "\(fleetText)")
        // Without `--propose`, `--write-site` and `--from-scratch` are refused.
        #expect(try Program.run(asked + ["--write-site", site]).code == 64)
        #expect(try Program.run(asked + ["--from-scratch"]).code == 64)
        let anew = try Program.run(asked + ["--propose", "--from-scratch", "--json"])
        #expect(anew.code == 0 && anew.output.contains("\"kept\":0,"), "\(anew.output)")
    }

    @Test func aWrittenSiteHasTheTargetAndTheScannersOfThePlan() throws {
        let folder = try TemporaryFolder()
        let text = #"{"version":1,"name":"hall","outline":[[0,0],[8,0],[8,6],[0,6]],"scanner":"continuous"}"#
        let path = try folder.file("site.json", Array(text.utf8))
        let asked = ["plan", "site", path, "--places", "30", "--propose", "--target-beacons", "2"]
        for (number, scanners) in ["android-low-latency", "continuous:3,android-low-latency:1"].enumerated() {
            let site = folder.place("next-\(number).json")
            let option = scanners.contains(",") ? "--scanners" : "--scanner"
            let result = try Program.run(asked + [option, scanners, "--write-site", site])
            #expect(result.code == 0, "\(result.errors)")
            let written = String(decoding: try Files.read(site), as: UTF8.self)
            #expect(written.contains("\"android-low-latency\"") && written.contains("\"beacons\": 2"), "\(written)")
            let plain = try Program.run("plan", "site", site, "--places", "30")
            #expect(plain.code == 0 && plain.output.contains("2 beacons"), "\(plain)")
        }
    }

    @Test func aProposalReplacesAFileOnlyWithForce() throws {
        let folder = try TemporaryFolder()
        let text = #"{"version":1,"name":"hall","outline":[[0,0],[8,0],[8,6],[0,6]]}"#
        let path = try folder.file("site.json", Array(text.utf8))
        let other = try folder.file("other.json", Array("mine".utf8))
        let asked = ["plan", "site", path, "--places", "30", "--propose"]
        for option in ["--write-site", "--write-fleet"] {
            let kept = try Program.run(asked + [option, other])
            #expect(kept.code == 64 && kept.errors.contains("use --force"), "\(kept.errors)")
            let contents = String(decoding: try Files.read(other), as: UTF8.self)
            #expect(contents == "mine")
            #expect(try Program.run(asked + [option, path, "--force"]).code == 64)
        }
        #expect(try Program.run(asked + ["--write-site", other, "--force"]).code == 0)
        #expect(try Program.run("plan", "site", other, "--places", "30").code == 0)
    }

    @Test("a site with only an outline gets a proposal for the default target, and a note")
    func siteWithOutlineAlone() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file(
            "site.json", Array(#"{"version":1,"name":"hall","outline":[[0,0],[20,0],[20,10],[0,10]]}"#.utf8))
        let result = try Program.run("plan", "site", path, "--places", "50")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("let a receiver find a beacon within 10 s in 90 % of the cases at all "))
        #expect(result.output.contains("- The site file has no target, so the default applies:"), "\(result.output)")
    }

    /// Returns a hall of 40 m by 20 m with further keys.
    private func hall(_ keys: String, in folder: TemporaryFolder) throws -> String {
        let text = #"{"version":1,"name":"hall","outline":[[0,0],[40,0],[40,20],[0,20]],"# + keys + "}"
        return try folder.file("hall.json", Array(text.utf8))
    }

    @Test("a proposal is checked on a finer grid and gets more beacons if it misses the target")
    func proposalsAreChecked() throws {
        let folder = try TemporaryFolder()
        let path = try hall(#""receiverSensitivityDbm":-80"#, in: folder)
        let result = try Program.run("plan", "site", path, "--places", "20")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains(#/in 90 % of the cases at all \d+ computed places\./#), "\(result.output)")
        let found = try #require(
            result.output.firstMatch(
                of:
                    #/(\d+) of the beacons were added .* The target is now reached at all (\d+) places on a finer grid\./#
            ),
            "\(result.output)")
        // The rows of the table are from the check, so they agree with the sentence.
        #expect(result.output.contains("of \(found.2) places, with the proposal"))
        let json = try Program.run("plan", "site", path, "--places", "20", "--json").output
        #expect(json.contains(#""check":{"places":\#(found.2),"holdingShare":1,"#), "\(json)")
        #expect(json.contains(#""added":\#(found.1)}"#), "\(json)")
        #expect(json.contains(#""reached":true"#))
    }

    @Test("the reason why a proposal misses the target is stated")
    func reportsWhyAProposalMissesTheTarget() throws {
        let folder = try TemporaryFolder()
        let weak = try hall(#""defaults":{"radioPowerDbm":-60}"#, in: folder)
        let none = try Program.run("plan", "site", weak, "--places", "50", "--propose")
        #expect(none.code == 1)
        #expect(
            none.output.hasPrefix(
                "No beacon is proposed: a beacon with -60 dBm is received too weakly to reach the target, even close"),
            "\(none.output)")
        #expect(!none.output.contains("mount"))
        let mounted = try hall(#""mounts":[[1,1]],"receiverSensitivityDbm":-75"#, in: folder)
        let one = try Program.run("plan", "site", mounted, "--places", "50", "--propose")
        #expect(one.code == 1)
        #expect(
            one.output.contains(#/1 beacon reaches the target at [\d.]+ % of the \d+ computed places\. At the other/#))
        #expect(one.output.contains("proposed; no number of beacons reaches the target everywhere"), "\(one.output)")
    }

    @Test func aMillionWallsAreRefusedAtOnce() throws {
        let folder = try TemporaryFolder()
        let wall = #"{"from":[0,0],"to":[1,1],"attenuationDb":3}"#
        let walls = Array(repeating: wall, count: 1_000_000).joined(separator: ",")
        let path = try folder.file(
            "site.json",
            Array(
                #"{"version":1,"name":"x","walls":[\#(walls)],"target":{"detectWithinS":1,"probability":0.5}}"#.utf8))
        let result = try Program.run("plan", "site", path)
        #expect(result.code == 78 || result.code == 65)
        #expect(result.errors.hasPrefix("pharos: ") && result.errors.utf8.count < 2000, "\(result.errors.prefix(300))")
    }

    @Test(arguments: [
        "simulate collisions --beacons 250 --interval-ms 100 --precision 0.0001",
        "simulate latency --beacons 2 --interval-ms 100 --scanner continuous --precision 0.0001",
    ])
    func anInterruptedSimulationPrintsItsResults(_ words: String) throws {
        let program = try RunningProgram(["plan"] + words.split(separator: " ").map(String.init) + ["--json"])
        #expect(!eventually(milliseconds: 3000) { !program.output.isEmpty })
        program.signal(2)
        let result = program.end()
        #expect(result.code == 1)
        #expect(result.output.contains(#""interrupted":true"#), "\(result.output) \(result.errors)")
        #expect(result.output.contains(#""confidence95""#))
    }
}
