import Configuration
import Profiles
import TestSupport
import Testing

@Suite("The corpus of profile files")
struct CorpusTests {
    @Test("the corpus is complete")
    func isComplete() {
        #expect(Corpus.good.count >= 15)
        #expect(Corpus.bad.count >= 40)
        #expect(Corpus.semantic.count >= 10)
        #expect(Corpus.samples.count >= 8)
    }

    @Test("good files and samples are read without an error", arguments: Corpus.good + Corpus.samples)
    func readsGood(_ file: RepositoryFile) {
        let (profile, problems) = BeaconProfile.decode(file.octets)
        #expect(profile != nil)
        #expect(problems.allSatisfy { $0.severity == .warning }, "\(problems)")
    }

    /// The thesis sends every 20 ms without being connectable, which needs Bluetooth 5.0.
    @Test("samples have no warnings, except for one that needs Bluetooth 5.0", arguments: Corpus.samples)
    func samplesAreClean(_ file: RepositoryFile) {
        let problems = BeaconProfile.decode(file.octets).problems
        guard file.path.hasSuffix("thesis-node.json") else { return #expect(problems == []) }
        #expect(problems.count == 1 && problems.first?.message.contains("before Bluetooth 5.0") == true)
    }

    @Test("bad files are refused for exactly their intended fault", arguments: Corpus.bad + Corpus.semantic)
    func refusesBad(_ file: RepositoryFile) {
        let (profile, problems) = BeaconProfile.decode(file.octets)
        #expect(profile == nil)
        let errors = problems.filter { $0.severity == .error }
        #expect(errors.count == 1, "\(errors)")
        #expect(problems.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.message.isEmpty })
    }

    @Test("a printed profile is valid and has the same meaning", arguments: Corpus.good + Corpus.samples)
    func printsWhatItReads(_ file: RepositoryFile) throws {
        let profile = try #require(BeaconProfile.decode(file.octets).profile)
        let printed = profile.json.pretty
        let again = BeaconProfile.decode(Array(printed.utf8))
        #expect(again.profile == profile, "\(again.problems)")
        #expect(again.profile?.json.pretty == printed)
        #expect(BeaconProfile.decode(Array(profile.json.line.utf8)).profile == profile)
    }

    @Test("the schema file equals the printed schema")
    func schemaIsCurrent() {
        let file = RepositoryFile("profiles/schema/beacon.schema.json").text
        #expect(file == BeaconSchema.text, "write the file again with `pharos profile schema`")
    }
}
