internal import PlanReport

/// Numbers of a plan as people read them: on the terminal as on the page.
enum PlanNumber {
    /// Three significant digits, with decimals only where they say something: 0.167, 16.7, 1670.
    static func text(_ value: Double?, digits: Int = 3) -> String { NumberText.significant(value, digits) }

    /// A time in the unit that reads best.
    static func duration(_ seconds: Double?) -> String { NumberText.duration(seconds) }

    static func percent(_ share: Double?) -> String { NumberText.percent(share) }

    /// `one beacon`, `250 beacons`.
    static func beacons(_ count: Int) -> String { count == 1 ? "one beacon" : "\(count) beacons" }

    static func milliseconds(_ microseconds: Double) -> String { text(microseconds / 1000, digits: 6) }
}
