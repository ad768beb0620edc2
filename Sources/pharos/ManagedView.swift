internal import Advertiser
internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
internal import LinuxHost

/// Tells what is on the air through the kernel: JSON lines, a block of text, or a block that is drawn anew.
final class ManagedView {
    private let name: String
    private let frames: [WantedFrame]
    private let adapter: ManagedCapabilities
    private let json: Bool
    private let isLive: Bool
    private let isQuiet: Bool
    private var drawn = 0

    init(name: String, frames: [WantedFrame], adapter: ManagedCapabilities, options: OnAirOptions) {
        self.name = name
        self.frames = frames
        self.adapter = adapter
        json = options.json
        isQuiet = options.quiet && !options.json
        isLive = !options.json && !options.quiet && Terminal.outputIsTerminal
    }

    /// `nil` where nothing is drawn anew.
    var microsecondsBetweenUpdates: Int? { isLive ? 200_000 : nil }

    func onAir(_ session: ManagedSession) {
        if json {
            for (position, frame) in frames.enumerated() { say(line(session, position, frame)) }
        } else if isLive {
            draw(session)
        } else if !isQuiet {
            say(text(session, color: false).joined(separator: "\n") + "\n")
        }
    }

    func update(_ session: ManagedSession) {
        if isLive { draw(session) }
    }

    func offAir(_ session: ManagedSession) {
        update(session)
        let events = frames.indices.map { session.computedEvents($0) }
        if json {
            say(
                JSONValue.record([
                    ("event", .string("off-air")), ("events", .integer(Int(events.reduce(0, +)))),
                    ("eventsCounted", .boolean(false)),
                ]).line + "\n")
        } else if !isQuiet {
            say(
                "off the air after \(OnAirText.clock(session.secondsOnAir)): \(events.reduce(0, +)) advertising events "
                    + "(computed)\n")
        }
    }

    /// Writes `text`, unless standard output takes nothing for a second.
    private func say(_ text: String) {
        if Terminal.takesOutput(within: 1000) { Terminal.write(text) }
    }

    private func line(_ session: ManagedSession, _ position: Int, _ frame: WantedFrame) -> String {
        let instance = session.plan.instances[position]
        let granted = instance.interval.lowerBound == instance.interval.upperBound ? instance.interval.lowerBound : nil
        let state = session.onAir[position]
        return JSONValue.record([
            ("event", .string("on-air")),
            ("name", .string(name)),
            ("adapter", .string(adapter.name)),
            ("family", .string("managed")),
            ("instance", .integer(Int(instance.number))),
            // The kernel chooses it, and does not tell.
            ("address", .null),
            ("type", .string(instance.advertisement.content.typeName)),
            ("pdu", .string(instance.advertisement.pdu.rawValue)),
            ("intervalMs", .decimal(frame.interval.milliseconds)),
            ("grantedIntervalMs", .optional(granted) { .decimal(DecimalText.thousandths($0.microseconds)) }),
            ("radioPowerDbm", .optional(instance.advertisement.radioPower) { .integer(Int($0.dBm)) }),
            ("grantedRadioPowerDbm", .optional(state.grant.power) { .integer(Int($0.dBm)) }),
            ("radioPowerNote", .string(state.grant.description)),
            ("octets", .hex(state.payload.octets)),
            ("warnings", .array(session.plan.warnings.map { .string($0.description) })),
        ]).line + "\n"
    }

    private func draw(_ session: ManagedSession) {
        guard Terminal.takesOutput() else { return }
        let width = Terminal.columns
        let lines = text(session, color: Terminal.wantsColor).map { line in
            // A wrapped line could not be drawn over. The sign's colors take no room.
            line.count > width && !line.hasPrefix("\u{1B}") ? String(line.prefix(max(0, width - 1))) + "…" : line
        }
        let up = drawn == 0 ? "" : "\u{1B}[\(drawn)A"
        Terminal.write(up + lines.map { "\r\u{1B}[K" + $0 + "\n" }.joined())
        drawn = lines.count
    }

    private func text(_ session: ManagedSession, color: Bool) -> [String] {
        let family = adapter.hasExtendedAdvertising ? "extended advertising, legacy PDUs" : "legacy advertising"
        var lines = ["\(name) on \(adapter.name) · through the kernel, \(adapter.version), \(family)"]
        lines.append(
            (color ? "\u{1B}[1;32m●\u{1B}[0m " : "● ") + "on the air for \(OnAirText.clock(session.secondsOnAir))")
        for (position, frame) in frames.enumerated() where session.onAir.indices.contains(position) {
            let rows = self.rows(session, position, frame)
            lines += rows.map { "  " + ($0.0 + String(repeating: " ", count: 12)).prefix(12) + "  " + $0.1 }
        }
        return lines + session.plan.warnings.map { "  warning       \($0)" }
    }

    private func rows(
        _ session: ManagedSession, _ position: Int, _ frame: WantedFrame
    ) -> [(String, String)] {
        let instance = session.plan.instances[position]
        let state = session.onAir[position]
        let range = instance.interval
        let granted =
            range.lowerBound == range.upperBound
            ? "\(range.lowerBound)" : "\(DecimalText.thousandths(range.lowerBound.microseconds))...\(range.upperBound)"
        let asked = instance.advertisement.radioPower.map { "asked \($0), " } ?? ""
        let payload =
            BeaconFrame(decoding: state.payload).map(FrameText.sentence)
            ?? "\(instance.advertisement.content.typeName), \(state.payload.octets.count) octets"
        return [
            ("payload", payload),
            ("octets", Hexadecimal.text(state.payload.octets, separator: " ")),
            ("instance", "\(instance.number) of the kernel's \(adapter.maximumInstances)"),
            ("interval", "asked \(frame.interval.milliseconds) ms, granted \(granted)"),
            ("radio power", asked + state.grant.description),
            ("events", "\(session.computedEvents(position)) (computed: the kernel does not count them)"),
        ]
    }
}
