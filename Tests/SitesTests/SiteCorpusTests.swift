import Configuration
import Sites
import TestSupport
import Testing

@Suite("The corpus of site files")
struct SiteCorpusTests {
    static let good = RepositoryFile.all(in: "Tests/Corpus/sites/good")
    static let bad = RepositoryFile.all(in: "Tests/Corpus/sites/bad")
    static let semantic = RepositoryFile.all(in: "Tests/Corpus/sites/semantic")
    static let samples = RepositoryFile.all(in: "profiles/sites")

    @Test("the corpus is complete")
    func isComplete() {
        #expect(Self.good.count >= 8)
        #expect(Self.bad.count >= 30)
        #expect(Self.semantic.count >= 4)
        #expect(!Self.samples.isEmpty)
    }

    @Test("good files and samples are read without an error", arguments: good + samples)
    func readsGood(_ file: RepositoryFile) {
        let (site, problems) = Site.decode(file.octets)
        #expect(site != nil)
        #expect(problems.allSatisfy { $0.severity == .warning }, "\(problems)")
    }

    @Test("bad files are refused for exactly their intended fault", arguments: bad + semantic)
    func refusesBad(_ file: RepositoryFile) {
        let (site, problems) = Site.decode(file.octets)
        #expect(site == nil)
        let errors = problems.filter { $0.severity == .error }
        #expect(errors.count == 1, "\(errors)")
        #expect(problems.allSatisfy { $0.line >= 1 && $0.column >= 1 && !$0.message.isEmpty })
    }

    @Test("the schema file equals the printed schema")
    func schemaIsCurrent() {
        #expect(RepositoryFile("profiles/schema/site.schema.json").text == Site.schema)
    }
}
