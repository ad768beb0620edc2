import Airtime
import BluetoothTypes
import Configuration
import Sites
import TestSupport
import Testing

@Suite("Files with custom scanners")
struct ScannerFileTests {
    static let good = RepositoryFile.all(in: "Tests/Corpus/scanners/good")
    static let bad = RepositoryFile.all(in: "Tests/Corpus/scanners/bad")
    static let semantic = RepositoryFile.all(in: "Tests/Corpus/scanners/semantic")
    static let samples = RepositoryFile.all(in: "profiles/scanners")

    @Test("the corpus is complete")
    func isComplete() {
        #expect(Self.good.count >= 3 && Self.bad.count >= 12 && Self.semantic.count >= 4)
        #expect(!Self.samples.isEmpty)
    }

    @Test("good files and samples are read without problems", arguments: good + samples)
    func readsGood(_ file: RepositoryFile) {
        let (scanners, problems) = ScannerFile.decode(file.octets)
        #expect(scanners?.isEmpty == false && problems.isEmpty, "\(problems)")
    }

    @Test("bad files are refused for exactly their intended fault", arguments: bad + semantic)
    func refusesBad(_ file: RepositoryFile) {
        let (scanners, problems) = ScannerFile.decode(file.octets)
        #expect(scanners == nil)
        #expect(problems.count == 1, "\(problems)")
    }

    @Test("all values are read and converted to µs")
    func readsValues() throws {
        let text = """
            {"version":1,"name":"x","scanners":[{"name":"tablet","windowMs":60,"intervalMs":600,"windowGapMs":1.5,
             "deadTimeMs":0.2,"source":"measured"},{"name":"other","windowMs":7.5,"intervalMs":7.5}]}
            """
        let scanners = try #require(ScannerFile.decode(Array(text.utf8)).scanners)
        let tablet = ScannerPreset(
            name: "tablet", pattern: try ScanPattern(windowMicroseconds: 60_000, intervalMicroseconds: 600_000),
            windowGapMicroseconds: 1500, deadTimeMicroseconds: 200, source: "measured")
        #expect(scanners == [tablet, scanners[1]])
        #expect(scanners[1].name == "other" && !scanners[1].pauses && scanners[1].source.isEmpty)
    }

    @Test("a repeated name is reported with the place of its first occurrence")
    func reportsTheFirstPlaceOfARepeatedName() {
        let text = """
            {"version":1,"name":"x","scanners":[{"name":"a","windowMs":1,"intervalMs":600},
             {"name":"b","windowMs":60,"intervalMs":600},{"name":"b","windowMs":60,"intervalMs":600}]}
            """
        let problems = ScannerFile.decode(Array(text.utf8)).problems.map(\.description)
        #expect(
            problems.contains { $0.contains("scanners[2].name: \"b\" is also the name of scanners[1]") }, "\(problems)")
    }

    @Test("a file of another kind is reported with its kind")
    func reportsOtherKindsOfFiles() {
        let fleet = ScannerFile.decode(Array(#"{"version":1,"name":"x","template":{}}"#.utf8)).problems.map(\.message)
        #expect(fleet == ["this is a fleet file, not a file with scanners: use `pharos fleet check`"])
        let scanners = Site.decode(Array(#"{"version":1,"name":"x","scanners":[]}"#.utf8)).problems.map(\.message)
        #expect(
            scanners == [
                "this is a file with scanners, not a site file: use `pharos plan scanners --scanner-file`"
            ])
    }

    @Test("the schema file equals the printed schema")
    func schemaIsCurrent() {
        #expect(RepositoryFile("profiles/schema/scanners.schema.json").text == ScannerFile.schema)
    }
}
