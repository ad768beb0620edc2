/// Numbers of a plan as people read them.
enum PlanNumber {
    /// Three significant digits, with decimals only where they say something: 0.167, 16.7, 1670.
    ///
    /// What is tiny but not nothing keeps its digits: 3.2e-12, never 0.000.
    static func text(_ value: Double?, digits: Int = 3) -> String {
        guard let value, value.isFinite else { return "–" }
        guard value != 0 else { return "0" }
        let magnitude = abs(value)
        if magnitude < 1e-4 || magnitude >= 1e15 { return scientific(value, digits: digits) }
        var scale = 1.0
        var decimals = 0
        while magnitude * scale < tenTo(digits - 1), decimals < 12 {
            scale *= 10
            decimals += 1
        }
        return fixed(value, decimals: decimals)
    }

    /// Seconds, or milliseconds below one.
    static func duration(_ seconds: Double?) -> String {
        guard let seconds else { return "–" }
        if seconds < 1 { return text(seconds * 1000) + " ms" }
        if seconds < 600 { return text(seconds) + " s" }
        return seconds < 7200 ? text(seconds / 60) + " min" : text(seconds / 3600) + " h"
    }

    static func percent(_ share: Double?) -> String {
        guard let share else { return "–" }
        // What is left of a rounding error is not told from nothing.
        if share > 0, share < 1e-9 { return "< 1e-7 %" }
        // 99.97 % must not be read as certainty.
        let digits = share > 0.99 && share < 1 ? min(8, 2 + Self.nines(share)) : 3
        return text(share * 100, digits: digits) + " %"
    }

    /// `one beacon`, `250 beacons`.
    static func beacons(_ count: Int) -> String { count == 1 ? "one beacon" : "\(count) beacons" }

    static func milliseconds(_ microseconds: Double) -> String { text(microseconds / 1000, digits: 6) }

    private static func nines(_ share: Double) -> Int {
        var (rest, count) = (1 - share, 0)
        while rest < 0.1, count < 8 {
            rest *= 10
            count += 1
        }
        return count
    }

    private static func fixed(_ value: Double, decimals: Int) -> String {
        let scale = tenTo(decimals)
        let rounded = (abs(value) * scale).rounded()
        let whole = (rounded / scale).rounded(.down)
        var text = (value < 0 ? "-" : "") + "\(Int(whole))"
        if decimals > 0 {
            let digits = String(Int(rounded - whole * scale))
            var fraction = String(repeating: "0", count: max(0, decimals - digits.count)) + digits
            while fraction.last == "0" { fraction.removeLast() }
            if !fraction.isEmpty { text += "." + fraction }
        }
        return text
    }

    private static func scientific(_ value: Double, digits: Int) -> String {
        var (mantissa, exponent) = (abs(value), 0)
        while mantissa < 1 {
            mantissa *= 10
            exponent -= 1
        }
        // What rounds up to 10 has one digit more.
        while mantissa >= 10 - 5 / tenTo(digits) {
            mantissa /= 10
            exponent += 1
        }
        return (value < 0 ? "-" : "") + fixed(mantissa, decimals: digits - 1) + "e\(exponent)"
    }

    private static func tenTo(_ power: Int) -> Double {
        (0..<max(0, power)).reduce(1.0) { value, _ in value * 10 }
    }
}
