package import Airtime
internal import BluetoothTypes
internal import Configuration

/// Parses scanners and mixes of scanners as users write them.
package enum ScannerText {
    /// Returns the scanner with a name: one of the user's own scanners, or a predefined scanner.
    package static func scanner(_ text: String, own: [ScannerPreset]) throws -> ScannerPreset {
        if let preset = own.first(where: { $0.name == text }) ?? ScannerPreset(named: text.lowercased()) {
            return preset
        }
        let names = (own + ScannerPreset.all).map(\.name)
        let family = names.filter { $0.hasPrefix(text.lowercased() + "-") }
        if !family.isEmpty { throw Mistake("use one of \(family.joined(separator: ", "))") }
        throw OptionValue.unknown(text, names)
    }

    /// Parses a mix such as `android-low-power:6,continuous:1`. Weights may also be percentages that add up to 100 %.
    /// Without weights, all scanners have the same weight.
    package static func mix(_ text: String, own: [ScannerPreset]) throws -> ScannerMix {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { ScannerPart($0) }
        var weighted: [(scanner: ScannerPreset, weight: Double)] = []
        for (index, part) in parts.enumerated() {
            let prefix = parts.count > 1 ? "part \(index + 1), \(ProblemText.quoted(part.text)): " : ""
            do {
                guard !part.name.isEmpty else {
                    throw Mistake("write a scanner and its weight, such as continuous:1")
                }
                guard part.isPercentage == parts[0].isPercentage, (part.weight == nil) == (parts[0].weight == nil)
                else { throw Mistake("give weights to all scanners, percentages to all, or none at all") }
                let scanner = try scanner(part.name, own: own)
                guard !weighted.contains(where: { $0.scanner.name == scanner.name }) else {
                    throw Mistake("\(scanner.name) occurs twice; add up its weights")
                }
                weighted.append((scanner, try part.weightValue))
            } catch let mistake as Mistake {
                throw Mistake(prefix + "\(mistake)")
            }
        }
        let sum = weighted.reduce(0) { $0 + $1.weight }
        if parts[0].isPercentage, abs(sum - 100) > 1e-6 {
            throw Mistake("the percentages add up to \(NumberFormat.significant(sum, 6)) %, not to 100 %")
        }
        do {
            return try ScannerMix(weighted)
        } catch {
            throw Mistake("\(error)")
        }
    }

    /// A scanner and its weight, as the user has written them.
    private struct ScannerPart {
        let text: String
        let name: String
        /// The text after the colon, without a percent sign; `nil` without a colon.
        let weight: String?
        let isPercentage: Bool

        init(_ part: Substring) {
            func trimmed(_ text: Substring) -> String {
                String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            text = trimmed(part)
            let colon = part.lastIndex(of: ":")
            name = trimmed(part[..<(colon ?? part.endIndex)])
            let tail = colon.map { trimmed(part[part.index(after: $0)...]) }
            isPercentage = tail?.hasSuffix("%") ?? false
            weight = tail.map { $0.hasSuffix("%") ? trimmed($0.dropLast()) : $0 }
        }

        /// The weight as a number above 0; 1 if there is no weight.
        var weightValue: Double {
            get throws {
                guard let weight else { return 1 }
                guard let number = Double(weight), !number.isNaN else {
                    throw Mistake("the weight is not a number; write a weight such as 6, or such as 60%")
                }
                guard number > 0 else {
                    throw Mistake("the weight must be above 0; leave out a scanner without visitors")
                }
                guard number.isFinite else { throw Mistake("the weight must not be infinite") }
                return number
            }
        }
    }
}
