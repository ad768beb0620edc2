internal import Airtime

/// The part of the page that answers again when a control moves: controls, numbers, and two curves.
struct ExplorerSection {
    let explorer: PlanPageContent.Explorer
    let limits: PageLimits

    /// Names are shortened alike in the list and in the data.
    private var scanners: [PlanPageContent.Scanner] {
        explorer.scanners.prefix(limits.scanners).map { .init(HTMLEscaping.shortened($0.name, to: 80), $0.pattern) }
    }

    private var chosen: String { HTMLEscaping.shortened(explorer.scannerName, to: 80) }

    var html: String {
        "<section class=\"explorer\" aria-labelledby=\"explorerTitle\"><h2 id=\"explorerTitle\">What if</h2>\n"
            + "<p class=\"hint\">Move a control: every number and both curves are computed again, here in the page."
            + "</p>\n" + controls + "<p id=\"sentence\" role=\"status\" aria-live=\"polite\"></p>\n" + tiles
            + "<div class=\"pair\">" + ExplorerFigures(explorer: explorer, limits: limits).html + "</div></section>\n"
    }

    private var controls: String {
        let capture = explorer.captureDecibels
        let thresholds = Set([6, 9, 12, 15, 18, 21] + (capture.map { [$0] } ?? [])).filter(\.isFinite).sorted()
        let captures =
            [option("", "none", isChosen: capture == nil)]
            + thresholds.map { option("\($0)", NumberText.significant($0) + " dB", isChosen: $0 == capture) }
        let names = scanners.map { option($0.name, $0.name, isChosen: $0.name == chosen) }
        return "<form id=\"controls\" class=\"card controls\" autocomplete=\"off\">"
            + number("beacons", "Beacons in range", "\(explorer.beacons)", "min=\"1\" max=\"100000\" step=\"1\"")
            + number(
                "intervalMs", "Advertising interval (ms)", NumberText.significant(explorer.intervalMs, 9),
                "min=\"20\" max=\"10240\" step=\"any\"")
            + number(
                "payloadOctets", "Payload (octets)", "\(explorer.payloadOctets)", "min=\"0\" max=\"31\" step=\"1\"")
            + select("scanner", "Scanner", names) + select("captureDecibels", "Capture above", captures)
            + "<div class=\"control\"><button type=\"reset\" id=\"reset\">As the command said</button></div></form>\n"
            + "<noscript><p class=\"hint\">The controls need scripts. The numbers below are the program's own.</p>"
            + "</noscript>\n"
    }

    private func number(_ id: String, _ label: String, _ value: String, _ limits: String) -> String {
        "<div class=\"control\"><label for=\"\(id)\">\(label)</label>"
            + "<input id=\"\(id)\" type=\"number\" inputmode=\"decimal\" required value=\"\(value)\" \(limits)>"
            + "<input id=\"\(id)Slider\" type=\"range\" min=\"0\" max=\"1000\" value=\"0\" aria-label=\"\(label), slider\">"
            + "</div>"
    }

    private func select(_ id: String, _ label: String, _ options: [String]) -> String {
        "<div class=\"control\"><label for=\"\(id)\">\(label)</label><select id=\"\(id)\">\(options.joined())</select>"
            + "</div>"
    }

    private func option(_ value: String, _ text: String, isChosen: Bool) -> String {
        "<option value=\"\(HTMLEscaping.text(value))\"\(isChosen ? " selected" : "")>\(HTMLEscaping.text(text))</option>"
    }

