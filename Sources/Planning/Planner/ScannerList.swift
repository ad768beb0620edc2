public import Airtime
internal import BluetoothTypes
public import Configuration

/// Scanners with their windows and intervals and the sources of these numbers, as text and as JSON.
public struct ScannerList: Sendable {
    public let scanners: [ScannerPreset]

    public init(_ scanners: [ScannerPreset]) { self.scanners = scanners }

    /// A table of the scanners, followed by their sources.
    public var text: String {
        var table = Table(
            ["scanner", "window (ms)", "interval (ms)", "listens"], alignment: [.left, .right, .right, .right])
        for scanner in scanners {
            let pattern = scanner.pattern
            table.add([
                scanner.name, milliseconds(isContinuous(scanner) ? nil : pattern.windowMicroseconds),
                milliseconds(isContinuous(scanner) ? nil : pattern.intervalMicroseconds),
                NumberFormat.percent(Double(pattern.windowMicroseconds) / Double(pattern.intervalMicroseconds)),
            ])
        }
        let citations = scanners.filter { !$0.source.isEmpty }.map { scanner in
            "- \(scanner.name): \(TerminalText.line(scanner.source))\n"
        }
        return table.text + "\n" + citations.joined()
    }

    public var json: JSONValue {
        PlanQuantity.object([
            (
                .knownScanners,
                .list(
                    scanners.map { scanner in
                        let pattern = scanner.pattern
                        return .object([
                            (.knownName, .word(scanner.name)),
                            (.knownWindow, .milliseconds(Double(pattern.windowMicroseconds) / 1000)),
                            (.knownInterval, .milliseconds(Double(pattern.intervalMicroseconds) / 1000)),
                            (.knownChannels, .count(pattern.channelCount)),
                            (.knownGap, .milliseconds(scanner.windowGapMicroseconds / 1000)),
                            (.knownDeadTime, .milliseconds(scanner.deadTimeMicroseconds / 1000)),
                            (.knownSource, scanner.source.isEmpty ? .nothing : .word(scanner.source)),
                        ])
                    })
            )
        ]).json
    }

    private func milliseconds(_ microseconds: Int?) -> String {
        microseconds.map { DecimalText.thousandths($0) } ?? NumberFormat.none
    }

    /// A scanner that stays on one channel has no scan interval.
    private func isContinuous(_ scanner: ScannerPreset) -> Bool { scanner.pattern.channelCount == 1 && !scanner.pauses }

    /// The keys of the JSON.
    static let keys: [PlanKey] = [
        .knownScanners, .knownName, .knownWindow, .knownInterval, .knownChannels, .knownGap, .knownDeadTime,
        .knownSource,
    ]
}

extension PlanKey {
    fileprivate static let knownScanners = PlanKey("scanners", "The scanners; scanners of --scanner-file are first.")
    fileprivate static let knownName = PlanKey("scanners[].name", "Name for --scanner and --scanners.")
    fileprivate static let knownWindow = PlanKey(
        "scanners[].windowMs", "Time for which the scanner listens in each scan interval, in ms.")
    fileprivate static let knownInterval = PlanKey("scanners[].intervalMs", "Scan interval in ms.")
    fileprivate static let knownChannels = PlanKey(
        "scanners[].channels", "Number of channels: 3, or 1 for a receiver that stays on one channel.")
    fileprivate static let knownGap = PlanKey(
        "scanners[].windowGapMs", "Part of each scan window that the scanner loses while it changes the channel, in ms."
    )
    fileprivate static let knownDeadTime = PlanKey(
        "scanners[].deadTimeMs", "Time after each received packet in which the scanner cannot receive, in ms.")
    fileprivate static let knownSource = PlanKey(
        "scanners[].source", "Source of the numbers and their uncertainty; null if the file does not state it.")
}
