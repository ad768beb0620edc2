import Configuration
import LinuxHost
import TestSupport
import Testing

/// `profile init`, and the messages if a profile's path names another kind of file, or no file.
@Suite struct ProfileInitTests {
    private func made(_ arguments: [String], in folder: TemporaryFolder) throws -> (text: String, path: String) {
        let path = folder.path + "/desk.json"
        let result = try Program.run(["profile", "init", path] + arguments)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let hasPower = !["raw", "bthome", "eddystone-tlm"].contains { arguments.contains($0) }
        #expect(result.output.contains("typical") == hasPower && result.output.contains("not measured") == hasPower)
        return (String(decoding: try Files.read(path), as: UTF8.self), path)
    }

    @Test(arguments: [
        ["--type", "ibeacon"], ["--type", "ibeacon", "--interval-ms", "1.28s", "--name", "hall"],
        ["--type", "eddystone-uid"], ["--type", "eddystone-url", "--url", "https://example.org/n2"],
        ["--type", "altbeacon", "--local-name", "Desk 3"], ["--type", "eddystone-tlm"], ["--type", "EID"],
        ["--type", "bthome"], ["--type", "raw", "--local-name", "Desk 3"], ["--type", "url", "--url", "https://a.org"],
    ])
    func makesAValidProfileThatCanBeSent(_ arguments: [String]) throws {
        let folder = try TemporaryFolder()
        let (text, path) = try made(arguments, in: folder)
        let check = try Program.run("profile", "check", path)
        #expect(check.code == 0)
        // A name that differs from the file's name gives a warning.
        if !arguments.contains("hall") { #expect(check.output == "\(path): good\n") }
        let sent = try Program.run("advertise", path, "--adapter", "virtual", "--dry-run")
        #expect(sent.code == 0 && sent.output.contains("LE Set Advertising Data"), "\(sent)")
        #expect(text.contains("\"name\": \"\(arguments.contains("hall") ? "hall" : "desk")\""))
    }

    @Test func eachIBeaconGetsItsOwnRandomUUID() throws {
        var uuids: Set<String> = []
        for _ in 0..<8 {
            let text = try made(["--type", "ibeacon"], in: try TemporaryFolder()).text
            let uuid = JSONDocument.parse(Array(text.utf8)).root?["advertisements"]?[0]?["uuid"]?.string ?? ""
            // A random UUID has version 4 and variant 1.
            #expect(uuid.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
            uuids.insert(uuid)
        }
        #expect(uuids.count == 8)
    }

    @Test func takesTheIdentityAndThePower() throws {
        let folder = try TemporaryFolder()
        let uuid = "fb0b57a2-8228-44cd-913a-94a122ba1206"
        let text = try made(
            ["--type", "ibeacon", "--uuid", uuid, "--major", "7", "--minor", "0", "--radio-power-dbm", "-4"], in: folder
        ).text
        for member in ["\"uuid\": \"\(uuid)\"", "\"major\": 7", "\"minor\": 0", "\"radioPowerDbm\": -4"] {
            #expect(text.contains(member), "\(text)")
        }
        let other = try Program.run("profile", "init", folder.place("b.json"), "--type", "altbeacon", "--major", "7")
        #expect(other.code == 64 && other.errors.contains("go with --type ibeacon, not with altbeacon"), "\(other)")
    }

    @Test func namesAMissingDirectoryAndTheOptionForTheName() throws {
        let folder = try TemporaryFolder()
        let path = folder.place("none/z.json")
        let missing = try Program.run("profile", "init", path, "--type", "ibeacon")
        #expect(missing.code == 66 && missing.errors.hasPrefix("pharos: \(path): the directory "), "\(missing)")
        let named = folder.place("küche.json")
        let refused = try Program.run("profile", "init", named, "--type", "ibeacon")
        #expect(refused.code == 64 && refused.errors.contains("give the beacon a name with --name"), "\(refused)")
        #expect(try Program.run("profile", "init", named, "--type", "ibeacon", "--name", "kueche").code == 0)
    }

    @Test func aFileThatIsThereIsKept() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("desk.json", Array("mine".utf8))
        let result = try Program.run("profile", "init", path, "--type", "ibeacon")
        #expect(
            result.code == 64
                && result.errors == "pharos: \(path): this file exists; choose another name, or use --force\n")
        #expect(try Files.read(path) == Array("mine".utf8))
    }

    @Test func forceReplacesAFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("desk.json", Array("mine".utf8))
        #expect(try Program.run("profile", "init", path, "--type", "ibeacon", "--force").code == 0)
        #expect(try Program.run("profile", "check", path).code == 0)
    }

    /// The terminal that `script` makes passes Ctrl-C on as a signal.
    @Test(arguments: ["", "\\n", "\\nhall\\n"])
    func ctrlCEndsTheDialogueAtOnce(_ answers: String) throws {
        let folder = try TemporaryFolder()
        let result = try Program.shell(
            "cd \"$1\" && { sleep 1; printf '\(answers)'; sleep 1; printf '\\003'; sleep 1; } "
                + "| script -qec \"$0 profile init\" /dev/null", folder.path)
        // 128 and the number of SIGINT.
        #expect(result.code == 130, "\(result)")
        #expect(Files.names(in: folder.path).isEmpty)
    }

    /// The dialogue needs a terminal. The program `script` makes one and passes these lines to it.
    @Test(arguments: [
        ("4\\nhall\\n250 ms\\nhttps://example.org/a b\\n https://example.org \\n", "eddystone-url"),
        ("altbeacn\\nAltBeacon\\nmy hall\\nhall\\n250\\n", "altbeacon"), ("\\nhall\\n250ms\\n", "ibeacon"),
    ])
    func theDialogueTakesNumbersAndNames(_ answers: String, _ type: String) throws {
        let folder = try TemporaryFolder()
        let result = try Program.shell(
            "cd \"$1\" && { sleep 1; printf '\(answers)'; sleep 1; } | script -qec \"$0 profile init\" /dev/null",
            folder.path)
        #expect(result.output.contains("Wrote hall.json"), "\(result)")
        let text = String(decoding: (try? Files.read(folder.place("hall.json"))) ?? [], as: UTF8.self)
        #expect(text.contains("\"type\": \"\(type)\"") && text.contains("\"intervalMs\": 250"), "\(text)")
        if type == "eddystone-url" {
            #expect(text.contains("\"url\": \"https://example.org\""))
            #expect(result.output.contains("did you mean https://example.org/a%20b?"), "\(result)")
        }
        if type == "altbeacon" {
            #expect(result.output.contains("did you mean altbeacon?") && result.output.contains("is not a valid name"))
        }
    }

    @Test func reportsAMissingTypeWithoutATerminal() throws {
        let result = try Program.run("profile", "init")
        #expect(result.code == 64 && result.errors.contains("give --type ibeacon, altbeacon, eddystone-uid"))
    }

    @Test func reportsAWrongValueInOneSentence() throws {
        let folder = try TemporaryFolder()
        for words in [
            ["--type", "ibeacon", "--name", "my beacon"], ["--type", "eddystone-url", "--url", "example.org"],
            ["--type", "ibeacon", "--interval-ms", "fast"], ["--type", "eddystone-url"],
        ] {
            let result = try Program.run(["profile", "init", folder.path + "/x.json"] + words)
            #expect(result.code == 64 && result.errors.split(separator: "\n").count == 1, "\(result)")
            #expect(!Files.exists(folder.path + "/x.json"))
        }
    }

    @Test(arguments: [
        ("fleets/museum", "a fleet file", "pharos fleet check"),
        ("sites/museum-ground-floor", "a site file", "pharos plan site"),
        ("listeners/hall", "a listener file", "pharos listen --print"),
        ("inventories/museum-tools", "an inventory", "pharos inventory check"),
    ])
    func namesTheCommandForAnotherKindOfFile(_ file: String, _ kind: String, _ command: String) throws {
        let path = Program.profile(file)
        let sentence = "this is \(kind), not a beacon profile: use `\(command)`\n"
        for arguments in [["advertise", path, "--adapter", "virtual"], ["profile", "check", path]] {
            let result = try Program.run(arguments)
            let text = result.output + result.errors
            #expect(text.hasSuffix(sentence) && text.split(separator: "\n").count == 1, "\(result)")
        }
        let profile = Program.profile("lobby-ibeacon")
        let fleet = try Program.run("fleet", "check", profile)
        #expect((fleet.output + fleet.errors).contains("this is a beacon profile, not a fleet file"), "\(fleet)")
        let site = try Program.run("plan", "site", profile)
        #expect(site.errors.contains("this is a beacon profile, not a site file"), "\(site)")
    }

    @Test func suggestsTheSampleOfThatName() throws {
        let root = String(Program.profile("lobby-ibeacon").dropLast("/profiles/lobby-ibeacon.json".count))
        for words in ["advertise lobby-ibeacon --adapter virtual", "profile check lobby-ibeacon"] {
            let result = try Program.shell("cd '\(root)' && exec \"$0\" \(words)")
            #expect(result.code == 66)
            #expect(result.errors.hasSuffix("there is no such file; did you mean profiles/lobby-ibeacon.json?\n"))
        }
        let result = try Program.shell("cd '\(root)' && exec \"$0\" profile check no-such-sample")
        #expect(result.errors == "pharos: no-such-sample: there is no such file\n")
    }
}
