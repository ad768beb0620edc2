/// A sentence for the operator of a service.
public struct Notice: Hashable, Sendable {
    public var text: String
    /// True for a failure; false for a message that needs no action, for example that a file can be written again.
    public var isWarning: Bool

    /// Creates a notice.
    public init(_ text: String, isWarning: Bool) {
        self.text = text
        self.isWarning = isWarning
    }
}

/// Collects notices about failures. Of a series of equal failures, only the beginning and the end are reported.
struct FailureReport {
    private(set) var isFailing = false
    private var notices: [Notice] = []

    mutating func begin(_ text: String) {
        if !isFailing { notices.append(Notice(text, isWarning: true)) }
        isFailing = true
    }

    mutating func end(_ text: String) {
        if isFailing { notices.append(Notice(text, isWarning: false)) }
        isFailing = false
    }

    mutating func report(_ text: String) { notices.append(Notice(text, isWarning: true)) }

    mutating func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }
}
