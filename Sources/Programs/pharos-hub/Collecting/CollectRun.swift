internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Messaging

/// Takes lines of receivers, prints what changes, and keeps the state file.
final class CollectRun {
    private var collector: SightingCollector
    private let state: String
    private let isAsked: Bool
    private let everySeconds: Int?
    private let json: Bool
    private let broker: CollectorBroker?
    private let history: CollectorHistory?
    private let uploader: SiteUploader?
    private var events = ShardBuffer<SightingCollector.Event>()
    private var sightings = ShardBuffer<SightingCollector.Sighting>()
    private var held: Set<Int> = []
    private var hasResumed = false
    private var linesSinceKept = 0
    private var hasChanged = false
    private var told = 0
    private var written: UInt64 = 0
    private var hasFailed = false
    /// Whether somebody has asked us to end.
    private var isHurried = false
    private var badLines = 0
    private var goodLines = 0
    private var firstBad: String?
    /// Lines that say something of a beacon, or of how a receiver hears.
    private var tellingLines = 0
    /// Lines that do not say who heard them, and the first name that the file does not have.
    private var namelessLines = 0
    private var firstUnknown: String?
    /// What was heard is handed on after so many lines, or half a second.
    private static let linesBetween = 1000
    /// How often the state file is written, in nanoseconds.
    private static let pause: UInt64 = 1_000_000_000
    /// A source whose lines are so close to now is live, in milliseconds.
    private static let liveMilliseconds = 60_000
    /// How long whoever is asked to end goes on with the second that it judges, in nanoseconds.
    private static let patience: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - state: The state file.
    ///   - isAsked: Whether somebody wants it: otherwise it may be missing.
    init(
        _ collector: SightingCollector, state: String, isAsked: Bool, everySeconds: Int?, json: Bool,
        broker: CollectorBroker? = nil, history: CollectorHistory? = nil, uploader: SiteUploader? = nil
    ) {
        self.collector = collector
        self.history = history
        self.uploader = uploader
        self.collector.keepsSightings = history != nil || uploader != nil
        self.broker = broker
        self.state = state
        self.isAsked = isAsked
        self.everySeconds = everySeconds
        self.json = json
    }

    /// Reads all sources to their ends: recordings in the order of their times, then standard input as it comes.
    func read(_ sources: [CollectedSource]) throws {
        var lines: [(time: Int, receiver: String?, line: ReceiverLine)] = []
        for source in sources where source.path != "-" {
            var last = 0
            for (number, octets) in try InputFile.read(source.path).split(separator: UInt8(ascii: "\n")).enumerated() {
                guard let line = parsed(octets, source.path, number + 1) else { continue }
                // Lines without a time came right after the one before.
                last = line.unixMilliseconds ?? last
                lines.append((last, source.receiver, line))
            }
        }
        // Of equal times in their order: sorting is stable by the number.
        for index in lines.indices.sorted(by: { (lines[$0].time, $0) < (lines[$1].time, $1) }) {
            guard !Terminal.outputIsGone else { break }
            take(lines[index].line, from: lines[index].receiver, arrival: lines[index].time)
        }
        if let stream = sources.first(where: { $0.path == "-" }) { try follow(stream) }
        if let broker { try follow(broker) }
        tell(collector.finish())
        try finish()
    }

