internal import BeaconService
internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Messaging
internal import Store

/// Reads the lines of receivers, passes them to a ``CollectorService``, and prints the changes.
final class CollectRun {
    private let service: CollectorService
    private let everySeconds: Int?
    private let json: Bool
    private let signals: SignalDescriptor
    /// Writes the status file; `nil` for a collector that `pharos status` does not show.
    private var statusWriter: CollectorStatusWriter?
    /// The time of the last output for `--every-s`, in milliseconds since 1970: the time of a line, not of the wall
    /// clock.
    private var lastPrintedTime = 0
    /// The number of lines that are not JSON objects.
    private var badLines = 0
    /// The number of lines that are JSON objects.
    private var goodLines = 0
    /// The file and the number of the first bad line.
    private var firstBadLine: String?
    /// The number of lines with a beacon, or with the state of a receiver.
    private var usefulLines = 0
    /// The number of lines that do not name their receiver.
    private var namelessLines = 0
    /// The first receiver that a line names, but the collector file does not.
    private var firstUnknownReceiver: String?
    /// The number of messages that were dropped because they waited too long.
    private var droppedMessages = 0
    /// The longest time that a message may wait, in nanoseconds. Messages that wait longer are dropped, so that rooms
    /// are up to date.
    private static let longestWait: UInt64 = 5_000_000_000
    /// The longest time that a calculation may continue after a signal, in nanoseconds.
    private static let shutdownTimeout: UInt64 = 300_000_000

    /// - Parameter statusDirectory: The directory of the status file; `nil` for none.
    init(
        _ service: CollectorService, everySeconds: Int?, json: Bool, signals: SignalDescriptor, statusDirectory: String?
    ) {
        self.service = service
        statusWriter = statusDirectory.map { CollectorStatusWriter(directory: $0) }
        self.everySeconds = everySeconds
        self.json = json
        self.signals = signals
    }

    /// The wall clock, in milliseconds since 1970.
    private static var now: Int { Int(WallClock.microseconds() / 1000) }

    // MARK: Sources

    /// Reads all sources to their ends: recordings in the order of their times, then standard input.
    func read(_ sources: [CollectedSource]) throws {
        write(lines: service.takeUnprinted())
        var lines: [(time: Int, receiver: String?, line: ReceiverLine)] = []
        for source in sources where source.path != "-" {
            var lastTime = 0
            try InputFile.forEachLine(of: source.path) { octets, number in
                guard let line = parsed(octets, source.path, number) else { return }
                // A line without a time gets the time of the line before it.
                lastTime = line.unixMilliseconds ?? lastTime
                lines.append((lastTime, source.receiver, line))
            }
        }
        // Lines with the same time keep their order.
        for index in lines.indices.sorted(by: { (lines[$0].time, $0) < (lines[$1].time, $1) }) {
            guard !Terminal.outputIsGone else { break }
            process(lines[index].line, from: lines[index].receiver, arrival: lines[index].time, isLive: false)
        }
        if let stream = sources.first(where: { $0.path == "-" }) { try follow(stream) }
        try finish()
        try refuseUnknownReceivers()
    }

    /// Throws an error if some lines did not belong to any receiver of the file. Not called with a broker, because
    /// other receivers may also publish there.
    private func refuseUnknownReceivers() throws {
        if service.collector.counts.unknownReceivers > 0 { throw Failure(.dataFormat) }
    }

