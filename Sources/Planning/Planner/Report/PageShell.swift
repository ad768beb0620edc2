internal import EddystoneSecurity

/// The common parts of all pages: the head with its Content-Security-Policy, the brand, and the end.
package enum PageShell {
    /// Returns the head of a page. Its Content-Security-Policy allows these styles and this script by their hashes, and
    /// no other styles or scripts.
    ///
    /// - Parameters:
    ///   - title: The escaped title.
    ///   - styles: The style sheets that the head contains.
    ///   - script: The text of the script at the end of the page; nil for a page without a script.
    ///   - sources: The directives of the policy for pictures and connections.
    package static func head(
        title: String, styles: [String], script: String?, sources: String = "img-src data:"
    ) -> String {
        let styleSources = styles.map(Fingerprint.policySource).joined(separator: " ")
        let scriptSource = script.map(Fingerprint.policySource) ?? "'none'"
        return "<head>\n<meta charset=\"utf-8\">\n"
            + "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \(styleSources); "
            + "script-src \(scriptSource); \(sources); "
            + "base-uri 'none'; form-action 'none'\">\n"
            + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            + "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
            + "<title>\(title)</title>\n<link rel=\"icon\" href=\"data:,\">\n"
            + styles.map { "<style>\($0)</style>\n" }.joined() + "</head>\n"
    }

    /// Returns a whole page. `brand` and `main` are markup; the page escapes the other texts.
    ///
    /// - Parameters:
    ///   - style: The style of this page, in addition to the common style of all pages.
    ///   - scripted: The element with the data of the page, and the text of the script that reads the data; nil for a
    ///     page without a script.
    package static func page(
        title: String, brand maker: String, answer: String, command: String, style: String, main markup: String,
        notes: [String], scripted: (data: String, script: String)? = nil
    ) -> String {
        let title = HTMLEscaping.text(HTMLEscaping.shortened(title, to: 160))
        let end = scripted.map { "\($0.data)<script>\($0.script)</script>\n" } ?? ""
        return "<!doctype html>\n<html lang=\"en\">\n"
            + head(title: title, styles: [PageStyle.text, style], script: scripted?.script)
            + "<body>\n<header>\(brand(maker))\n<h1>\(title)</h1>\n"
            + "<p class=\"answer\">\(HTMLEscaping.sentence(answer))</p>\n"
            + "<div class=\"command\"><code>\(HTMLEscaping.text(HTMLEscaping.shortened(command, to: 2000)))</code></div>"
            + "</header>\n<main>\n" + markup + "</main>\n" + footer(notes: notes) + end + "</body>\n</html>\n"
    }

    /// Returns the brand: a picture of a lighthouse, followed by `maker`, the escaped name of the program that made the
    /// page.
    package static func brand(_ maker: String) -> String { "<p class=\"brand\">\(lighthouse)\(maker)</p>" }

    /// Returns the end of the page, with its notes.
    package static func footer(notes: [String]) -> String {
        let items = notes.map { "<li>\(HTMLEscaping.sentence($0))</li>" }.joined()
        let list =
            items.isEmpty
            ? ""
            : "<section aria-labelledby=\"notesTitle\"><h2 id=\"notesTitle\">Assumptions and limits</h2>"
                + "<ul class=\"notes\">\(items)</ul></section>"
        return "<footer>\(list)<p>Made by Pharos. This page is complete and uses no network.</p></footer>\n"
    }

    /// A picture of a lighthouse with its beam.
    private static let lighthouse =
        "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\" focusable=\"false\">"
        + "<path d=\"M16 9L30 3V15Z\" fill=\"#e39a1d\" opacity=\".55\"/><path d=\"M12 9L2 5V13Z\" fill=\"#e39a1d\" "
        + "opacity=\".35\"/><path d=\"M11 12h6l2 16H9Z\" fill=\"currentColor\"/>"
        + "<path d=\"M11 6h6v5h-6Z\" fill=\"#e39a1d\"/><path d=\"M10 6l4-4 4 4Z\" fill=\"currentColor\"/></svg>"
}
