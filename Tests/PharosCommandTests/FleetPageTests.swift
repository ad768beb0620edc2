import TestSupport
import Testing

/// The README's page about fleets, followed line by line.
@Suite struct FleetPageTests {
    @Test func itsCommandsLeadFromAnEmptyDirectoryToThreeBoxesOnTheAir() throws {
        let readme = RepositoryFile("README.md").text
        let page = try #require(readme.firstRange(of: "\n## A fleet\n")).upperBound
        let start = try #require(readme[page...].firstRange(of: "\n```\n")).upperBound
        let end = try #require(readme[start...].firstRange(of: "\n```\n")).lowerBound
        // The boxes end sooner than on the page, and are waited for.
        let commands = readme[start..<end].replacing("timeout 30", with: "timeout 12")
        let folder = try TemporaryFolder()
        let done = try Program.shell(
            "PATH=$(dirname \"$0\"):$PATH && cd \"$1\" && " + commands + "\nwait", folder.path)
        for box in ["berlin-till", "berlin-milk", "hamburg-till"] {
            #expect(done.output.contains("\(box): on the air since"), "\(done.output)\(done.errors)")
        }
        #expect(done.output.contains("3 of 5 beacons of shop are as they should be."), "\(done.output)")
        // What the page shows is what is printed.
        let shown = readme[end...].split(separator: "\n").filter { $0.hasPrefix("hamburg-") }
        #expect(shown.count == 2)
        for line in shown { #expect(done.output.contains(line)) }
    }
}
