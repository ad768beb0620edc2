internal import BluetoothTypes

/// The script of the page: the models, and the code that redraws the page when a control moves. It uses no network,
/// stores nothing, and changes only elements with an `id`. Its files are in `Page`.
enum PageScript {
    static let text = PageFile.joined([
        PackageResources.models_js, PackageResources.losses_js,
        PackageResources.latency_js, PackageResources.text_js, PackageResources.drawing_js,
        PackageResources.discovery_js, PackageResources.fleet_js, PackageResources.battery_js,
        PackageResources.walk_js, PackageResources.density_js, PackageResources.site_js, PackageResources.page_js,
    ])
}

/// The style of the page, with a light and a dark colour scheme, and rules for print. Its file is in `Page`.
package enum PageStyle {
    package static let text = PageFile.joined([PackageResources.page_css])
}

/// The part of the script that pages of other modules use too. It formats numbers as text.
package enum SharedScript {
    package static let text = PageFile.joined([PackageResources.text_js])
}

/// The script and the markup of the page on which the user draws a floor. Their files are in `Page`.
enum SiteEditorScript {
    static let text = PageFile.joined([
        PackageResources.models_js, PackageResources.losses_js, PackageResources.latency_js, PackageResources.text_js,
        PackageResources.drawing_js, PackageResources.site_js, PackageResources.geometry_js, PackageResources.field_js,
        PackageResources.siteFile_js, PackageResources.labels_js, PackageResources.floorView_js,
        PackageResources.reception_js,
        PackageResources.properties_js, PackageResources.editor_js,
    ])
    static let style = PageFile.joined([PackageResources.editor_css])
    static let body = PageFile.joined([PackageResources.editor_html])
}

/// The files of the page. The build embeds them in the program.
private enum PageFile {
    static func joined(_ files: [[UInt8]]) -> String {
        files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}

/// A value of the page's block of JSON, which the script reads.
package indirect enum PageData {
    /// `null`.
    case null
    /// A number; `null` for nil and for numbers that are not finite.
    case number(Double?)
    case text(String)
    case flag(Bool)
    case list([PageData])
    case object([(String, PageData)])

    /// JSON that is escaped for a script element.
    package var json: String {
        switch self {
        case .null: "null"
        case .number(let value): NumberFormat.exact(value) ?? "null"
        case .text(let value): HTMLEscaping.json(value)
        case .flag(let value): value ? "true" : "false"
        case .list(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { HTMLEscaping.json($0.0) + ":" + $0.1.json }.joined(separator: ",") + "}"
        }
    }

    /// Returns the block of JSON as an element of the page.
    package func element(id: String = "plan") -> String {
        "<script type=\"application/json\" id=\"\(id)\">\(json)</script>\n"
    }
}

extension Scale {
    /// The data of the axis for the script.
    var data: PageData {
        .object([
            ("low", .number(domain.lowerBound)), ("high", .number(domain.upperBound)), ("start", .number(start)),
            ("end", .number(end)), ("isLogarithmic", .flag(isLogarithmic)),
        ])
    }
}

extension PlotArea {
    /// Returns the data of the chart for the script.
    ///
    /// - Parameter samples: The number of points of each line that the script draws, from left to right.
    func data(samples: Int) -> PageData {
        .object([("x", x.data), ("y", y.data), ("samples", .number(Double(samples)))])
    }
}
