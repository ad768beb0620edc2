/// A value of the page's block of JSON, from which its script starts.
indirect enum PageData {
    /// `null` for none and for what is not finite.
    case number(Double?)
    case text(String)
    case flag(Bool)
    case list([PageData])
    case object([(String, PageData)])

    /// JSON that may stand inside a script element.
    var json: String {
        switch self {
        case .number(let value): NumberText.exact(value) ?? "null"
        case .text(let value): HTMLEscaping.json(value)
        case .flag(let value): value ? "true" : "false"
        case .list(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { HTMLEscaping.json($0.0) + ":" + $0.1.json }.joined(separator: ",") + "}"
        }
    }

    /// The block as an element of the page.
    var element: String { "<script type=\"application/json\" id=\"plan\">\(json)</script>\n" }
}

extension Scale {
    /// The axis as the script takes it.
    var data: PageData {
        .object([
            ("low", .number(domain.lowerBound)), ("high", .number(domain.upperBound)), ("start", .number(start)),
            ("end", .number(end)), ("isLogarithmic", .flag(isLogarithmic)),
        ])
    }
}

extension PlotArea {
    /// The chart as the script takes it, with so many places from left to right.
    func data(samples: Int) -> PageData {
        .object([("x", x.data), ("y", y.data), ("samples", .number(Double(samples)))])
    }
}
