/// One self-contained page of a plan: HTML with its style, script and drawings inside, under 500 KB, that asks nothing
/// of any network. A Content-Security-Policy holds it to that: it allows one style and one script, by their hashes.
///
/// What would make the page too large is shortened: texts beyond some hundred characters, charts beyond what the eye
/// can tell, floor plans beyond 6000 points (an even part of them is drawn, and said to be one).
public struct PlanPage: Sendable {
    private let content: PlanPageContent

    /// A page of this content, made when ``html`` is asked for.
    public init(_ content: PlanPageContent) {
        self.content = content
    }

    /// The whole page.
    public var html: String {
        var page = ""
        for limits in PageLimits.all {
            page = PageText(content: content, limits: limits).html
            if page.utf8.count < PageLimits.bytes { break }
        }
        return page
    }
}
