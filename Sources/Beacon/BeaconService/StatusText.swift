internal import BluetoothTypes
public import Configuration

/// The text of `pharos status`.
public enum StatusText {
    /// The lines of a beacon. Control characters in the status file are made visible, so that the terminal does not
    /// interpret them.
    ///
    /// - Parameters:
    ///   - now: The current time, for durations.
    ///   - milliseconds: The part of a second after `now`, 0...999, for the current part of a pattern.
    public static func lines(
        _ status: InstanceStatus, now: RFC3339Time, milliseconds: Int = 0, color: Bool
    ) -> String {
        var lines = title(status, now, color) + "\n"
        if !status.advertisements.isEmpty { lines += frames(status) }
        for (name, advertisement) in zip(status.frameNames, status.advertisements) {
            guard let pattern = advertisement.pattern else { continue }
            let time = now.secondsSince1970 * 1000 + milliseconds
            lines += "  \(TerminalText.line(name)): \(text(pattern, status.state == .onAir ? time : nil))\n"
        }
        for (name, advertisement) in zip(status.frameNames, status.advertisements) {
            guard let phy = advertisement.phy else { continue }
            lines += "  \(TerminalText.line(name)): extended advertising on \(phy.name)\n"
        }
        for (name, advertisement) in zip(status.frameNames, status.advertisements) {
            guard let content = advertisement.content else { continue }
            lines += "  \(TerminalText.line(name)): \(TerminalText.line(content))\n"
        }
        if let telemetry = status.telemetry { lines += "  telemetry: \(text(telemetry))\n" }
        if let ahead = status.eidClockAhead { lines += "  clock: \(eidClock(ahead: ahead))\n" }
        if !status.rearms.isEmpty { lines += "  recoveries: \(rearms(status.rearms))\n" }
        if let file = status.rejectedFile {
            lines += "  changed file refused at \(file.time) (\(duration(from: file.time, to: now)) ago): "
            lines += "\(TerminalText.line(file.reason))\n"
        }
        // If a file was refused, `lastError` repeats the reason. It is shown only once.
        if let error = status.lastError, error != status.rejectedFile.map({ "reload refused: \($0.reason)" }) {
            lines += "  last error: \(TerminalText.line(error))\n"
        }
        return lines
    }

    /// The lines of a listener.
    public static func lines(_ status: ListenerStatus, now: RFC3339Time, color: Bool) -> String {
        var title = "\(TerminalText.line(status.name)): \(state(status.state, color))"
        if let since = status.since { title += " since \(since) (\(duration(from: since, to: now)))" }
        if let adapter = status.adapter { title += ", \(TerminalText.line(adapter))" }
        guard status.state != .off else {
            let name = TerminalText.line(status.name)
            return title + "\n  see `systemctl status pharos-listen@\(name)` and its journal for the reason\n"
        }
        if let rate = status.reportsPerThousandSeconds { title += ", \(DecimalText.thousandths(rate)) reports/s" }
        var lines = title + "\n"
        lines +=
            "  received now: \(status.heardNow) of \(status.known) known beacons, \(status.strangers) other devices\n"
        if let lost = status.lost, lost > 0 { lines += "  lost: \(lost) reports\n" }
        if let broker = status.broker { lines += "  broker: \(TerminalText.line(broker))\n" }
        if status.spool.messages > 0 {
            let spool = status.spool
            lines += "  waiting: \(NumberFormat.count(spool.messages, "message"))"
            // The bytes of events that wait in the database are not counted.
            if spool.octets > 0 { lines += ", \(NumberFormat.count(spool.octets, "byte"))" }
            lines += status.spool.oldest.map { ", the oldest from \(TerminalText.line($0))\n" } ?? "\n"
        }
        return lines
    }

    /// The lines of a collector.
    public static func lines(_ status: CollectorStatus, now: RFC3339Time, color: Bool) -> String {
        let name = TerminalText.line(status.name)
        let code = status.isGood ? "32" : status.state == .recovering ? "33" : "31"
        var lines = "\(name): \(colored(status.state.rawValue, code, color))"
        if let since = status.since { lines += " since \(since) (\(duration(from: since, to: now)))" }
        switch status.state {
        case .standby: return lines + "; another collector is active for this site\n"
        case .off: return lines + "\n  see `systemctl status pharos-collect@\(name)` and its journal for the reason\n"
        case .collecting, .deaf, .recovering: break
        }
        let working = max(0, status.receivers - status.silentReceivers.count)
        lines += "\n  \(working) of \(status.receivers) receivers work, "
        lines += "\(NumberFormat.count(status.present, "beacon")) present\n"
        if !status.silentReceivers.isEmpty {
            lines += "  silent receivers: \(TerminalText.line(status.silentReceivers.joined(separator: ", ")))\n"
        }
        return lines + (status.broker.map { "  broker: \(TerminalText.line($0))\n" } ?? "")
    }