    private var tiles: String {
        let numbers = explorer.numbers
        let airtime = numbers.airtimeMicroseconds.map { NumberText.significant($0, 4) + " µs" } ?? NumberText.none
        let arrivals = NumberText.significant(numbers.arrivalsPerSecondPerBeacon)
        let seen = [
            tile("latencyP50", "Half have seen it after", NumberText.duration(numbers.latencyP50), numbers.latencyP50),
            tile("latencyP90", "90 of 100 after", NumberText.duration(numbers.latencyP90), numbers.latencyP90),
            tile("latencyP95", "95 of 100 after", NumberText.duration(numbers.latencyP95), numbers.latencyP95),
            tile("latencyP99", "99 of 100 after", NumberText.duration(numbers.latencyP99), numbers.latencyP99),
        ]
        let air = [
            tile(
                "collisionFreeProbability", "Packets that arrive clear",
                NumberText.percent(numbers.collisionFreeProbability), numbers.collisionFreeProbability),
            tile(
                "arrivalsPerSecondPerBeacon", "Arrive a second, each beacon", arrivals,
                numbers.arrivalsPerSecondPerBeacon),
            tile(
                "lossAfterLossProbability", "Lost again after a loss",
                NumberText.percent(numbers.lossAfterLossProbability), numbers.lossAfterLossProbability),
            tile("channelLoad", "Channel load", NumberText.percent(numbers.channelLoad), numbers.channelLoad),
            tile("airtimeMicroseconds", "One packet on the air", airtime, numbers.airtimeMicroseconds),
        ]
        let best = [
            tile(
                "bestLatencyIntervalMs", "Best interval to be seen surely", interval(numbers.bestLatencyIntervalMs),
                numbers.bestLatencyIntervalMs),
            tile(
                "bestThroughputIntervalMs", "Best interval for most packets",
                interval(numbers.bestThroughputIntervalMs), numbers.bestThroughputIntervalMs),
            tile("captureLow", "Clear with capture, at least", NumberText.none, nil, isHidden: true),
            tile("captureHigh", "Clear with capture, at most", NumberText.none, nil, isHidden: true),
        ]
        return "<dl class=\"tiles seen\" id=\"latencyNumbers\">\(seen.joined())</dl>"
            + "<dl class=\"tiles\">\(air.joined())</dl><dl class=\"tiles best\">\(best.joined())</dl>\n"
    }

    private func interval(_ value: Double?) -> String {
        value.map { NumberText.significant($0, 7) + " ms" } ?? NumberText.none
    }

    private func tile(
        _ id: String, _ name: String, _ shown: String, _ value: Double?, isHidden: Bool = false
    ) -> String {
        "<div\(isHidden ? " hidden" : "")><dt>\(name)</dt><dd>\(HTML.number(id: id, shown: shown, value: value))</dd></div>"
    }

    /// What the script starts from, as a block of JSON.
    var data: String {
        let capture = NumberText.exact(explorer.captureDecibels) ?? "null"
        let list = scanners.map { scanner in
            "{\"name\":\(HTMLEscaping.json(scanner.name)),"
                + "\"windowMs\":\(Double(scanner.pattern.windowMicroseconds) / 1000),"
                + "\"intervalMs\":\(Double(scanner.pattern.intervalMicroseconds) / 1000),"
                + "\"channels\":\(scanner.pattern.channelCount)}"
        }
        let numbers = [
            ("beacons", "\(explorer.beacons)"), ("intervalMs", json(explorer.intervalMs)),
            ("payloadOctets", "\(explorer.payloadOctets)"), ("captureDecibels", capture),
            ("shadowingDecibels", json(explorer.shadowingDecibels)), ("backgroundLoad", json(explorer.backgroundLoad)),
            ("backgroundAirtimeMs", json((explorer.backgroundAirtimeMicroseconds ?? 0) / 1000)),
            ("copySpacingMs", json(explorer.copySpacingMs)), ("horizonS", json(explorer.horizonSeconds)),
            ("scanner", HTMLEscaping.json(chosen)), ("scanners", "[\(list.joined(separator: ","))]"),
        ]
        let body = numbers.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        return "<script type=\"application/json\" id=\"plan\">{\(body)}</script>\n"
    }

    private func json(_ value: Double) -> String { NumberText.exact(value) ?? "0" }
}
