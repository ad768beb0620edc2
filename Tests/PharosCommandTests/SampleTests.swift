import LinuxHost
import TestSupport
import Testing

@Suite struct SampleTests {
    /// Returns the names in the list of samples.
    private func names() throws -> [String] {
        let lines = try Program.run("sample").output.split(separator: "\n").dropFirst()
        return lines.compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test func everyShippedFileIsASample() throws {
        let folder = try TemporaryFolder()
        let names = Set(try names())
        for directory in ["", "fleets/", "sites/", "listeners/", "collectors/", "inventories/"] {
            let files = Files.names(in: Program.profile("x").replacing("x.json", with: directory))
            for file in files where [".json", ".csv", ".geojson", ".png"].contains(where: file.hasSuffix) {
                let name = directory + (file.hasSuffix(".json") ? String(file.dropLast(5)) : file)
                #expect(names.contains(name), "\(name)")
            }
        }
        #expect(try Program.run("sample", "--all", folder.path).code == 0)
        for name in names {
            let isJSON = ![".csv", ".geojson", ".png"].contains(where: name.hasSuffix)
            let path = "\(folder.path)/\(name)" + (isJSON ? ".json" : "")
            #expect(try Program.run("sample", name).output == String(decoding: try Files.read(path), as: UTF8.self))
        }
    }

    @Test func aWrittenSampleIsAGoodProfile() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/lobby-ibeacon.json"
        #expect(try Program.run("sample", "lobby-ibeacon", "--output", path).output == "Wrote \(path).\n")
        #expect(try Program.run("profile", "check", path).output == "\(path): good\n")
        let again = try Program.run("sample", "lobby-ibeacon", "--output", path)
        #expect(again.code == 64 && again.errors == "pharos: \(path): this file exists; choose another name\n")
    }

    @Test func samplesWorkWithTheFilesThatTheyName() throws {
        let folder = try TemporaryFolder()
        #expect(try Program.run("sample", "--all", folder.path).code == 0)
        #expect(try Program.run("fleet", "check", folder.path + "/fleets/car-park.json").code == 0)
        #expect(try Program.run("plan", "site", folder.path + "/sites/museum-from-fleet.json").code == 0)
    }

    @Test func aWrongNameGetsASuggestion() throws {
        let result = try Program.run("sample", "lobby-ibeacn")
        #expect(result.code == 64 && result.errors.contains("did you mean lobby-ibeacon?"))
    }
}
