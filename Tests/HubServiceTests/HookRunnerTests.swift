import LinuxHost
import TestSupport
import Testing

@testable import HubService

@Suite("Programs for events") struct HookRunnerTests {
    private func job(_ number: Int64, _ run: [String]) -> HookRunner.Job {
        HookRunner.Job(
            rule: HookRule(event: nil, zone: nil, run: run), number: number, id: "a-\(number)",
            json: #"{"id":"a-\#(number)"}"#, kind: "enter", zone: "desk", beacon: nil)
    }

    @Test("four run at a time, 1,000 wait, and the oldest of more are given up, said once")
    func flood() {
        let runner = HookRunner()
        defer { runner.end() }
        var settled: [Int64] = []
        var said: [String] = []
        runner.onSettled = { settled.append($0) }
        runner.onFailure = { said.append($0) }
        runner.add((1...1200).map { job($0, ["sleep", "1000"]) })
        #expect(runner.started == 4 && runner.waiting == 996 && runner.dropped == 200)
        #expect(settled == Array(1...200))
        runner.add([job(1201, ["sleep", "1000"]), job(1202, ["sleep", "1000"])])
        #expect(runner.started == 4 && runner.waiting == 998)
        #expect(said == ["hooks: more than 1000 wait: the oldest are dropped"])
    }

    @Test("an event is settled when the last of its programs is over, whatever became of it")
    func settling() throws {
        let folder = try TemporaryFolder()
        let runner = HookRunner()
        defer { runner.end() }
        var settled: [Int64] = []
        runner.onSettled = { settled.append($0) }
        let place = folder.place("read")
        runner.add([
            job(7, ["sh", "-c", "cat >\(place); echo $PHAROS_ZONE/$PHAROS_EVENT/$PHAROS_BEACON/ >>\(place)"]),
            job(7, ["false"]), job(7, ["/nowhere/program"]),
        ])
        #expect(
            eventually {
                runner.work()
                return runner.isIdle
            })
        #expect(settled == [7] && runner.failed == 2 && runner.started == 2)
        #expect(String(decoding: try Files.read(place), as: UTF8.self) == "{\"id\":\"a-7\"}\ndesk/enter//\n")
    }
}
