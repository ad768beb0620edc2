internal import BluetoothTypes

/// Values that several kinds of files have.
extension ConfigurationDecoder {
    /// Of a text that people read, in characters, unless said otherwise.
    package static let labelLimit = 100

    /// A number with up to three decimals that count.
    package mutating func thousandths(_ node: JSONNode?, in range: ClosedRange<Int>, unit: String) -> Int? {
        guard let node, let number = self.number(node) else { return nil }
        guard let value = number.thousandths, !number.isLess(thanThousandths: range.lowerBound),
            !number.isGreater(thanThousandths: range.upperBound)
        else {
            error(
                "\(ProblemText.shortened(number.text)) is out of range \(DecimalText.thousandths(range.lowerBound))..."
                    + "\(DecimalText.thousandths(range.upperBound)) \(unit)", at: node)
            return nil
        }
        return value
    }

    /// A number in `range`.
    package mutating func real(_ node: JSONNode?, in range: ClosedRange<Double>, unit: String = "") -> Double? {
        guard let node, let number = number(node) else { return nil }
        guard let value = Double(number.text), range.contains(value) else {
            let bounds = "\(JSONValue.real(range.lowerBound).line)...\(JSONValue.real(range.upperBound).line)"
            error(
                "\(ProblemText.shortened(number.text)) is out of range \(bounds)" + (unit.isEmpty ? "" : " " + unit),
                at: node)
            return nil
        }
        return value
    }

    /// A path, which is not opened.
    package mutating func filePath(_ node: JSONNode?, of what: String) -> String? {
        guard let node, let path = text(node) else { return nil }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            error("the name of \(what) is expected", at: node)
            return nil
        }
        return path
    }

    /// A text that people read.
    ///
    /// - Parameter limit: In characters.
    package mutating func label(
        _ node: JSONNode?, limit: Int = labelLimit, isEmptyGood: Bool = false
    ) -> String? {
        guard let node, let text = self.text(node) else { return nil }
        if text.isEmpty, !isEmptyGood {
            error("a text is expected, not an empty one", at: node)
            return nil
        }
        let count = text.unicodeScalars.count
        guard count <= limit else {
            error("\(count) characters are more than the \(limit) that there may be", at: node)
            return nil
        }
        return text
    }
}
