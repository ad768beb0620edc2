internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Zones

/// Runs the programs (hooks) that are started for events, a few at a time, and kills programs that take too long. No
/// call waits for a program.
final class HookRunner {
    /// The largest number of programs that run at the same time.
    static let parallel = 4
    /// The largest number of programs that wait. If more are added, the oldest are dropped.
    static let queueLimit = 1000
    /// The longest run time of a program, in nanoseconds: 10 s.
    static let timeLimit: UInt64 = 10_000_000_000
    /// The largest output of a program, in bytes.
    static let outputLimit = 1 << 16
    /// The time between two checks of the running programs, in microseconds.
    static let pollInterval = 20_000

    /// The start of one program for one event.
    struct Job {
        let rule: HookRule
        let id: String
        let json: String
        let kind: String
        let zone: String
        let beacon: String?
        /// The event's number in the store; `nil` if the event is not stored.
        fileprivate(set) var number: Int64?
    }

    /// Something that the caller must record or log.
    enum Result: Hashable, Sendable {
        /// All programs of the event with this number have ended or were dropped.
        case completed(Int64)
        /// All programs of the event with this id, which is not stored, have ended or were dropped.
        case completedUnstored(String)
        /// A sentence for the journal.
        case warning(String)
    }

    private struct Running {
        let job: Job
        let process: ChildProcess
        let deadline: UInt64
        var written = 0
        var firstLine: [UInt8] = []
        /// True for each pipe of the program that has not ended.
        var openPipes = (output: true, errors: true)
    }

    /// The number of programs that were started.
    private(set) var started = 0
    /// The number of programs that failed, could not be started, or were killed.
    private(set) var failed = 0
    /// The number of programs that were dropped because too many waited.
    private(set) var dropped = 0

    private var queue: [Job] = []
    private var running: [Running] = []
    /// For each event, the number of its programs that have not ended.
    private var open: [Result: Int] = [:]
    /// The results that the current call will return.
    private var results: [Result] = []

    /// True if no program runs or waits.
    var isIdle: Bool { queue.isEmpty && running.isEmpty }

    /// The number of programs that wait.
    var waiting: Int { queue.count }

    /// The time at which ``work()`` must be called next; `nil` if no program runs or waits.
    var nextWakeUp: HeardInstant? {
        isIdle ? nil : HearingClock.machineNow.advanced(byMicroseconds: Self.pollInterval)
    }

    /// Adds the programs of an event, and starts as many as may run at the same time.
    ///
    /// - Parameter number: The event's number in the store; `nil` if the event is not stored.
    func add(_ jobs: [Job], number: Int64?) -> [Result] {
        for var job in jobs {
            job.number = number
            open[Self.completion(of: job), default: 0] += 1
            queue.append(job)
        }
        while queue.count > Self.queueLimit {
            let job = queue.removeFirst()
            dropped += 1
            if dropped == 1 {
                results.append(.warning("hooks: more than \(Self.queueLimit) wait; the oldest are dropped"))
            }
            complete(job)
        }
        return work()
    }

    /// Reads the output of programs, collects programs that have ended, kills programs that take too long, and starts
    /// waiting programs.
    func work() -> [Result] {
        let now = MonotonicClock.nanoseconds()
        for place in running.indices.reversed() {
            drain(&running[place])
            let each = running[place]
            if each.written > Self.outputLimit {
                each.process.end()
                finish(place, "killed, because it wrote more than \(Self.outputLimit >> 10) KiB")
            } else if let code = each.process.code() {
                let line = TerminalText.shortened(String(decoding: each.firstLine, as: UTF8.self), to: 200)
                let output = line.isEmpty ? "" : ": \(TerminalText.line(line))"
                finish(
                    place,
                    code == 0 ? nil : code > 0 ? "exit status \(code)\(output)" : "ended by signal \(-code)\(output)")
            } else if now >= each.deadline {
                each.process.end()
                finish(place, "killed, because it ran for more than \(Self.timeLimit / 1_000_000_000) s")
            }
        }
        while running.count < Self.parallel, !queue.isEmpty { start(queue.removeFirst(), now) }
        defer { results = [] }
        return results
    }

    private func start(_ job: Job, _ now: UInt64) {
        var environment = ["PHAROS_ZONE=\(job.zone)", "PHAROS_EVENT=\(job.kind)"]
        environment.append("PHAROS_BEACON=\(job.beacon ?? "")")
        do throws(SystemError) {
            let process = try ChildProcess(
                HookWords(job.json).filled(job.rule.run), octets: Array((job.json + "\n").utf8),
                environment: environment, isGroup: true)
            started += 1
            running.append(Running(job: job, process: process, deadline: now + Self.timeLimit))
        } catch {
            failed += 1
            results.append(.warning("hook \(Self.name(job)) cannot be started: \(error.text)"))
            complete(job)
        }
    }

    private func drain(_ each: inout Running) {
        if each.openPipes.output { each.openPipes.output = read(each.process.output, &each) }
        if each.openPipes.errors { each.openPipes.errors = read(each.process.errors, &each) }
    }

    /// Reads the available output. Returns false if the output has ended.
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
            results.append(.warning("hook \(Self.name(job)): \(fault)"))
        }
        complete(job)
    }

    private func complete(_ job: Job) {
        guard let count = open[Self.completion(of: job)] else { return }
        open[Self.completion(of: job)] = count > 1 ? count - 1 : nil
        if count <= 1 { results.append(Self.completion(of: job)) }
    }

    /// Returns the result for the time when all programs of the job's event have ended.
    private static func completion(of job: Job) -> Result {
        job.number.map(Result.completed) ?? .completedUnstored(job.id)
    }

    private static func name(_ job: Job) -> String {
        TerminalText.line(TerminalText.shortened(job.rule.run.first ?? "", to: 100)) + " of \(job.id)"
    }

    /// Kills all programs. Called when the service ends. The next run starts the programs of events that were not
    /// completed again.
    func end() {
        for each in running { each.process.end() }
        running.removeAll()
        queue.removeAll()
    }
}

/// The texts of an event that can be used in the arguments of a hook: `${title}` and `${body}` of the zone's text,
/// `${zone}`, `${beacon}`, `${event}`, and the beacon's attachments by their keys.
struct HookWords {
    /// The names of the texts that every event may have.
    static let names = ["title", "body", "zone", "beacon", "event"]

    private let event: JSONNode?

    /// - Parameter json: The event as JSON.
    init(_ json: String) { event = JSONDocument.parse(Array(json.utf8)).root }

    /// Returns the words of a hook, in which each `${name}` is replaced by its text, or by nothing if there is no such
    /// text. The first word, the program, is not changed.
    func filled(_ words: [String]) -> [String] { words.prefix(1) + words.dropFirst().map(filled) }

    private func filled(_ word: String) -> String {
        // An argument cannot contain a zero byte.
        NamedTexts.fill(word, text).filter { $0 != "\0" }
    }

    private func text(_ name: String) -> String {
        let node =
            switch name {
            case "title", "body": event?["content"]?[name]
            case "zone", "beacon", "event": event?[name]
            default: event?["attachments"]?[name]
            }
        return node?.string ?? ""
    }
}
