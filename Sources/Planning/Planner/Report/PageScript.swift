/// The script of the page: the models, and what redraws the page when a control moves. It asks nothing of a network,
/// keeps nothing, and changes only what has an `id`. Its files stand in `Page`.
enum PageScript {
    static let text = PageFile.joined([
        PackageResources.models_js, PackageResources.losses_js,
        PackageResources.latency_js, PackageResources.text_js, PackageResources.drawing_js,
        PackageResources.discovery_js, PackageResources.fleet_js, PackageResources.battery_js,
        PackageResources.walk_js, PackageResources.density_js, PackageResources.site_js, PackageResources.page_js,
    ])

    /// What a Content-Security-Policy calls it: the SHA-256 of the text, which a test computes again.
    static let source = "'sha256-8s+W/YsiNVe/8+It6KV5ocTHynjzzCq+a2DAxGQYYPE='"
}

/// The style of the page: paper and ink, one blue, one amber; a dark scheme on screens that ask for one, and paper in
/// print. Its file stands in `Page`.
package enum PageStyle {
    package static let text = PageFile.joined([PackageResources.page_css])

    /// What a Content-Security-Policy calls it: the SHA-256 of the text, which a test computes again.
    package static let source = "'sha256-4ukjrDJ98hzD8M4YcWQD6ng3A0m5YvSHzff8PnryAfo='"
}

/// The files of the page as the build embeds them.
private enum PageFile {
    static func joined(_ files: [[UInt8]]) -> String {
        files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}

/// A value of the page's block of JSON, from which its script starts.
package indirect enum PageData {
    /// `null` for none and for what is not finite.
    case number(Double?)
    case text(String)
    case flag(Bool)
    case list([PageData])
    case object([(String, PageData)])

    /// JSON that may stand inside a script element.
    package var json: String {
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
