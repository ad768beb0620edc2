import Airtime
import Testing

@Suite struct ScannerPresetTests {
    @Test(
        "each Android preset has the window and interval of its release, and names it in its source",
        arguments: [
            ("android-low-power", 512, 5120), ("android-balanced", 1024, 4096), ("android-low-latency", 4096, 4096),
            ("android-14-low-power", 140, 1400), ("android-14-balanced", 183, 730),
            ("android-14-low-latency", 100, 100), ("android-14-screen-off", 512, 10_240),
        ])
    func androidPresetsHaveTheWindowsOfTheirReleases(name: String, window: Int, interval: Int) throws {
        let scanner = try #require(ScannerPreset(named: name))
        #expect(scanner.pattern.windowMicroseconds == window * 1000)
        #expect(scanner.pattern.intervalMicroseconds == interval * 1000)
        #expect(scanner.source.contains("Android's open source, SCAN_MODE_"))
        #expect(scanner.source.contains(name.contains("14") ? "Android 14 and later" : "older releases"))
    }

    @Test(
        "an interval that suits one release may resonate with another",
        arguments: [
            ("android-low-power", false), ("android-balanced", false), ("android-14-balanced", true),
        ])
    func anIntervalMayResonateWithOneReleaseOnly(name: String, isResonant: Bool) throws {
        let preset = try #require(ScannerPreset(named: name))
        let slowest = try Resonance.slowest(
            intervalMicroseconds: 760_000, pattern: preset.pattern, airtimeMicroseconds: 376)
        #expect((slowest?.slowness ?? 0 >= Resonance.avoidedSlowness) == isResonant)
    }
}
