import LinuxHost
import TestSupport
import Testing

/// The files that `fleet export ansible` writes, and those that it does not change. Tests/Rollout checks that Ansible
/// installs beacons with them.
@Suite struct FleetAnsibleTests {
    private func generated(_ kind: String = "museum") throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        #expect(try Program.run("fleet", "init", kind, "--output", folder.place("fleet.json")).code == 0)
        #expect(
            try Program.run("fleet", "generate", folder.place("fleet.json"), "--output", folder.place("files")).code
                == 0)
        return folder
    }

    private func export(_ source: String, _ output: String) throws -> Program.Result {
        try Program.run("fleet", "export", "ansible", source, "--output", output)
    }

    @Test func allSourcesGiveTheSameFiles() throws {
        let folder = try generated()
        for (index, source) in ["fleet.json", "files", "files/manifest.json"].enumerated() {
            let done = try export(folder.place(source), folder.place("\(index)"))
            #expect(done.code == 0 && done.output.contains("5 beacons on 5 machines"), "\(done.errors)")
        }
        let difference = try Program.shell("cd \"$1\" && diff -r 0 1 && diff -r 1 2 && ls 0", folder.path)
        #expect(difference.output == "ansible.cfg\ninventory.json\nprofiles\nroles\nrollout.json\n")
    }

    @Test func roleContainsTheUnitsOfThePackage() throws {
        let folder = try generated()
        #expect(try export(folder.place("files"), folder.place("out")).code == 0)
        let files = folder.place("out/roles/pharos/files")
        let names = Files.names(in: files)
        #expect(names.count == 8)
        for name in names {
            let shipped = RepositoryFile((name.hasSuffix(".conf") ? "systemd/drop-ins/" : "systemd/") + name).octets
            #expect(try !shipped.isEmpty && Files.read("\(files)/\(name)") == shipped, "\(name)")
        }
    }

    @Test func aSecondRunChangesNothing() throws {
        let folder = try generated()
        let times = "find \"$1\" -printf '%p %i %T@\\n' | sort"
        #expect(try export(folder.place("files"), folder.place("out")).code == 0)
        let before = try Program.shell(times, folder.place("out")).output
        #expect(try export(folder.place("files"), folder.place("out")).code == 0)
        #expect(try Program.shell(times, folder.place("out")).output == before)
    }

    @Test func keepsFilesAndLinesThatUsersAdded() throws {
        let folder = try generated()
        let out = folder.place("out")
        #expect(try export(folder.place("files"), out).code == 0)
        _ = try Program.shell(
            "cd \"$1\" && mkdir group_vars && echo '{}' >group_vars/all.json && echo '# ours' >>ansible.cfg", out)
        #expect(try export(folder.place("files"), out).code == 0)
        #expect(
            try Program.shell("cat \"$1/group_vars/all.json\" && tail -n 1 \"$1/ansible.cfg\"", out).output
                == "{}\n# ours\n")
    }

    @Test func removesProfilesWithoutABeacon() throws {
        let folder = try generated()
        let out = folder.place("out")
        #expect(try export(folder.place("files"), out).code == 0)
        _ = try Program.shell("sed -i 's/hall-desk/hall-till/' \"$1\"", folder.place("fleet.json"))
        let words = ["fleet", "generate", folder.place("fleet.json"), "--output", folder.place("files"), "--renumber"]
        #expect(try Program.run(words).code == 0)
        #expect(try export(folder.place("files"), out).code == 0)
        let names = try Program.shell("ls \"$1\"", out + "/profiles").output
        #expect(names.contains("hall-till.json") && !names.contains("hall-desk.json"))
    }

    @Test(arguments: [
        ("echo '{\"all\": {}}' >inventory.json", "`pharos fleet export ansible` did not make this"),
        ("echo '[]' >rollout.json", "`pharos fleet export ansible` did not make this"),
        ("mkdir profiles", "`pharos fleet export ansible` did not make this"),
        ("echo '{\"pharos\": {\"vars\": {\"pharos_fleet\": \"other\"}}}' >inventory.json", "contains the fleet other"),
    ])
    func refusesToOverwriteForeignFiles(_ made: String, _ message: String) throws {
        let folder = try generated()
        _ = try Program.shell("mkdir \"$1\" && cd \"$1\" && \(made)", folder.place("out"))
        let before = try Program.shell("find \"$1\" | sort", folder.place("out")).output
        let done = try export(folder.place("files"), folder.place("out"))
        #expect(done.code == 78 && done.errors.contains(message), "\(done.errors)")
        #expect(try Program.shell("find \"$1\" | sort", folder.place("out")).output == before)
    }

    @Test func reportsBeaconsWithoutAHost() throws {
        let folder = try generated()
        let file = folder.place("fleet.json")
        _ = try Program.shell("sed -i 's/\"host\": \"pi-0[2-5]\", //' \"$1\"", file)
        #expect(try Program.run("fleet", "generate", file, "--output", folder.place("files")).code == 0)
        let one = try export(folder.place("files"), folder.place("out"))
        #expect(one.code == 0 && one.output.contains("1 beacon on 1 machine."), "\(one.output)")
        #expect(one.errors.contains("4 beacons without a host, which Ansible cannot reach, left out: hall-desk"))
        _ = try Program.shell("sed -i 's/\"host\": \"pi-01\", //' \"$1\"", file)
        #expect(try Program.run("fleet", "generate", file, "--output", folder.place("files")).code == 0)
        let none = try export(folder.place("files"), folder.place("out"))
        #expect(none.code == 78 && none.errors.contains("no beacon has a host"), "\(none.errors)")
    }

    @Test func refusesAProfileThatDiffersFromTheManifest() throws {
        let folder = try generated()
        _ = try Program.shell("echo >>\"$1\"", folder.place("files/hall-desk.json"))
        let done = try export(folder.place("files"), folder.place("out"))
        #expect(
            done.code == 78 && done.errors.contains("this profile does not belong to the manifest"), "\(done.errors)")
        _ = try Program.shell("rm \"$1\"", folder.place("files/hall-desk.json"))
        #expect(try export(folder.place("files"), folder.place("out")).code == 66)
    }

    @Test func reportsAnOutputBelowAFile() throws {
        let folder = try generated()
        let done = try export(folder.place("files"), folder.place("fleet.json/out"))
        #expect(
            done.code == 66 && done.errors.contains("fleet.json/out: this must be a directory, not a file"),
            "\(done.errors)")
    }
}
