internal import Configuration
internal import LinuxHost
internal import Zones

/// Starts programs for events, a few at a time, and ends those that take too long. For the thread of the service: nothing
/// waits here.
final class HookRunner {
    /// At most so many run at a time.
    static let parallel = 4
    /// More than so many do not wait: the oldest are dropped.
    static let queueLimit = 1000
    /// Each is ended after so long, in nanoseconds: 10 s.
    static let patience: UInt64 = 10_000_000_000
    /// What a program may write, in octets; it is ended with more.
    static let outputLimit = 1 << 16
    /// How soon a running program is looked at again, in nanoseconds.
    static let look: UInt64 = 20_000_000

    /// One program for one event.
    struct Job {
        let rule: HookRule
        /// The event's number in the store; `nil` without one.
        let number: Int64?
        let id: String
        let json: String
        let kind: String
        let zone: String
        let beacon: String?
    }

    private struct Running {
        let job: Job
        let process: ChildProcess
        let deadline: UInt64
        var written = 0
        var firstLine: [UInt8] = []
        var isOpen = (output: true, errors: true)
    }

    /// How many were started, failed, and dropped.
    private(set) var started = 0
    private(set) var failed = 0
    private(set) var dropped = 0
    /// Is told each event whose programs are all over.
    var onSettled: (Int64) -> Void = { _ in }
    /// Is told what went wrong, in a sentence.
    var onFailure: (String) -> Void = { _ in }

    private var queue: [Job] = []
    private var running: [Running] = []
    /// Programs of each event that are not over.
    private var open: [Int64: Int] = [:]

    /// Whether nothing runs and nothing waits.
    var isIdle: Bool { queue.isEmpty && running.isEmpty }

    /// How many wait.
    var waiting: Int { queue.count }

    /// When ``work()`` wants to be called, in nanoseconds of the monotonic clock; `nil` for never.
    var nextWakeUp: UInt64? { isIdle ? nil : MonotonicClock.nanoseconds() + Self.look }

    /// Takes the programs of an event, and starts what may be started.
    func add(_ jobs: [Job]) {
        for job in jobs {
            if let number = job.number { open[number, default: 0] += 1 }
            queue.append(job)
        }
        while queue.count > Self.queueLimit {
            let job = queue.removeFirst()
            dropped += 1
            if dropped == 1 { onFailure("hooks: more than \(Self.queueLimit) wait: the oldest are dropped") }
            settle(job)
        }
        work()
    }

    /// Reads what programs write, notes which are over, ends those that take too long, and starts others.
    func work() {
        let now = MonotonicClock.nanoseconds()
        for place in running.indices.reversed() {
            drain(&running[place])
            let each = running[place]
            if each.written > Self.outputLimit {
                each.process.end()
                finish(place, "it wrote more than \(Self.outputLimit >> 10) KiB, and was ended")
            } else if let code = each.process.code() {
                let line = TerminalText.shortened(String(decoding: each.firstLine, as: UTF8.self), to: 200)
                let said = line.isEmpty ? "" : ": \(TerminalText.line(line))"
                finish(
                    place,
                    code == 0 ? nil : code > 0 ? "it ended with \(code)\(said)" : "signal \(-code) ended it\(said)")
            } else if now >= each.deadline {
                each.process.end()
                finish(place, "it ran for more than \(Self.patience / 1_000_000_000) s, and was ended")
            }
        }
        while running.count < Self.parallel, !queue.isEmpty { start(queue.removeFirst(), now) }
    }

    private func start(_ job: Job, _ now: UInt64) {
        var environment = ["PHAROS_ZONE=\(job.zone)", "PHAROS_EVENT=\(job.kind)"]
        environment.append("PHAROS_BEACON=\(job.beacon ?? "")")
        do throws(SystemError) {
            let process = try ChildProcess(
                job.rule.run, octets: Array((job.json + "\n").utf8), environment: environment, isGroup: true)
            started += 1
            running.append(Running(job: job, process: process, deadline: now + Self.patience))
        } catch {
            failed += 1
            onFailure("the hook \(Self.name(job)) cannot be started: \(error.text)")
            settle(job)
        }
    }

    private func drain(_ each: inout Running) {
        if each.isOpen.output { each.isOpen.output = read(each.process.output, &each) }
        if each.isOpen.errors { each.isOpen.errors = read(each.process.errors, &each) }
    }

    /// Returns whether more may come.
    private func read(_ descriptor: Descriptor, _ each: inout Running) -> Bool {
        while each.written <= Self.outputLimit {
            guard let ready = try? Poller.wait([.init(descriptor, .read)], milliseconds: 0), ready == [true] else {
                return true
            }
            guard let part = try? descriptor.read(upTo: 1 << 14), !part.isEmpty else { return false }
            each.written += part.count
            if each.firstLine.count < 512 { each.firstLine += part.prefix(512) }
        }
        return true
    }

    private func finish(_ place: Int, _ fault: String?) {
        let job = running.remove(at: place).job
        if let fault {
            failed += 1
            onFailure("the hook \(Self.name(job)): \(fault)")
        }
        settle(job)
    }

    private func settle(_ job: Job) {
        guard let number = job.number, let count = open[number] else { return }
        open[number] = count > 1 ? count - 1 : nil
        if count <= 1 { onSettled(number) }
    }

    private static func name(_ job: Job) -> String {
        TerminalText.line(TerminalText.shortened(job.rule.run.first ?? "", to: 100)) + " of \(job.id)"
    }

    /// Ends what runs: the service ends. What is not settled is started again the next time.
    func end() {
        for each in running { each.process.end() }
        running.removeAll()
        queue.removeAll()
    }
}
