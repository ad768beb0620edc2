/// The script of the page: the models, and what redraws the page when a control moves. It asks nothing of a network,
/// keeps nothing, and changes only what has an `id`.
enum PageScript {
    static let text =
        "\"use strict\";\n(() => {\n"
        + [collisions, runs, coverage, latency, drawing, controls].joined(separator: "\n") + "\n})();"
    /// What a Content-Security-Policy calls it.
    static let source = ContentHash.source(of: text)
}
