import Glibc
import LinuxHost

/// The lines of the report. Every number has its unit, and every target is marked as met or missed.
struct Report {
    func section(_ title: String) {
        print("\n\(title)\n" + String(repeating: "-", count: title.count))
    }

    func line(_ text: String) { print(text) }

    /// Prints a row of a table: the first column on the left, the numbers on the right.
    func row(_ name: String, _ columns: [String], width: Int = 13) {
        let padded = columns.map { String(repeating: " ", count: max(1, width - $0.count)) + $0 }
        print(name + String(repeating: " ", count: max(0, 18 - name.count)) + padded.joined())
    }

    /// Prints a number and its limit.
    func target(_ what: String, _ value: Double, _ unit: String, atMost limit: Double, digits: Int = 2) {
        let verdict = value <= limit ? "met" : "MISSED"
        let unit = unit.isEmpty ? "" : " " + unit
        print("\(what): \(value.text(digits))\(unit); target ≤ \(limit.shortText)\(unit): \(verdict)")
    }

    /// Prints clearly that a value was not measured.
    func notMeasured(_ what: String, because reason: String) {
        print("!!! \(what): NOT MEASURED: \(reason)")
    }
}

extension Double {
    /// Returns the number rounded to `digits` decimals, or as Swift prints it if it is too large for an integer.
    func text(_ digits: Int) -> String {
        let scale = (0..<max(0, digits)).reduce(1.0) { scale, _ in scale * 10 }
        guard let scaled = Int(exactly: (magnitude * scale).rounded()) else { return "\(self)" }
        let number = String(scaled)
        let padded = String(repeating: "0", count: max(0, digits + 1 - number.count)) + number
        let sign = self < 0 && scaled != 0 ? "-" : ""
        return sign + padded.dropLast(digits) + (digits > 0 ? "." + padded.suffix(digits) : "")
    }

    /// The number with one decimal; a whole number without decimals.
    var shortText: String { Int(exactly: self).map { String($0) } ?? text(1) }

    /// The rounded number in groups of three digits.
    var grouped: String {
        let digits = text(0)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return result
    }
}

extension Report {
    /// Ends the program with a message if something could not be measured.
    static func complain(_ message: String) -> Never {
        var standardError = StandardError()
        print(message, to: &standardError)
        exit(1)
    }

    private struct StandardError: TextOutputStream {
        mutating func write(_ text: String) {
            try? Descriptor(owning: dup(STDERR_FILENO)).writeAll(Array(text.utf8))
        }
    }
}
