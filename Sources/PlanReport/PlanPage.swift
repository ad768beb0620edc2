/// One self-contained page of a plan: HTML with its style, script and drawings inside, under 500 KB, that asks nothing
/// of any network.
public struct PlanPage: Sendable {
    private let content: PlanPageContent

    public init(_ content: PlanPageContent) {
        self.content = content
    }

    /// The whole page.
    public var html: String {
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>\(HTMLEscaping.text(content.title))"
            + "</title>\n<h1>\(HTMLEscaping.text(content.title))</h1>\n<p>\(HTMLEscaping.text(content.answer))</p>\n"
    }
}
