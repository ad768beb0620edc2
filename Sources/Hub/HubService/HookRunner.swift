internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings
internal import Zones

/// Runs the programs (hooks) that are started for events. At most ``parallel`` programs run at the same time, and a
/// program that takes too long is killed. No call waits for a program.
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

    /// One program that must be started for one event.
    struct Job {
        let rule: HookRule
        let id: String
        let json: String
        let kind: String
        let zone: String
        let beacon: String?
        /// The event's sequence number in the store; `nil` if the event is not stored.
        fileprivate(set) var number: Int64?
    }

    /// A result that the caller must record or log.
    enum Result: Hashable, Sendable {
        /// All programs of the event with this sequence number have ended or were dropped.
        case completed(Int64)
        /// All programs of the event with this id, which is not stored, have ended or were dropped.
        case completedUnstored(String)
        /// A sentence for the journal.
        case warning(String)
    }

    private struct RunningProgram {
        let job: Job
        let process: ChildProcess
        /// The time at which the program is killed, in nanoseconds.
        let deadline: UInt64
        /// The number of bytes that the program has written so far.
        var outputBytes = 0
        var firstLine: [UInt8] = []
        /// For each output pipe of the program, true if it is still open.
        var openPipes = (output: true, errors: true)
    }

    /// The number of programs that were started.
    private(set) var started = 0
    /// The number of programs that failed, could not be started, or were killed.
    private(set) var failed = 0
    /// The number of programs that were dropped because too many waited.
    private(set) var dropped = 0

    private var queue: [Job] = []
    private var running: [RunningProgram] = []
    /// For each result that reports the end of an event's programs, the number of those programs that have not ended.
    private var unfinishedCounts: [Result: Int] = [:]
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

    /// Adds the programs of an event to the queue, and starts waiting programs if fewer than ``parallel`` run.
    ///
    /// - Parameter number: The event's number in the store; `nil` if the event is not stored.
    func add(_ jobs: [Job], number: Int64?) -> [Result] {
        for var job in jobs {
            job.number = number
            unfinishedCounts[Self.completion(of: job), default: 0] += 1
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
        for index in running.indices.reversed() {
            drain(&running[index])
            let program = running[index]
            if program.outputBytes > Self.outputLimit {
                program.process.end()
                finish(index, "killed, because it wrote more than \(Self.outputLimit >> 10) KiB")
            } else if let code = program.process.code() {
                let line = TerminalText.shortened(String(decoding: program.firstLine, as: UTF8.self), to: 200)
                let output = line.isEmpty ? "" : ": \(TerminalText.line(line))"
                finish(
                    index,
                    code == 0 ? nil : code > 0 ? "exit status \(code)\(output)" : "ended by signal \(-code)\(output)")
            } else if now >= program.deadline {
                program.process.end()
                finish(index, "killed, because it ran for more than \(Self.timeLimit / 1_000_000_000) s")
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
            running.append(RunningProgram(job: job, process: process, deadline: now + Self.timeLimit))
        } catch {
            failed += 1
            results.append(.warning("hook \(Self.name(job)) cannot be started: \(error.text)"))
            complete(job)
        }
    }

    private func drain(_ program: inout RunningProgram) {
        if program.openPipes.output { program.openPipes.output = read(program.process.output, &program) }
        if program.openPipes.errors { program.openPipes.errors = read(program.process.errors, &program) }
    }

    /// Reads the available output. Returns false if the output has ended.
    private func read(_ descriptor: Descriptor, _ program: inout RunningProgram) -> Bool {
        while program.outputBytes <= Self.outputLimit {
            guard let ready = try? Poller.wait([.init(descriptor, .read)], milliseconds: 0), ready == [true] else {
                return true
            }
            guard let piece = try? descriptor.read(upTo: 1 << 14), !piece.isEmpty else { return false }
            program.outputBytes += piece.count
            if program.firstLine.count < 512 { program.firstLine += piece.prefix(512) }
        }
        return true
    }

    private func finish(_ index: Int, _ fault: String?) {
        let job = running.remove(at: index).job
        if let fault {
            failed += 1
            results.append(.warning("hook \(Self.name(job)): \(fault)"))
        }
        complete(job)
    }

    private func complete(_ job: Job) {
        guard let count = unfinishedCounts[Self.completion(of: job)] else { return }
        unfinishedCounts[Self.completion(of: job)] = count > 1 ? count - 1 : nil
        if count <= 1 { results.append(Self.completion(of: job)) }
    }

    /// Returns the result that reports that all programs of the job's event have ended.
    private static func completion(of job: Job) -> Result {
        job.number.map(Result.completed) ?? .completedUnstored(job.id)
    }

    private static func name(_ job: Job) -> String {
        TerminalText.line(TerminalText.shortened(job.rule.run.first ?? "", to: 100)) + " of \(job.id)"
    }

    /// Kills all programs, because the service ends. The next run of the service starts all programs of an event again
    /// if not all of them had ended.
    func end() {
        for program in running { program.process.end() }
        running.removeAll()
        queue.removeAll()
    }
}

/// The texts of an event that can be used in the arguments of a hook: `${title}` and `${body}` of the zone's text,
/// `${zone}`, `${beacon}`, `${event}`, and `${KEY}` for the beacon's attachment with that key.
struct HookWords {
    /// The names of the texts that every event may have.
    static let names = ["title", "body", "zone", "beacon", "event"]

    private let event: JSONNode?

    /// - Parameter json: The event as JSON.
    init(_ json: String) { event = JSONDocument.parse(Array(json.utf8)).root }

    /// Returns the words of a hook, in which each `${name}` is replaced by its text. A text that does not exist counts
    /// as empty. The first word, which is the program, is not changed.
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
