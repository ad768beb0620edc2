import LinuxHost
import TestSupport
import Testing

@testable import HubService

@Suite("Programs for events") struct HookRunnerTests {
    private func job(_ run: [String]) -> HookRunner.Job {
        HookRunner.Job(
            rule: HookRule(event: nil, zone: nil, run: run), id: "a-7", json: #"{"id":"a-7"}"#, kind: "enter",
            zone: "desk", beacon: nil)
    }

    @Test("four programs run, 1,000 wait, and of more the oldest are dropped with one warning")
    func flood() {
        let runner = HookRunner()
        defer { runner.end() }
        let sleep = job(["sleep", "1000"])
        var results: [HookRunner.Result] = []
        for number in 1...1200 { results += runner.add([sleep], number: Int64(number)) }
        #expect(runner.started == 4)
        #expect(runner.waiting == 1000)
        #expect(runner.dropped == 196)
        #expect(
            results.filter { $0 != .warning("hooks: more than 1000 wait; the oldest are dropped") }
                == (5...200).map { .completed($0) })
        results += runner.add([sleep, sleep], number: 1201)
        #expect(runner.started == 4)
        #expect(runner.waiting == 1000)
        #expect(results.count { if case .warning = $0 { true } else { false } } == 1)
    }

    @Test("an event is completed when all its programs have ended, even with failures")
    func completion() throws {
        let folder = try TemporaryFolder()
        let runner = HookRunner()
        defer { runner.end() }
        let place = folder.place("read")
        var results = runner.add(
            [
                job(["sh", "-c", "cat >\(place); echo $PHAROS_ZONE/$PHAROS_EVENT/$PHAROS_BEACON/ >>\(place)"]),
                job(["false"]), job(["/nowhere/program"]),
            ], number: 7)
        #expect(
            eventually {
                results += runner.work()
                return runner.isIdle
            })
        #expect(results.last == .completed(7))
        #expect(results.count == 3)
        #expect(runner.failed == 2)
        #expect(runner.started == 2)
        #expect(String(decoding: try Files.read(place), as: UTF8.self) == "{\"id\":\"a-7\"}\ndesk/enter//\n")
    }

    @Test("event texts filled into arguments remain single arguments")
    func wordsAreFilled() {
        let words = HookWords(
            #"{"event":"enter","zone":"desk","beacon":"key","content":{"title":"Hi; rm -rf ${zone}"},"#
                + #""attachments":{"owner":"Ana"}}"#)
        let filled = words.filled(["${title}", "${title}", "${owner} at ${zone}${nothing}!", "${body}", "${", "$5 }"])
        #expect(filled == ["${title}", "Hi; rm -rf ${zone}", "Ana at desk!", "", "${", "$5 }"])
        #expect(HookWords("no JSON").filled(["a", "${title}"]) == ["a", ""])
    }
}
