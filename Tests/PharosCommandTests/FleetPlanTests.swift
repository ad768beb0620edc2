import Configuration
import TestSupport
import Testing

/// Fleets in the planner: `--from-fleet`.
@Suite struct FleetPlanTests: FleetPlanning {
    @Test(arguments: ["museum", "shop", "car-park"])
    func planAndFleetCheckAgree(_ name: String) throws {
        let file = Self.sample(name)
        let check = try Program.run("fleet", "check", file, "--json")
        let sites = elements(JSONDocument.parse(Array(check.output.utf8)).root?["sites"])
        #expect(!sites.isEmpty)
        for site in sites {
            let own = try answer("collisions --from-fleet", file, "--site", site["name"]?.string ?? "")
            for key in ["beacons", "collisionFreeProbability"] {
                #expect(number(own[key]) == number(site[key]), "\(key)")
            }
        }
    }

    @Test func acceptsAFleetFileItsFolderOrItsManifest() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("museum.json", RepositoryFile("profiles/fleets/museum.json").octets)
        let before = try Program.run("plan", "collisions", "--from-fleet", file)
        #expect(before.code == 0, "a fleet without a lock was refused")
        #expect(try Program.shell("ls \"$1\"", folder.place("")).output == "museum.json\n")
        #expect(try Program.run("fleet", "generate", file, "--output", folder.place("files")).code == 0)
        for source in [file, folder.place("files"), folder.place("files/manifest.json")] {
            let after = try Program.run("plan", "collisions", "--from-fleet", source)
            #expect(after == before)
        }
    }

    @Test func readsUnusualPayloadLengthsFromTheManifest() throws {
        let folder = try TemporaryFolder()
        let text = #"""
            {"version":1,"name":"odd","template":{"advertisements":[
              {"type":"ibeacon","uuid":"3c2a6f0e-5b1d-4e77-9a48-0d6f2c9b7e11","major":1,"minor":"${minor}","flags":null,
               "intervalMs":100,"measuredPowerDbm":-59},
              {"type":"raw","structures":[{"type":"flags","flags":"0x06"},{"type":"complete-local-name","name":"odd"}],
               "intervalMs":200}]},
             "identities":{"minor":{"within":"site"}},
             "beacons":[{"name":"a","group":"hall"},{"name":"b","group":"hall"}],"groups":[{"name":"hall"}]}
            """#
        let file = try folder.file("odd.json", Array(text.utf8))
        let generated = try Program.run("fleet", "generate", file, "--output", folder.place("files"))
        #expect(generated.code == 0, "\(generated.errors)")
        let before = try Program.run("plan", "collisions", "--from-fleet", file)
        #expect(before.output.contains("27 bytes of data: ibeacon"))
        #expect(before.output.contains("bytes of data: raw") && !before.output.contains("31 octets"))
        #expect(try Program.run("plan", "collisions", "--from-fleet", folder.place("files")) == before)
    }

    /// Machines with one advertisement each give the same answer as `--beacons` and `--interval-ms`.
    @Test(arguments: [
        "collisions", "latency --scanner android-low-power", "walk --speed-mps 1.4 --distance-m 3",
        "density --detect-within-s 1 --probability 0.9", "energy --chip nrf52832 --battery cr2477",
        "simulate collisions --precision 0.2", "simulate latency --precision 0.2",
    ])
    func equalBeaconsAreTheEqualFleet(_ words: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("hall.json", Self.hall(beacons: 12))
        let fleet = try answer(words + " --from-fleet", file)
        let isAboutMany = !words.hasPrefix("density")
        let options = try answer(
            words + " --interval-ms 100 --payload-octets 30" + (isAboutMany ? " --beacons 12" : ""))
        guard case .object(let members) = options.value else {
            Issue.record("the answer is not an object")
            return
        }
        for member in members where member.key != "advertisements" {
            #expect(text(fleet[member.key]) == text(member.value), "\(member.key)")
        }
        #expect(fleet["fleet"]?.string == "hall" && fleet["site"]?.string == "north")
    }

    @Test func advisesTheSameForAFleetOfEqualBeacons() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("hall.json", Self.hall(beacons: 60))
        for goal in ["--max-throughput", "--detect-within-s 2 --probability 0.9"] {
            let fleet = try answer("interval \(goal) --from-fleet", file)
            let options = try answer("interval \(goal) --beacons 60 --payload-octets 30")
            for key in ["intervalMs", "collisionFreeProbability", "lifeDays"] {
                #expect(number(fleet[key]) == number(options[key]), "\(key)")
            }
        }
        let thesis = try answer("thesis --from-fleet", file)
        #expect(number(thesis["beacons"]) == 60)
    }

    @Test func everySiteHasItsRow() throws {
        let file = Self.sample("shop")
        let rows = try Program.run("plan", "collisions", "--from-fleet", file)
        #expect(rows.output.contains("at hamburg, the worst of the 2 sites of the fleet shop."))
        #expect(rows.output.contains("\nberlin ") && rows.output.contains("\nhamburg "))
        let sites = elements(try answer("collisions --from-fleet", file)["sites"])
        #expect(sites.map { $0["site"]?.string } == ["berlin", "hamburg"])
        for site in sites {
            let own = try answer("collisions --from-fleet", file, "--site", site["site"]?.string ?? "")
            #expect(text(site) == text(own))
        }
    }

    @Test func optionsReplaceTheValuesOfAllAdvertisements() throws {
        let file = Self.sample("museum")
        let slow = try answer("collisions --interval-ms 500 --payload-octets 20 --from-fleet", file)
        let sent = elements(slow["advertisements"])
        #expect(sent.allSatisfy { number($0["intervalMs"]) == 500 && number($0["payloadOctets"]) == 20 })
        #expect(sent.compactMap { number($0["beacons"]) }.reduce(0, +) == 15)
        let asked = try answer("latency --scanner android-low-power --interval-ms 500 --from-fleet", file)
        #expect(number(asked["intervalMs"]) == 500)
    }

    @Test func countsOtherAdvertisementsOfAMachine() throws {
        let folder = try TemporaryFolder()
        let alone = try folder.file("alone.json", Self.hall(beacons: 100))
        let more = try folder.file("more.json", Self.hall(beacons: 100, urlInterval: 100))
        let words = "latency --scanner android-low-latency --from-fleet"
        let (few, many) = (try answer(words, alone), try answer(words, more))
        let p99 = [few, many].map { number($0["latencyS"]?["p99"]) ?? 0 }
        #expect(p99[1] > 1.5 * p99[0])
        let density = "density --detect-within-s 1 --probability 0.9 --from-fleet"
        let room = [try answer(density, alone), try answer(density, more)].map { number($0["beaconsInRange"]) ?? 0 }
        #expect(room[1] < 0.7 * room[0] && room[1] > 0.3 * room[0])
        let energy = "energy --chip nrf52832 --battery cr2477 --from-fleet"
        let life = [try answer(energy, alone), try answer(energy, more)].map { number($0["lifeDays"]) ?? 0 }
        #expect(life[1] < 0.6 * life[0] && life[1] > 0.4 * life[0])
    }

    @Test func modelAndSimulationAgreeOnAMixture() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("more.json", Self.hall(beacons: 60, urlInterval: 300))
        let found = try answer("simulate collisions --precision 0.005 --seed 5 --from-fleet", file)
        let model = try #require(number(found["model"]?["collisionFreeProbability"]))
        let bounds = elements(found["confidence95"]?["collisionFreeProbability"]).compactMap { number($0) }
        #expect(bounds.count == 2 && model > bounds[0] - 0.004 && model < bounds[1] + 0.004, "\(model) \(bounds)")
        #expect(model == number(try answer("collisions --from-fleet", file)["collisionFreeProbability"]))
    }

    // MARK: Wrong input

    @Test(arguments: [
        ("collisions --beacons 5 --from-fleet", "museum", "Give --beacons or --from-fleet, not both"),
        ("collisions --profile x.json --from-fleet", "museum", "Give --profile or --from-fleet, not both"),
        (
            "collisions --site museum --beacons 5 --interval-ms 100 --copy-spacing-ms", "1..2",
            "--site needs --from-fleet"
        ),
        ("collisions --site louvre --from-fleet", "museum", "has no site \"louvre\"; choose it with --site museum"),
        ("collisions --site musuem --from-fleet", "museum", "did you mean museum?"),
        ("interval --max-throughput --from-fleet", "shop", "choose it with --site berlin or --site hamburg"),
        ("latency --scanner harmony --from-fleet", "shop", "this fleet has 2 sites, and the answer is for one"),
        ("walk --beacons 3 --speed-mps 1 --distance-m 1 --from-fleet", "museum", "not both"),
        ("thesis --beacons 3 --from-fleet", "museum", "not both"),
    ])
    func mistakesAreNamed(_ words: String, _ value: String, _ reason: String) throws {
        let last = value.contains(".") ? value : Self.sample(value)
        let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init) + [last])
        #expect(result.code == 64)
        #expect(result.output.isEmpty)
        let line = result.errors.split(separator: "\n").first.map(String.init) ?? ""
        #expect(line.hasPrefix("pharos: ") && line.contains(reason), "\(line)")
    }

    @Test func requiresNumbersOrAFleet() throws {
        for (words, reason) in [
            ("collisions --interval-ms 100", "Give the number of beacons: --beacons, or --from-fleet."),
            ("collisions --beacons 5", "Give --interval-ms, --profile or --from-fleet."),
            ("latency --beacons 5 --scanner harmony", "Give an interval: --interval-ms, or --from-fleet."),
            ("energy --chip nrf52832 --battery cr2477", "Give an interval: --interval-ms, or --from-fleet."),
            ("thesis", "Give the number of beacons: --beacons, or --from-fleet."),
        ] {
            let result = try Program.run(["plan"] + words.split(separator: " ").map(String.init))
            #expect(result.code == 64 && result.errors.contains(reason), "\(result.errors)")
        }
    }

    @Test func refusesInvalidFleets() throws {
        let folder = try TemporaryFolder()
        func run(_ path: String) throws -> Program.Result {
            try Program.run("plan", "collisions", "--from-fleet", path)
        }
        let missing = try run(folder.place("none.json"))
        #expect(missing.code == 66 && missing.errors.contains("none.json: there is no such file"))
        let text = try run(try folder.file("text.json", Array("fleet".utf8)))
        #expect(text.code == 65)
        // An interval that no controller accepts and a URL that is too long are reported together.
        let bad = String(decoding: RepositoryFile("profiles/fleets/museum.json").octets, as: UTF8.self)
            .replacing("\"intervalMs\": 10000", with: "\"intervalMs\": 5")
            .replacing("https://example.org/", with: "https://example.org/much-too-long-for-this/")
        let refused = try run(try folder.file("bad.json", Array(bad.utf8)))
        #expect(refused.code == 78 && refused.output.isEmpty)
        for reason in ["intervalMs", "the 17 of Eddystone-URL"] {
            #expect(refused.errors.contains(reason), "\(refused.errors)")
        }
        let empty =
            #"{"version":1,"name":"none","template":{"advertisements":[{"type":"eddystone-tlm","intervalMs":100}]},"beacons":[]}"#
        let nobody = try run(try folder.file("empty.json", Array(empty.utf8)))
        #expect(nobody.code == 78, "\(nobody.errors)")
        let manifest =
            #"{"version":1,"fleet":"x","beacons":["# + "\n"
            + #"{"name":"a","profileHash":"00","advertisements":[{"type":"eddystone-tlm","intervalMs":0}]}"# + "\n]}\n"
        let silent = try run(try folder.file("manifest.json", Array(manifest.utf8)))
        #expect(silent.code == 65)
        #expect(silent.errors.contains("intervalMs: 0 is out of range 1...86400000 ms"), "\(silent.errors)")
        let noFolder = try run(folder.place(""))
        #expect(noFolder.code == 65, "this folder contains the manifest above")
    }
}