    private func parsed(_ octets: some Sequence<UInt8>, _ name: String, _ number: Int) -> ReceiverLine? {
        let octets = Array(octets)
        if octets.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return nil }
        if let line = ReceiverLine(octets) {
            goodLines += 1
            return line
        }
        badLines += 1
        firstBad = firstBad ?? "\(name):\(number)"
        return nil
    }

    private func follow(_ source: CollectedSource) throws {
        let signals = try listenForSignals()
        let input = Descriptor.standardInput
        if Terminal.inputIsTerminal {
            Terminal.writeError(
                "pharos: what receivers tell is read from standard input, up to Ctrl-D; --from NAME=FILE reads a recording\n"
            )
        }
        var pending: [UInt8] = []
        var number = 0
        var isTooLong = false
        while !Terminal.outputIsGone {
            let ready = try Poller.wait([.init(input, .read), .init(signals.descriptor, .read)], milliseconds: 1000)
            if isAskedToEnd(signals) { return }
            if ready[0] {
                let octets = try input.read(upTo: 1 << 16)
                if octets.isEmpty { break }
                pending += octets
                while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                    // Of a large site the lines that wait may be the work of many seconds.
                    if isAskedToEnd(signals) { return }
                    number += 1
                    let line = isTooLong ? nil : parsed(pending[..<end], "standard input", number)
                    isTooLong = false
                    pending.removeSubrange(...end)
                    if let line { take(line, from: source.receiver, arrival: Self.now) }
                }
                // A line that never ends is not kept.
                if pending.count > ReceiverLine.limit {
                    isTooLong = true
                    pending.removeAll()
                }
            } else if let time = collector.time, abs(Self.now - time) < Self.liveMilliseconds {
                tell(collector.advance(to: Self.now))
            }
            keep()
            history?.prune()
            writeState(isLast: false)
        }
        if !pending.isEmpty, !isTooLong, let line = parsed(pending, "standard input", number + 1) {
            take(line, from: source.receiver, arrival: Self.now)
        }
    }

    private func follow(_ broker: CollectorBroker) throws {
        let signals = try listenForSignals()
        broker.onMessage = { [unowned self] message in
            // What waits may be the work of many seconds.
            guard !isAskedToEnd(signals), let line = ReceiverLine(topic: message.topic, payload: message.payload) else {
                return
            }
            goodLines += 1
            take(line, from: nil, arrival: Self.now)
        }
        defer { broker.finish() }
        while !Terminal.outputIsGone {
            if collector.follow(clock: Self.now) {
                told = 0
                Terminal.writeError("pharos: warning: the clock was set back; receivers are heard anew\n")
            }
            broker.poll()
            let wanted = broker.nextWakeUp ?? .max
            let deadline = min(wanted, MonotonicClock.nanoseconds() + 500_000_000)
            _ = try Poller.wait(
                [.init(broker.descriptor, .read), .init(signals.descriptor, .read)], until: deadline)
            if isAskedToEnd(signals) { return }
            tell(collector.advance(to: Self.now))
            keep()
            history?.prune()
            broker.tell(collector, hasChanged: hasChanged)
            hasChanged = false
            writeState(isLast: false)
        }
    }

    private static var now: Int { Int(WallClock.microseconds() / 1000) }

    private func listenForSignals() throws -> SignalDescriptor {
        let signals = try SignalDescriptor()
        collector.goesOn = {
            _ = signals.take()
            return signals.takenAt.map { MonotonicClock.nanoseconds() < $0 + Self.patience } ?? true
        }
        return signals
    }

    private func isAskedToEnd(_ signals: SignalDescriptor) -> Bool {
        _ = signals.take()
        isHurried = signals.takenAt != nil
        return isHurried
    }

    private func take(_ line: ReceiverLine, from receiver: String?, arrival: Int) {
        if !hasResumed, let history {
            let time = line.unixMilliseconds ?? arrival
            collector.resume(history.stays, at: time)
        }
        hasResumed = true
        let unknown = collector.counts.unknownReceivers
        let new = collector.take(line, from: receiver, arrival: arrival)
        if !line.isEmpty { tellingLines += 1 }
        if collector.counts.unknownReceivers > unknown {
            if let name = line.receiver ?? receiver {
                firstUnknown = firstUnknown ?? name
            } else {
                namelessLines += 1
            }
        }
        if !new.isEmpty { tell(new) }
        linesSinceKept += 1
        if linesSinceKept >= Self.linesBetween { keep() }
        guard let everySeconds, let time = collector.time else { return }
        if told == 0 { told = time }
        guard time - told >= everySeconds * 1000 else { return }
        told = time
        Terminal.write(
            JSONValue.record([
                ("event", "where"), ("at", .string(SightingCollector.time(time))),
                ("beacons", .array(collector.beaconsJSON)),
            ]).line + "\n")
    }

    // MARK: What is told

    private func tell(_ new: [SightingCollector.Event]) {
        hasChanged = hasChanged || !new.isEmpty
        let shards = broker?.held ?? collector.file.shards
        if shards != held {
            let taken = shards.subtracting(held)
            history?.adopt(collector.stays(in: taken), gone: collector.gone(in: taken))
            held = shards
        }
        // Of receivers everybody tells.
        let some = new.filter { $0.shard == nil }
        let parts = new.compactMap { event in event.shard.map { (shard: $0, time: event.unixMilliseconds, item: event) }
        }
        let told = events.pass(parts, held: held, lastSign: lastSign, now: Self.now)
        guard !told.isEmpty || !some.isEmpty else { return }
        if !told.isEmpty { keep(told) }
        let all = some.isEmpty ? told : (some + told).sorted { $0.unixMilliseconds < $1.unixMilliseconds }
        Terminal.write(all.map { (json ? $0.json.line : words($0)) + "\n" }.joined())
    }

    private func lastSign(_ shard: Int) -> Int? { broker?.lastSign(shard) }

    /// Keeps what has happened before anybody is told of it, and now and then what was heard.
    private func keep(_ told: [SightingCollector.Event] = []) {
        linesSinceKept = 0
        guard history != nil || uploader != nil else { return }
        // Who kept it was alive when it came, not when it was heard.
        let now = Self.now
        let new = collector.takeSightings().map { (shard: $0.shard, time: now, item: $0) }
        let heard = sightings.pass(new, held: held, lastSign: lastSign, now: now)
        history?.keep(told, heard)
        uploader?.keep(told, heard)
    }

    private func words(_ event: SightingCollector.Event) -> String {
        var parts = [event.time, event.kind.rawValue, event.beacon ?? event.receiver ?? ""]
        if let room = event.room { parts.append(room) }
        if let from = event.from { parts.append("(from \(from))") }
        return parts.map { TerminalText.line(TerminalText.shortened($0, to: 80)) }.joined(separator: "  ")
    }

    private func finish() throws {
        keep()
        history?.finish()
        uploader?.finish(isHurried: isHurried)
        writeState(isLast: true)
        sayCounts()
        if goodLines == 0, badLines > 0 { throw Failure(.dataFormat, "\(firstBad ?? ""): this is no line of JSON") }
        guard !json else { return }
        Terminal.write(WhereTable.text(collector.beaconsJSON))
    }

    /// Says what was left out, and why.
    private func sayCounts() {
        let (counts, file) = (collector.counts, collector.file)
        func say(_ count: Int, _ one: String, _ many: String) {
            if count > 0 { Terminal.writeError("pharos: \(count) \(count == 1 ? "line \(one)" : "lines \(many)")\n") }
        }
        let first = firstBad ?? ""
        say(
            badLines, "is no JSON object and was left out: \(first)",
            "are no JSON objects and were left out, the first is \(first)")
        if goodLines > 0, tellingLines == 0 {
            Terminal.writeError(
                "pharos: no line tells of a beacon, or how a receiver hears: `pharos listen --print --json` and "
                    + "`pharos scan --json` write such lines\n")
        }
        let names = file.receivers.map(\.name).prefix(20).joined(separator: ", ")
        let advice = "write --from NAME=FILE; there are \(names)"
        say(
            namelessLines, "does not say which receiver heard it: \(advice)",
            "do not say which receiver heard them: \(advice)")
        let unknown = TerminalText.quoted(firstUnknown ?? "", to: 60)
        say(
            counts.unknownReceivers - namelessLines,
            "is of \(unknown), which \(file.name) does not name: there are \(names)",
            "are of receivers that \(file.name) does not name, the first is \(unknown): there are \(names)")
        say(counts.late, "came too late to count", "came too late to count")
        say(
            counts.wrongClocks, "has a clock that is more than a day ahead",
            "have a clock that is more than a day ahead")
        say(counts.duplicates, "came twice", "came twice")
    }

    private func writeState(isLast: Bool) {
        let machine = MonotonicClock.nanoseconds()
        guard isLast || machine - written >= Self.pause else { return }
        written = machine
        let value = collector.state(
            written: RFC3339Time(secondsSince1970: Int(WallClock.microseconds() / 1_000_000)))
        do throws(SystemError) {
            try Files.replace(state, with: Array((value.line + "\n").utf8), isDurable: false)
            hasFailed = false
        } catch {
            // A full disk may have room again: it is tried on, and told once.
            guard !hasFailed else { return }
            hasFailed = true
            let advice = isAsked ? "" : "; name another with --state-file"
            Terminal.writeError("pharos: warning: \(state): it cannot be written: \(error.text)\(advice)\n")
        }
    }
}
