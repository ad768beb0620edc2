/// How far a long question has come.
public struct PlanProgress: Hashable, Sendable {
    /// What is counted, such as `places`.
    public var what: String
    public var done: Int
    /// How many there will be; an estimate where ``isEstimate``, `nil` where nobody can tell.
    public var total: Int?
    /// Whether the end is only estimated.
    public var isEstimate: Bool
    /// What is known so far; may be empty.
    public var remark: String

    /// So many of `total` are done, which is left out where nobody can tell.
    public init(_ what: String, done: Int, of total: Int?, isEstimate: Bool = false, remark: String = "") {
        self.what = what
        self.done = done
        self.total = total
        self.isEstimate = isEstimate
        self.remark = remark
    }

    /// For one line of a terminal: `1200 of 2000 places`, `340 of about 900 batches: 0.167 ± 0.002`.
    public var text: String {
        let end = total.map { " of \(isEstimate ? "about " : "")\(max($0, done))" } ?? ""
        return "\(done)\(end) \(what)" + (remark.isEmpty ? "" : ": " + remark)
    }
}

/// Is told now and then how far a question has come; `false` ends it with what there is.
public typealias PlanObserver = (PlanProgress) -> Bool
