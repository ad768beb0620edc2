import BluetoothTypes
import Configuration
import EddystoneSecurity
import Glibc
import TestSupport
import Testing

@testable import BeaconService

/// Identity keys in separate files, and profiles that name them.
@Suite struct KeyFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func key(_ text: String, mode: mode_t = 0o600) throws -> String {
        let path = try folder.file("eid.key", Array(text.utf8))
        _ = unsafe chmod(path, mode)
        return path
    }

    private func refusal(_ path: String) -> (BeaconServiceError.Kind, String)? {
        do throws(BeaconServiceError) {
            _ = try KeyFile.read(path)
            return nil
        } catch {
            guard case .refused(let kind, let messages) = error else { return nil }
            return (kind, messages.joined(separator: "\n"))
        }
    }

    @Test(arguments: ["", "\n", " \n"]) func aKeyIsReadWithAndWithoutALineEnd(_ end: String) throws {
        let path = try key(String(repeating: "0f", count: 16) + end)
        #expect(try KeyFile.read(path).ephemeralID(at: 65280, exponent: .init(rawValue: 0)!).octets.count == 8)
    }

    @Test func missingKeyFileIsReported() throws {
        let found = try #require(refusal(folder.place("none.key")))
        #expect(found.0 == .missing)
        #expect(
            found.1.hasSuffix(
                "none.key: there is no such file; write the identity key there: 32 hexadecimal digits, in a file that only its owner can read"
            ))
    }

    static let unfit: [(String, mode_t, String)] = [
        ("zz", 0o600, "an identity key has 16 bytes"), ("0f0f", 0o600, "an identity key has 16 bytes"),
        (String(repeating: "0f", count: 16), 0o644, "others may read this identity key; `chmod 600 "),
        (String(repeating: "0f", count: 16), 0o602, "others may"),
    ]

    @Test(arguments: unfit) func refusesInvalidKeysAndModes(_ text: String, _ mode: mode_t, _ reason: String) throws {
        let found = try #require(refusal(key(text, mode: mode)))
        #expect(found.0 == .invalid)
        #expect(found.1.contains(reason), "\(found.1)")
        #expect(!found.1.contains(String(repeating: "0f", count: 16)))
    }

    @Test func keyFileIsFoundNextToTheProfile() throws {
        _ = try key(String(repeating: "0f", count: 16))
        let profile = try LoadedProfile(path: folder.file("lobby.json", Array(TestService.ephemeral().utf8)))
        #expect(try profile.identityKey(for: profile.advertisements[0]) != nil)
        #expect(profile.warnings.isEmpty)
        folder.remove("eid.key")
        #expect(throws: BeaconServiceError.self) { try profile.identityKey(for: profile.advertisements[0]) }
    }

    /// A named pipe instead of a profile does not stop the service.
    @Test func refusesANamedPipeAsAReloadedProfile() throws {
        let path = folder.place("lobby.json")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(throws: BeaconServiceError.self) { try LoadedProfile(path: path, isReadAgain: true) }
    }

    static let names: [(file: String, warns: Bool)] = [
        ("lobby.json", false), ("hall.json", true), ("lobby.txt", false), ("lobby", false), ("x/lobby.json", false),
    ]

    @Test(arguments: names) func warnsOfAProfileWithAnotherFileName(_ file: String, _ warns: Bool) {
        let report = ProfileReport(Array(TestService.profile().utf8), file: file, checksName: true)
        #expect(report.profile != nil)
        #expect(report.problems.count == (warns ? 1 : 0))
        if warns {
            #expect(
                report.problems[0].text(file: file).hasPrefix(
                    "hall.json:1:24: warning: name: the profile's name is \"lobby\" and the file's is \"hall\": "))
        }
        #expect(ProfileReport(Array(TestService.profile().utf8), file: file).problems.isEmpty)
    }
}
