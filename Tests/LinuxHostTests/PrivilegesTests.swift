import Glibc
import LinuxHost
import Synchronization
import TestSupport
import Testing

@Suite struct PrivilegesTests {
    private struct Outcome: Sendable {
        var lines: [String: String]
        var effective: Set<Privileges.Capability>
        var error: SystemError?
    }

    private final class Box: Sendable {
        private let content = Mutex<Outcome?>(nil)
        var value: Outcome? { content.withLock { $0 } }
        func put(_ outcome: Outcome) { content.withLock { $0 = outcome } }
    }

    /// Returns the lines of /proc about the calling thread.
    private static func lines() -> [String: String] {
        let text = String(decoding: (try? Files.read("/proc/thread-self/status")) ?? [], as: UTF8.self)
        let pairs = text.split(separator: "\n").compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), parts[1].filter { !$0.isWhitespace }) : nil
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Drops privileges in a separate thread. They belong to threads, so the test process keeps its own.
    private func keeping(_ needed: Set<Privileges.Capability>) throws -> Outcome {
        let box = Box()
        try BackgroundThread.start {
            var failure: SystemError?
            do throws(SystemError) { try Privileges.keepOnly(needed) } catch { failure = error }
            box.put(Outcome(lines: Self.lines(), effective: Privileges.effective, error: failure))
        }
        #expect(eventually { box.value != nil })
        return try #require(box.value)
    }

    static let choices: [Set<Privileges.Capability>] = [[], [.netRaw], [.netAdmin], [.netRaw, .netAdmin]]

    @Test(arguments: choices) func keepsOnlyTheNeededCapabilities(_ needed: Set<Privileges.Capability>) throws {
        let here = Privileges.effective
        let outcome = try keeping(needed)
        #expect(outcome.error == nil)
        #expect(outcome.effective == here.intersection(needed))
        let mask = here.intersection(needed).reduce(UInt64(0)) { $0 | 1 << UInt64($1.rawValue) }
        func set(_ name: String) -> UInt64? { outcome.lines[name].flatMap { UInt64($0, radix: 16) } }
        #expect(set("CapEff") == mask && set("CapPrm") == mask && set("CapInh") == 0 && set("CapAmb") == 0)
        #expect(outcome.lines["NoNewPrivs"] == "1")
        if geteuid() == 0, Self.lines()["CapBnd"] != "0000000000000000" { #expect(set("CapBnd") == mask) }
        #expect(Privileges.effective == here)
    }
}
