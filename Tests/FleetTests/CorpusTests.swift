import Configuration
import Testing

@testable import Fleet

@Suite("The corpus of fleet files")
struct FleetCorpusTests {
    struct File: CustomTestStringConvertible, Sendable {
        let path: String
        var testDescription: String { path }
    }

    private static func files(in folder: String) -> [File] {
        Repository.names(in: folder).filter { $0.hasSuffix(".json") }.map { File(path: folder + "/" + $0) }
    }

    static let good = files(in: "Tests/Corpus/fleets/good")
    static let bad = files(in: "Tests/Corpus/fleets/bad")
    static let semantic = files(in: "Tests/Corpus/fleets/semantic")
    static let samples = files(in: "profiles/fleets")

    /// Returns all problems. The fleet is good if none of them is an error.
    private static func problems(_ file: File) -> [FileProblem] {
        let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
        let octets = Array(Repository.text(file.path).utf8)
        let (fleet, problems) = Fleet.decode(octets, file: file.path) { name in
            let text = Repository.text(folder + "/" + name)
            return text.isEmpty ? .unreadable("there is no such file") : .octets(Array(text.utf8))
        }
        guard let fleet else { return problems }
        let (allocation, faults) = FleetAllocation.make(fleet, lock: nil, now: MadeFleet.now)
        return problems + faults + allocation.check().problems
    }

    @Test("the corpus is complete")
    func isComplete() {
        #expect(Self.good.count >= 12)
        #expect(Self.bad.count >= 40)
        #expect(Self.semantic.count >= 12)
        #expect(Self.samples.count == 3)
    }

    @Test("good files have no errors", arguments: good)
    func acceptsGood(_ file: File) {
        #expect(Self.problems(file).filter(\.isError) == [])
    }

    @Test("sample files have no warnings", arguments: samples)
    func samplesAreClean(_ file: File) {
        #expect(Self.problems(file) == [])
    }

    @Test("bad files are refused for exactly their intended fault", arguments: bad + semantic)
    func refusesBad(_ file: File) {
        let errors = Self.problems(file).filter(\.isError)
        #expect(errors.count == 1, "\(errors)")
    }

    @Test("the schema file equals the printed schema")
    func schemaIsCurrent() {
        let isCurrent = Repository.text("profiles/schema/fleet.schema.json") == Fleet.schema
        #expect(isCurrent, "write the file again with `pharos fleet schema`")
    }

    @Test("files written by `fleet init` are valid in any directory", arguments: FleetSample.allCases)
    func writesSamples(_ sample: FleetSample) throws {
        #expect(!sample.text.contains("$schema"))
        let made = MadeFleet.decode(sample.text, tables: sample.table.map { [$0.name: $0.text] } ?? [:])
        #expect(made.problems == [])
        #expect(try #require(made.fleet).beaconCount > 1)
    }
}