    private func parsed(_ octets: some Sequence<UInt8>, _ name: String, _ number: Int) -> ReceiverLine? {
        let octets = Array(octets)
        if octets.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return nil }
        if let line = ReceiverLine(octets) {
            goodLines += 1
            return line.isAboutReceiver ? line : nil
        }
        badLines += 1
        firstBadLine = firstBadLine ?? "\(name):\(number)"
        return nil
    }

    private func follow(_ source: CollectedSource) throws {
        let input = Descriptor.standardInput
        if Terminal.inputIsTerminal {
            Terminal.writeError(
                "pharos: reading lines of receivers from standard input until Ctrl-D; to read a recording, use "
                    + "--from NAME=FILE\n")
        }
        var unprocessedOctets: [UInt8] = []
        var lineNumber = 0
        var isTooLong = false
        while !Terminal.outputIsGone {
            let ready = try Poller.wait([.init(input, .read), .init(signals.descriptor, .read)], milliseconds: 1000)
            if isAskedToEnd { return }
            followClock()
            if ready[0] {
                let octets = try input.read(upTo: 1 << 16)
                if octets.isEmpty { break }
                unprocessedOctets += octets
                while let end = unprocessedOctets.firstIndex(of: UInt8(ascii: "\n")) {
                    // Processing the waiting lines may take many seconds at a large site, so check for signals before
                    // each line.
                    if isAskedToEnd { return }
                    lineNumber += 1
                    let line = isTooLong ? nil : parsed(unprocessedOctets[..<end], "standard input", lineNumber)
                    isTooLong = false
                    unprocessedOctets.removeSubrange(...end)
                    if let line { process(line, from: source.receiver, arrival: Self.now, isLive: true) }
                }
                // The rest of a line that is too long is skipped.
                if unprocessedOctets.count > ReceiverLine.limit {
                    isTooLong = true
                    unprocessedOctets.removeAll()
                }
            } else if let time = service.collector.newestLineUnixMilliseconds,
                abs(Self.now - time) < SightingCollector.liveMilliseconds
            {
                write(service.advance(to: Self.now, shouldContinue: shouldContinue))
            }
            writePending()
        }
        if !unprocessedOctets.isEmpty, !isTooLong,
            let line = parsed(unprocessedOctets, "standard input", lineNumber + 1)
        {
            process(line, from: source.receiver, arrival: Self.now, isLive: true)
        }
    }

    private func followClock() {
        if service.follow(.now()) { lastPrintedTime = 0 }
    }

    /// Collects from a broker until a signal arrives. While another collector works for the site, this collector is on
    /// standby.
    ///
    /// - Parameter connect: Creates the object for a connection. The object connects later.
    func follow(_ connect: () throws -> CollectorBroker) throws {
        while try waitForSite() {
            write(lines: service.takeUnprinted())
            let broker = try connect()
            defer {
                broker.finish()
                write(broker.takeNotices())
            }
            try work(broker)
            guard !isAskedToEnd, !Terminal.outputIsGone else { break }
            Terminal.writeError(
                "pharos: warning: another collector has taken over while PostgreSQL did not answer\n")
            service.standBy()
        }
        statusWriter?.write(.off, of: service.collector)
        try finish()
    }

    /// Waits on standby until this collector may become the active collector of the site.
    ///
    /// - Returns: False if a signal has arrived.
    private func waitForSite() throws -> Bool {
        guard let uploader = service.uploader else { return !isAskedToEnd }
        let name = TerminalText.line(service.collector.file.name)
        var standsBy = false
        while true {
            uploader.poll()
            write(service.takeNotices())
            switch uploader.siteLock {
            case .held, .unreachable:
                if standsBy { Terminal.writeError("pharos: this collector works for \(name) now\n") }
                return true
            case .heldByAnother where !standsBy:
                standsBy = true
                Terminal.writeError(Self.standbyMessage(name))
            case .heldByAnother, .undecided: break
            }
            if standsBy { statusWriter?.write(.standby, of: service.collector) }
            _ = try Poller.wait([.init(signals.descriptor, .read)], milliseconds: 200)
            if isAskedToEnd || Terminal.outputIsGone { return false }
        }
    }

    /// Returns the message of a collector that is on standby.
    static func standbyMessage(_ name: String) -> String {
        "pharos: another collector works for \(name); this collector stands by, and takes over when the other collector ends\n"
    }

    private func work(_ broker: CollectorBroker) throws {
        while !Terminal.outputIsGone, service.uploader?.siteLock != .heldByAnother {
            followClock()
            let messages = broker.poll()
            let deadline = MonotonicClock.nanoseconds() + Self.longestWait
            for (index, message) in messages.enumerated() {
                // Processing the waiting messages may take many seconds at a large site, so check for signals before
                // each message.
                if isAskedToEnd { return }
                if MonotonicClock.nanoseconds() > deadline {
                    droppedMessages += messages.count - index
                    break
                }
                guard let line = ReceiverLine(topic: message.topic, payload: message.payload) else { continue }
                // A retained message may be old. It is used only if it reports that a receiver has stopped.
                if message.isRetained, line.isListening != false { continue }
                goodLines += 1
                process(line, from: nil, arrival: Self.now, isLive: true)
            }
            let wakeUp = min(broker.nextWakeUp ?? .max, MonotonicClock.nanoseconds() + 500_000_000)
            _ = try Poller.wait(
                [.init(broker.descriptor, .read), .init(signals.descriptor, .read)], until: wakeUp)
            if isAskedToEnd { return }
            write(service.advance(to: Self.now, shouldContinue: shouldContinue))
            service.publish(to: broker, shouldContinue: shouldContinue)
            statusWriter?.write(service.collector, broker)
            write(broker.takeNotices())
            writePending()
        }
    }

    private var isAskedToEnd: Bool {
        _ = signals.take()
        return signals.takenAt != nil
    }

    /// Returns true if a calculation may continue: no signal has arrived, or it arrived a short time ago.
    private func shouldContinue() -> Bool {
        _ = signals.take()
        return signals.takenAt.map { MonotonicClock.nanoseconds() < $0 + Self.shutdownTimeout } ?? true
    }

    // MARK: Lines

    private func process(_ line: ReceiverLine, from receiver: String?, arrival: Int, isLive: Bool) {
        let unknownReceiversBefore = service.collector.counts.unknownReceivers
        write(service.process(line, from: receiver, arrival: arrival, isLive: isLive, shouldContinue: shouldContinue))
        if !line.isEmpty { usefulLines += 1 }
        if service.collector.counts.unknownReceivers > unknownReceiversBefore {
            if let name = line.receiver ?? receiver {
                if firstUnknownReceiver == nil { Terminal.writeError("pharos: \(unknownReceiver(name))\n") }
                firstUnknownReceiver = firstUnknownReceiver ?? name
            } else {
                if namelessLines == 0 { Terminal.writeError("pharos: a line does not name its receiver: \(advice)\n") }
                namelessLines += 1
            }
        }
        guard let everySeconds, let time = service.collector.newestLineUnixMilliseconds else { return }
        if lastPrintedTime == 0 { lastPrintedTime = time }
        guard time - lastPrintedTime >= everySeconds * 1000 else { return }
        lastPrintedTime = time
        Terminal.write(
            JSONValue.record([
                ("event", "where"), ("at", .string(SightingCollector.timeText(time))),
                ("beacons", .array(service.collector.beaconsJSON)),
            ]).line + "\n")
    }

    /// The names of the file's receivers, at most 20, separated by commas.
    private var receiverListText: String {
        service.collector.file.receivers.map(\.name).prefix(20).joined(separator: ", ")
    }

    private var advice: String { "use --from NAME=FILE; the receivers are \(receiverListText)" }

    private func unknownReceiver(_ name: String) -> String {
        let nearestName = NearestWord.find(name, among: service.collector.file.receivers.map(\.name))
        return "the receiver \(TerminalText.quoted(name, to: 60)) is not in \(service.collector.file.name): "
            + (nearestName.map { "did you mean \(TerminalText.quoted($0, to: 60))? " } ?? "")
            + "the receivers are \(receiverListText)"
    }

    // MARK: Output

    private func writePending() {
        service.writePending()
        write(service.takeNotices())
    }

    private func write(_ notices: [Notice]) {
        for notice in notices {
            Terminal.writeMessage("\(notice.isWarning ? "warning: " : "")\(notice.text)")
        }
    }

    private func write(_ events: [SightingCollector.Event]) {
        write(lines: events.map(\.json.line))
    }

    /// Prints events, and records them as printed.
    ///
    /// - Parameter lines: The events as JSON.
    private func write(lines: [String]) {
        guard !lines.isEmpty else { return }
        if json {
            Terminal.write(lines.map { $0 + "\n" }.joined())
        } else {
            Terminal.show(lines.map { sentence($0) + "\n" }.joined())
        }
        if !Terminal.outputIsGone { service.markPrinted() }
    }

    private func sentence(_ line: String) -> String {
        let event = JSONDocument.parse(Array(line.utf8)).root
        func text(_ key: String) -> String? { event?[key]?.string }
        var parts = [text("at"), text("event"), text("beacon") ?? text("receiver"), text("room")].compactMap(\.self)
        if let from = text("from") { parts.append("(from \(from))") }
        if let reason = text("reason") { parts.append(reason) }
        return parts.map { TerminalText.line(TerminalText.shortened($0, to: 80)) }.joined(separator: "  ")
    }

    private func finish() throws {
        write(service.finish(shouldContinue: shouldContinue))
        service.close(isHurried: isAskedToEnd)
        write(service.takeNotices())
        writeCounts()
        if goodLines == 0, badLines > 0 { throw Failure(.dataFormat, "\(firstBadLine ?? ""): this line is not JSON") }
        guard !json else { return }
        let beacons = JSONValue.array(service.collector.beaconsJSON).line
        Terminal.show(WhereTable.text(JSONDocument.parse(Array(beacons.utf8)).root?.elements ?? [], .local))
    }

    /// Reports how many lines were ignored, and why.
    private func writeCounts() {
        let (counts, file) = (service.collector.counts, service.collector.file)
        func reportLines(_ count: Int, one: String, many: String) {
            if count > 0 { Terminal.writeError("pharos: \(count) \(count == 1 ? "line \(one)" : "lines \(many)")\n") }
        }
        let badLine = firstBadLine ?? ""
        reportLines(
            badLines, one: "is not a JSON object and was ignored: \(badLine)",
            many: "are not JSON objects and were ignored; the first is \(badLine)")
        if goodLines > 0, usefulLines == 0 {
            Terminal.writeError(
                "pharos: no line has a beacon or the state of a receiver; `pharos listen --print --json` and "
                    + "`pharos scan --json` write such lines\n")
        }
        let names = receiverListText
        reportLines(
            namelessLines, one: "does not name its receiver: \(advice)", many: "do not name their receiver: \(advice)")
        let unknown = TerminalText.quoted(firstUnknownReceiver ?? "", to: 60)
        reportLines(
            counts.unknownReceivers - namelessLines,
            one: "is from \(unknown), which is not in \(file.name): the receivers are \(names)",
            many: "are from receivers that are not in \(file.name), the first is \(unknown): "
                + "the receivers are \(names)")
        let late = "came too late to make a beacon enter or leave"
        reportLines(counts.late, one: late, many: late)
        reportLines(
            counts.wrongClocks, one: "has a time that other lines contradict, and was ignored",
            many: "have a time that other lines contradict, and were ignored")
        reportLines(counts.duplicateLines, one: "came twice", many: "came twice")
        reportLines(
            droppedMessages, one: "waited for more than 5 s and was ignored",
            many: "waited for more than 5 s and were ignored")
        if counts.crowded > 0 {
            Terminal.writeError(
                "pharos: \(counts.crowded) reports were ignored, because there are more than \(SightingCollector.limit) "
                    + "beacons\n")
        }
    }
}
