import LinuxHost
import TestSupport
import Testing

/// A fleet from an empty folder to files, labels and queries.
@Suite struct FleetTests {
    private func fleet(_ kind: String) throws -> (folder: TemporaryFolder, file: String) {
        let folder = try TemporaryFolder()
        let file = folder.place("\(kind).json")
        #expect(try Program.run("fleet", "init", kind, "--output", file).code == 0)
        return (folder, file)
    }

    @Test(arguments: ["museum", "shop", "car-park"])
    func sampleFleetPassesItsCheck(_ kind: String) throws {
        let (folder, file) = try fleet(kind)
        let check = try Program.run("fleet", "check", file)
        #expect(check.code == 0, "\(check.errors)")
        #expect(check.output.contains("good, "))
        let output = folder.place("files")
        #expect(try Program.run("fleet", "generate", file, "--output", output).code == 0)
        for name in try Program.shell("cd \"$1\" && ls *.json | grep -v manifest", output).output.split(separator: "\n")
        {
            #expect(try Program.run("profile", "check", "\(output)/\(name)").code == 0, "\(name)")
        }
        let again = try Program.run("fleet", "generate", file, "--output", output)
        #expect(again.code == 0 && again.output.contains(" 0 written, "), "\(again.output)")
        let diff = try Program.run("fleet", "diff", file, "--against", output)
        #expect(diff.output.hasPrefix("0 added, 0 removed, 0 renamed, 0 changed, "), "\(diff.output)")
    }

    @Test func acceptsAFleetFileInsteadOfItsManifest() throws {
        let (folder, file) = try fleet("museum")
        let early = try Program.run("fleet", "labels", file, "--output", folder.place("early.svg"))
        #expect(early.code == 78)
        #expect(
            early.errors.contains("5 of its beacons have no identity yet; run `pharos fleet generate`"))
        #expect(try Program.run("fleet", "generate", file, "--output", folder.place("files")).code == 0)
        for source in [file, folder.place("files"), folder.place("files/manifest.json")] {
            let csv = try Program.run("fleet", "export", "csv", source)
            #expect(csv.code == 0)
            let first = try Program.run("fleet", "export", "csv", file)
            #expect(csv.output == first.output && csv.output.contains("hall-entrance"))
        }
    }

    @Test func statusReportsBeaconsWithoutAReport() throws {
        let (folder, file) = try fleet("museum")
        #expect(try Program.run("fleet", "generate", file, "--output", folder.place("files")).code == 0)
        let reports = folder.place("reports")
        _ = try Program.shell("mkdir \"$1\"", reports)
        let status = try Program.run("fleet", "status", file, "--from", reports)
        #expect(status.code == 1)
        #expect(status.output.contains("0 of 5 beacons of museum are as they should be."), "\(status.output)")
    }

    /// `pharos fleet status` compares the hash in the manifest with the hash that the machine reports.
    @Test func manifestHasTheHashThatTheServiceReports() throws {
        let (folder, file) = try fleet("shop")
        let output = folder.place("files")
        #expect(try Program.run("fleet", "generate", file, "--output", output).code == 0)
        let profile = String(decoding: try Files.read("\(output)/berlin-milk.json"), as: UTF8.self)
        let box = try ServiceTestBox(profile)
        try box.start()
        #expect(box.says("on the air:"))
        let manifest = String(decoding: try Files.read("\(output)/manifest.json"), as: UTF8.self)
        let line = try #require(manifest.split(separator: "\n").first { $0.contains("\"berlin-milk\"") })
        let start = try #require(line.firstRange(of: "\"profileHash\":\"")).upperBound
        let hash = line[start...].prefix { $0 != "\"" }
        #expect(hash.count == 16)
        #expect(try box.status().contains("\"profileHash\":\"\(hash)\""))
        #expect(box.stop()?.code == 0)
    }

    static let samples = RepositoryFile.all(in: "profiles")

    @Test(arguments: samples)
    func everySampleProfilePassesItsCheck(_ sample: RepositoryFile) throws {
        let folder = try TemporaryFolder()
        let check = try Program.run("profile", "check", try folder.file("sample.json", sample.octets))
        #expect(check.code == 0, "\(check.output)\(check.errors)")
        // The samples with keys are for machines that have them.
        let lines = check.errors.split(separator: "\n")
        #expect(lines.allSatisfy { $0.contains("warning") && $0.contains(".key: there is no such file") }, "\(lines)")
    }

    @Test(arguments: [
        "ibeacon", "altbeacon", "eddystone-uid", "eddystone-url", "eddystone-tlm", "eddystone-eid", "raw",
    ])
    func everyFrameHasASampleAloneAndInAMix(_ type: String) {
        let holders = Self.samples.filter { $0.text.contains("\"type\": \"\(type)\"") }
        #expect(!holders.isEmpty)
        func frames(_ sample: RepositoryFile) -> Int { sample.text.split(separator: "\"intervalMs\"").count - 1 }
        #expect(holders.contains { frames($0) > 1 }, "no sample sends this frame together with others")
        #expect(holders.contains { frames($0) == 1 }, "no sample sends only this frame")
    }
}
