internal import BluetoothTypes
public import Configuration

/// How instances are, for people.
public enum StatusText {
    /// A status file may say anything: what it says is shown, and never obeyed by the terminal.
    ///
    /// - Parameter now: Against which times are told.
    public static func lines(_ status: InstanceStatus, now: RFC3339Time, color: Bool) -> String {
        var lines = title(status, now, color) + "\n"
        if !status.advertisements.isEmpty { lines += frames(status) }
        if let telemetry = status.telemetry { lines += "  telemetry: \(text(telemetry))\n" }
        if let ahead = status.eidClockAhead { lines += "  clock: \(eidClock(ahead: ahead))\n" }
        if !status.rearms.isEmpty { lines += "  brought back: \(rearms(status.rearms))\n" }
        if let error = status.lastError { lines += "  last error: \(TerminalText.line(error))\n" }
        return lines
    }

    /// The same for a listener.
    public static func lines(_ status: ListenerStatus, now: RFC3339Time, color: Bool) -> String {
        var title = "\(TerminalText.line(status.name)): \(state(status.state, color))"
        if let since = status.since { title += " since \(since) (\(duration(from: since, to: now)))" }
        if let adapter = status.adapter { title += ", \(TerminalText.line(adapter))" }
        guard status.state != .off else {
            let name = TerminalText.line(status.name)
            return title + "\n  `systemctl status pharos-listen@\(name)` and its journal say why\n"
        }
        if let rate = status.reportsPerSecond { title += ", \(DecimalText.thousandths(rate)) reports/s" }
        var lines = title + "\n"
        lines += "  heard now: \(status.heardNow) of \(status.known) known beacons, \(status.strangers) strangers\n"
        if let lost = status.lost, lost > 0 { lines += "  lost: \(lost) reports\n" }
        if let broker = status.broker { lines += "  broker: \(TerminalText.line(broker))\n" }
        if status.spool.messages > 0 {
            lines += "  waiting: \(status.spool.messages) messages, \(status.spool.octets) bytes"
            lines += status.spool.oldest.map { ", the oldest of \(TerminalText.line($0))\n" } ?? "\n"
        }
        return lines
    }

    /// That the clock of ephemeral ids and the wall clock do not agree.
    ///
    /// - Parameter ahead: By how many seconds the former is ahead; negative where it is behind.
    public static func eidClock(ahead: Int) -> String {
        let days = abs(ahead) / 86_400
        return "the clock of ephemeral ids is \(days) day\(days == 1 ? "" : "s") "
            + "(\(abs(ahead)) s) \(ahead > 0 ? "ahead of" : "behind") the wall clock"
    }

    /// That no instance has left its status in `directory`, and how one is started.
    public static func nothing(in directory: String) -> String {
        """
        No beacon and no listener runs on this box: none has left its status in \(directory).
        `systemctl enable --now pharos@NAME` keeps the profile /etc/pharos/NAME.json on the air, `pharos run FILE` any;
        pharos-listen@NAME listens in the same way, `pharos listen FILE` for any.

        """
    }

    private static func title(_ status: InstanceStatus, _ now: RFC3339Time, _ color: Bool) -> String {
        var title = "\(TerminalText.line(status.name)): \(state(status.state, color))"
        if let since = status.since { title += " since \(since) (\(duration(from: since, to: now)))" }
        title += ", \(TerminalText.line(status.adapter))"
        if let address = status.address { title += " \(address)" }
        if let controller = status.controller { title += ", \(TerminalText.line(controller))" }
        if let verified = status.lastVerified { title += ", verified \(duration(from: verified, to: now)) ago" }
        return title
    }

    private static func state(_ state: InstanceStatus.State, _ color: Bool) -> String {
        let (text, code) =
            switch state {
            case .onAir: ("on the air", "32")
            case .starting: ("starting", "33")
            case .recovering: ("recovering", "33")
            case .off: ("off", "31")
            }
        return colored(text, code, color)
    }

    private static func state(_ state: ListenerStatus.State, _ color: Bool) -> String {
        let code =
            switch state {
            case .listening: "32"
            case .recovering: "33"
            case .deaf, .off: "31"
            }
        return colored(state.rawValue, code, color)
    }

    private static func colored(_ text: String, _ code: String, _ color: Bool) -> String {
        color ? "\u{1B}[1;\(code)m\(text)\u{1B}[0m" : text
    }

    private static func frames(_ status: InstanceStatus) -> String {
        var table = Table(
            ["  frame", "address", "interval ms", "power dBm", "events"], alignment: [.left, .left, .left, .left])
        for (name, advertisement) in zip(status.frameNames, status.advertisements) {
            let events = advertisement.events.map { "\($0)" + (advertisement.eventsCounted ? "" : " (computed)") }
            table.add([
                "  " + TerminalText.line(name), advertisement.address?.description ?? "-",
                interval(advertisement),
                granted(advertisement.grantedRadioPower, advertisement.radioPower, { "\($0)" }), events ?? "-",
            ])
        }
        return table.text
    }

    private static func interval(_ advertisement: InstanceStatus.AdvertisementStatus) -> String {
        let asked = DecimalText.thousandths(advertisement.interval)
        guard let range = advertisement.grantedInterval else { return "unknown (asked \(asked))" }
        let bounds = [range.lowerBound, range.upperBound].map(DecimalText.thousandths)
        let text = bounds[0] == bounds[1] ? bounds[0] : bounds.joined(separator: "...")
        return text == asked ? text : "\(text) (asked \(asked))"
    }

    /// What was granted, and what was asked for where that is something else.
    private static func granted(_ granted: Int?, _ asked: Int?, _ text: (Int) -> String) -> String {
        guard let asked, asked != granted else { return granted.map(text) ?? "unknown" }
        return (granted.map(text) ?? "unknown") + " (asked \(text(asked)))"
    }

    private static func text(_ telemetry: InstanceStatus.TelemetryStatus) -> String {
        func value(_ text: String?, _ sensor: String?) -> String {
            (text ?? "unknown") + (sensor.map { " (\(TerminalText.line($0)))" } ?? "")
        }
        let temperature = telemetry.temperature.map { DecimalText.thousandths($0) + " °C" }
        let battery = telemetry.battery.map { "\($0) mV" }
        return "temperature \(value(temperature, telemetry.temperatureSensor)), "
            + "battery \(value(battery, telemetry.batterySensor))"
    }

    private static func rearms(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\(TerminalText.line($0.key)) \($0.value)" }.joined(separator: ", ")
    }

    /// The two largest units: `3 d 4 h`, `5 min 2 s`, `12 s`. A clock that was set back gives `0 s`.
    public static func duration(from begin: RFC3339Time, to end: RFC3339Time) -> String {
        let seconds = max(0, end.secondsSince1970 - begin.secondsSince1970)
        let (minutes, hours) = (seconds / 60, seconds / 3600)
        let units = [("d", hours / 24), ("h", hours % 24), ("min", minutes % 60), ("s", seconds % 60)]
        let first = units.firstIndex { $0.1 > 0 } ?? units.count - 1
        let shown = units[first...].prefix(2).filter { $0.1 > 0 || $0.0 == "s" && first == units.count - 1 }
        return shown.map { "\($0.1) \($0.0)" }.joined(separator: " ")
    }
}
