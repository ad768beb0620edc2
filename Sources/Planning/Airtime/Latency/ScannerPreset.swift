internal import BluetoothTypes

/// A scanner with its scan window and interval: a well-known scanner from ``all``, or a scanner that the user
/// describes.
public struct ScannerPreset: Hashable, Sendable {
    /// The name on the command line.
    public var name: String
    /// Window, interval and channels.
    public var pattern: ScanPattern
    /// g: the time at the start of each window that is lost while the radio changes its channel, in µs.
    public var windowGapMicroseconds: Double
    /// t_d: the time after each decoded packet in which the scanner cannot receive, in µs.
    public var deadTimeMicroseconds: Double
    /// The source of the numbers and their uncertainty, in one or two sentences; empty if there is none.
    public var source: String

    public init(
        name: String, pattern: ScanPattern, windowGapMicroseconds: Double = 0, deadTimeMicroseconds: Double = 0,
        source: String = ""
    ) {
        self.name = name
        self.source = source
        self.pattern = pattern
        self.windowGapMicroseconds = windowGapMicroseconds
        self.deadTimeMicroseconds = deadTimeMicroseconds
    }

    /// Creates a scanner with a window and an interval in µs, even if no controller supports them. The name consists of
    /// both times, such as `30/60 ms`.
    ///
    /// Throws for an empty window, and for a window longer than the interval.
    public init(windowMicroseconds window: Int, intervalMicroseconds interval: Int) throws(AirtimeError) {
        self.init(
            name: "\(DecimalText.thousandths(window))/\(DecimalText.thousandths(interval)) ms",
            pattern: try ScanPattern(windowMicroseconds: window, intervalMicroseconds: interval))
    }

    /// True if the scanner does not listen all the time.
    public var pauses: Bool { pattern.windowMicroseconds < pattern.intervalMicroseconds }

    /// True if the scanner loses time at the start of its windows or after received packets.
    public var losesTime: Bool { windowGapMicroseconds > 0 || deadTimeMicroseconds > 0 }

    /// A scanner that never pauses.
    public static let continuous = ScannerPreset(
        name: "continuous", pattern: .continuous, source: "The ideal receiver: one channel, without a pause.")

    /// All presets, starting with the popular presets.
    public static let all: [ScannerPreset] = [
        scanner("android-low-power", 512, 5120, olderAndroid("SCAN_MODE_LOW_POWER")),
        scanner("android-balanced", 1024, 4096, olderAndroid("SCAN_MODE_BALANCED")),
        scanner("android-low-latency", 4096, 4096, olderAndroid("SCAN_MODE_LOW_LATENCY")),
        scanner("android-14-low-power", 140, 1400, android14("SCAN_MODE_LOW_POWER")),
        scanner("android-14-balanced", 183, 730, android14("SCAN_MODE_BALANCED")),
        scanner("android-14-low-latency", 100, 100, android14("SCAN_MODE_LOW_LATENCY")),
        scanner(
            "android-14-screen-off", 512, 10_240,
            android14("SCAN_MODE_SCREEN_OFF")
                + " Used for apps in the background while the screen is off, if they scan with a filter."),
        scanner(
            "ios-foreground", 30, 40,
            "Reported by developers for an app in the foreground; Apple publishes no values. Uncertain: iOS also drops "
                + "reports, so an app may receive fewer than computed (a thesis received about two thirds of the packets)."
        ),
        scanner(
            "ios-background", 30, 300,
            "Assumed to equal ios-find-my. Apple publishes only that the scan interval grows when all apps "
                + "that scan are in the background. Very uncertain: discovery may take several times as long."),
        scanner("ios-find-my", 30, 300, "Quoted for Apple's Find My network; Apple publishes no values."),
        scanner("harmony", 20, 600, "Quoted for HarmonyOS."),
        continuous,
        scanner("gateway-60-600", 60, 600, "Used by gateways."),
        scanner("gateway-60-3000", 60, 3000, "Used by gateways that save power."),
        scanner(
            "esp32-proxy", 30, 320,
            "The default of ESPHome's esp32_ble_tracker, the component of Bluetooth proxies."),
        scanner("linux", 60, 60, "The passive scan of Pharos on Linux: no pause, a change of the channel every 60 ms."),
    ].compactMap { $0 }

    private static func olderAndroid(_ mode: String) -> String {
        "Android's open source, \(mode), in older releases. For newer phones, use the scanners with android-14 in their names."
    }

    private static func android14(_ mode: String) -> String {
        "Android's open source, \(mode) in ScanManager.java of packages/modules/Bluetooth, for Android 14 and later. The "
            + "first release with these values is not known."
    }

    /// Creates the preset of that name; nil if no preset has this name.
    public init?(named name: String) {
        guard let preset = Self.all.first(where: { $0.name == name }) else { return nil }
        self = preset
    }

    private static func scanner(_ name: String, _ window: Int, _ interval: Int, _ source: String) -> ScannerPreset? {
        (try? ScanPattern(windowMicroseconds: window * 1000, intervalMicroseconds: interval * 1000))
            .map { ScannerPreset(name: name, pattern: $0, source: source) }
    }
}

/// The times at which a scanner with one radio listens: during [0, W) of each scan interval I, on one channel. In each
/// interval it listens on the next channel (37, 38, 39, 37, …). Its phase is uniform over the whole cycle.
/// Core Specification 5.4, Vol 6 Part B 4.4.3.
public struct ScanPattern: Hashable, Sendable {
    /// W in µs.
    public let windowMicroseconds: Int
    /// I in µs.
    public let intervalMicroseconds: Int
    /// The number of channels: 3, or 1 for a receiver that stays on one channel.
    public let channelCount: Int

    /// Creates a pattern with times in µs, even if no controller supports them.
    ///
    /// Throws for an empty window, a window longer than the interval, and a number of channels other than 1 and 3.
    public init(windowMicroseconds: Int, intervalMicroseconds: Int, channelCount: Int = 3) throws(AirtimeError) {
        guard windowMicroseconds > 0, windowMicroseconds <= intervalMicroseconds else {
            throw .scan(windowMicroseconds: windowMicroseconds, intervalMicroseconds: intervalMicroseconds)
        }
        guard channelCount == 1 || channelCount == 3 else {
            throw .quantity(name: "a number of channels", value: Double(channelCount))
        }
        self.windowMicroseconds = windowMicroseconds
        self.intervalMicroseconds = intervalMicroseconds
        self.channelCount = channelCount
    }

    /// One channel without a pause. The scan interval of this pattern has no meaning.
    public static let continuous = ScanPattern()

    private init() {
        windowMicroseconds = 10_240_000
        intervalMicroseconds = 10_240_000
        channelCount = 1
    }
}