    /// The sentence about a clock of ephemeral ids that differs from the wall clock.
    ///
    /// - Parameter ahead: Seconds by which the clock of ephemeral ids is ahead; negative if it is behind.
    public static func eidClock(ahead: Int) -> String {
        let days = ahead.magnitude / 86_400
        return "the clock of ephemeral ids is \(NumberFormat.count(days, "day")) "
            + "(\(ahead.magnitude) s) \(ahead > 0 ? "ahead of" : "behind") the wall clock"
    }

    /// The text for a directory without status files: how to start a beacon, a listener or a collector.
    public static func noStatusFiles(in directory: String) -> String {
        """
        No beacon, listener or collector runs on this machine: there is no status file in \(directory).
        Start a beacon with `sudo pharos install FILE` or `pharos run FILE`,
        a listener with `systemctl enable --now pharos-listen@NAME` or `pharos listen FILE`,
        a collector with `systemctl enable --now pharos-collect@NAME` or `pharos collect FILE`.

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
        // The instance writes its status when it has verified the advertising; later events are not counted yet.
        let events = status.lastVerified == nil ? "events" : "events when verified"
        var table = Table(
            ["  frame", "address", "interval ms", "power dBm", events], alignment: [.left, .left, .left, .left])
        for (name, advertisement) in zip(status.frameNames, status.advertisements) {
            let note = advertisement.isEventCountFromController ? "" : " (computed)"
            let events = advertisement.events.map { "\($0)" + note }
            table.add([
                "  " + TerminalText.line(name), advertisement.address?.description ?? "-",
                interval(advertisement),
                granted(advertisement.grantedRadioPower, advertisement.radioPower, { "\($0)" }), events ?? "-",
            ])
        }
        return table.text
    }

    private static func interval(_ advertisement: InstanceStatus.AdvertisementStatus) -> String {
        if let pattern = advertisement.pattern { return intervals(pattern.pattern) }
        let requested = DecimalText.thousandths(advertisement.interval)
        guard let range = advertisement.grantedInterval else { return "unknown (requested \(requested))" }
        let bounds = [range.lowerBound, range.upperBound].map(DecimalText.thousandths)
        let text = bounds[0] == bounds[1] ? bounds[0] : bounds.joined(separator: "...")
        return text == requested ? text : "\(text) (requested \(requested))"
    }

    /// The intervals of a pattern in the order of its parts: `100/1000`.
    private static func intervals(_ pattern: AdvertisingPattern) -> String {
        pattern.parts.map { DecimalText.thousandths($0.interval.interval.microseconds) }.joined(separator: "/")
    }

    /// - Parameter milliseconds: The time since 1970; `nil` if the advertisement is not on the air.
    private static func text(_ status: InstanceStatus.PatternStatus, _ milliseconds: Int?) -> String {
        let parts = "pattern \(status.pattern)"
        guard let milliseconds else { return parts }
        let part = status.part(atUnixMilliseconds: milliseconds)
        return parts + "; now part \(part + 1), \(status.pattern.parts[part].interval.interval)"
    }

    /// The granted value, and the requested value if it differs.
    private static func granted(_ granted: Int?, _ requested: Int?, _ text: (Int) -> String) -> String {
        guard let requested, requested != granted else { return granted.map(text) ?? "unknown" }
        return (granted.map(text) ?? "unknown") + " (requested \(text(requested)))"
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

    /// A duration in its two largest units: `3 d 4 h`, `5 min 2 s`, `12 s`; `0 s` if the clock was set back.
    public static func duration(from begin: RFC3339Time, to end: RFC3339Time) -> String {
        let seconds = max(0, end.secondsSince1970 - begin.secondsSince1970)
        let (minutes, hours) = (seconds / 60, seconds / 3600)
        let units = [("d", hours / 24), ("h", hours % 24), ("min", minutes % 60), ("s", seconds % 60)]
        let largest = units.firstIndex { $0.1 > 0 } ?? units.count - 1
        let shownUnits = units[largest...].prefix(2).filter { $0.1 > 0 || $0.0 == "s" && largest == units.count - 1 }
        return shownUnits.map { "\($0.1) \($0.0)" }.joined(separator: " ")
    }
}
