import TestSupport

/// Profile files of the repository.
enum Corpus {
    static let good = RepositoryFile.all(in: "Tests/Corpus/profiles/good")
    static let bad = RepositoryFile.all(in: "Tests/Corpus/profiles/bad")
    static let semantic = RepositoryFile.all(in: "Tests/Corpus/profiles/semantic")
    static let samples = RepositoryFile.all(in: "profiles")
}
