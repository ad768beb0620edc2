public import BluetoothTypes
internal import HCI

/// The position of an advertisement in the cycle of its pattern.
///
/// The cycle begins when the advertisement is first on the air. It continues during an outage, so after the outage the
/// advertisement uses the part that is current then. A part that begins late still ends on time, so delays do not add
/// up.
struct PatternClock: Hashable, Sendable {
    let pattern: AdvertisingPattern
    /// The time at which the first cycle began; `nil` before the start.
    private(set) var start: HCIInstant?
    /// The position of the current part.
    private(set) var part = 0
    /// The time at which the current part ends; `nil` before the start.
    private(set) var end: HCIInstant?

    init(_ pattern: AdvertisingPattern) {
        self.pattern = pattern
    }

    /// The interval of the current part.
    var interval: AdvertisingInterval { pattern.parts[part].interval.interval }

    /// Begins the first cycle. Does nothing if it has already begun.
    mutating func begin(at now: HCIInstant) {
        guard start == nil else { return }
        start = now
        update(to: now)
    }

    /// Changes to the part that belongs to `now`. Does nothing before the start.
    mutating func update(to now: HCIInstant) {
        guard let start else { return }
        let position = pattern.position(after: now.microseconds(since: start))
        part = position.part
        end = now.advanced(byMicroseconds: position.rest)
    }
}

/// The pattern of an advertisement that is on the air, and its current part.
public struct OnAirPattern: Hashable, Sendable {
    public let pattern: AdvertisingPattern
    /// The position of the current part in the pattern.
    public let part: Int
    /// The time since the beginning of the first cycle, in microseconds.
    public let elapsed: Int

    init?(_ clock: PatternClock?, at now: HCIInstant) {
        guard let clock, let start = clock.start else { return nil }
        pattern = clock.pattern
        part = clock.part
        elapsed = max(0, now.microseconds(since: start))
    }
}
