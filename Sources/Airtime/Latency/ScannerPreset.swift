/// How a well-known scanner listens, as plain data: take one, change it, or make another.
public struct ScannerPreset: Hashable, Sendable {
    /// The name on the command line.
    public var name: String
    /// Window, interval and channels.
    public var pattern: ScanPattern
    /// g: what each window loses to the change of channel, in µs.
    public var windowGapMicroseconds: Double
    /// t_d: how long the scanner is deaf after each packet it decoded, in µs.
    public var deadTimeMicroseconds: Double

    public init(
        name: String, pattern: ScanPattern, windowGapMicroseconds: Double = 0, deadTimeMicroseconds: Double = 0
    ) {
        self.name = name
        self.pattern = pattern
        self.windowGapMicroseconds = windowGapMicroseconds
        self.deadTimeMicroseconds = deadTimeMicroseconds
    }

    /// The presets by name, the popular ones first. Android's three are the values of its open source; iOS is the
    /// Find My network's; the windows of 60 ms are in use in gateways.
    public static let all: [ScannerPreset] = [
        scanner("android-low-power", 512, 5120), scanner("android-balanced", 1024, 4096),
        scanner("android-low-latency", 4096, 4096), scanner("ios-find-my", 30, 300), scanner("harmony", 20, 600),
        ScannerPreset(name: "continuous", pattern: .continuous),
        scanner("gateway-60-600", 60, 600), scanner("gateway-60-3000", 60, 3000),
    ].compactMap { $0 }

    /// The preset of that name; nil when there is none.
    public init?(named name: String) {
        guard let preset = Self.all.first(where: { $0.name == name }) else { return nil }
        self = preset
    }

    private static func scanner(_ name: String, _ window: Int, _ interval: Int) -> ScannerPreset? {
        (try? ScanPattern(windowMicroseconds: window * 1000, intervalMicroseconds: interval * 1000))
            .map { ScannerPreset(name: name, pattern: $0) }
    }
}
