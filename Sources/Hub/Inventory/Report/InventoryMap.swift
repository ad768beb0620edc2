internal import Airtime
internal import Configuration
public import Sites

/// A floor plan with the items of an inventory: a dot for each item, in the colour of its state.
public struct InventoryMap: Sendable {
    /// The number of items with a position.
    public let placed: Int
    /// The number of items without a position.
    public var unplaced: Int { entries.count - placed }

    private struct Entry {
        let item: Inventory.Item
        let position: Inventory.Position?
        let state: ItemState?
    }

    private let title: String
    private let site: Site?
    private let entries: [Entry]
    /// The south-west and the north-east corner of the drawn area, in metres.
    private let bounds: (low: FloorPosition, high: FloorPosition)

    /// The width of the drawing without margins, in pixels.
    private static let width = 1000.0
    /// The margin, in pixels.
    private static let margin = 30.0
    /// The largest number of items whose names are drawn. More names would hide the plan.
    private static let labelLimit = 80

    /// - Parameters:
    ///   - site: The floor plan; `nil` for a plan without walls.
    ///   - report: The report with the states of the items; `nil` if there is none.
    public init(_ inventory: Inventory, on site: Site?, _ report: CountReport? = nil) {
        title = inventory.heading
        self.site = site
        let states = Dictionary((report?.outcomes ?? []).map { ($0.item.id, $0.state) }) { first, _ in first }
        entries = inventory.items.map {
            Entry(item: $0, position: inventory.position(of: $0), state: states[$0.id])
        }
        placed = entries.count { $0.position != nil }
        let positions = entries.compactMap { $0.position.map(Self.floor) }
        let siteBounds = site?.bounds
        let floorBounds = FloorBounds(positions + [siteBounds?.low, siteBounds?.high].compactMap(\.self))
        bounds = (floorBounds?.low ?? FloorPosition(x: 0, y: 0), floorBounds?.high ?? FloorPosition(x: 1, y: 1))
    }

    private static func floor(_ position: Inventory.Position) -> FloorPosition {
        FloorPosition(x: Double(position.east) / 1000, y: Double(position.north) / 1000)
    }

    /// The number of pixels per metre.
    private var scale: Double { Self.width / max(1, bounds.high.x - bounds.low.x, (bounds.high.y - bounds.low.y) / 2) }

    private var height: Double { max(60, (bounds.high.y - bounds.low.y) * scale) }

    private func point(_ position: FloorPosition) -> (x: Double, y: Double) {
        (Self.margin + (position.x - bounds.low.x) * scale, Self.margin + height - (position.y - bounds.low.y) * scale)
    }

    /// Returns a number as text with two decimals.
    private static func number(_ value: Double) -> String {
        let hundredths = Int((min(1e7, max(-1e7, value)) * 100).rounded())
        let (whole, decimals) = (abs(hundredths) / 100, abs(hundredths) % 100)
        let decimalText = decimals == 0 ? "" : decimals < 10 ? ".0\(decimals)" : ".\(decimals)"
        return (hundredths < 0 ? "-" : "") + "\(whole)" + decimalText
    }

    private func path(_ positions: [FloorPosition]) -> String {
        positions.map(point).enumerated().map { index, point in
            (index == 0 ? "M" : "L") + Self.number(point.x) + " " + Self.number(point.y)
        }.joined()
    }

    /// The drawing as an SVG file.
    public var svg: String {
        let (width, height) = (Self.width + 2 * Self.margin, self.height + 2 * Self.margin + 30)
        var body = ""
        body += picture
        if let outline = site?.outline {
            let attributes = picture.isEmpty ? "class=\"floor\" fill=\"#f6f8fa\"" : "class=\"inner\" fill=\"none\""
            body += "<path d=\"\(path(outline.corners))Z\" \(attributes) stroke=\"#57606a\" stroke-width=\"2\"/>\n"
        }
        for wall in site?.walls ?? [] {
            body +=
                "<path d=\"\(path([wall.from, wall.to]))\" class=\"inner\" stroke=\"#57606a\" stroke-width=\"2\"/>\n"
        }
        var itemsAtPosition: [Inventory.Position: Int] = [:]
        for entry in entries {
            guard let position = entry.position else { continue }
            // If several items have the same position, the first is drawn there, and the others around it.
            let rank = itemsAtPosition[position, default: 0]
            itemsAtPosition[position] = rank + 1
            let base = point(Self.floor(position))
            let ring = Double((rank + 5) / 6), angle = Double(rank % 6)
            let offsets = [(1.0, 0.0), (0.5, 0.87), (-0.5, 0.87), (-1.0, 0.0), (-0.5, -0.87), (0.5, -0.87)]
            let (across, down) = rank == 0 ? (0, 0) : offsets[Int(angle)]
            let (x, y) = (base.x + across * ring * 14, base.y + down * ring * 14)
            let state = entry.state.map { ", " + CountReport.words($0) } ?? ""
            body +=
                "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"6\" "
                + "class=\"\(ReportPage.styleClass(entry.state))\" fill=\"\(ReportPage.color(entry.state))\">"
                + "<title>\(MarkupText.escaped("\(entry.item.name) (\(entry.item.id))\(state)"))</title></circle>\n"
            if placed <= Self.labelLimit {
                body += "<text x=\"\(Self.number(x + 9))\" y=\"\(Self.number(y + 4))\">"
                body += MarkupText.escaped(TerminalText.shortened(entry.item.name, to: 28)) + "</text>\n"
            }
        }
        return
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plan\" viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" "
            + "width=\"\(Self.number(width))\" height=\"\(Self.number(height))\" role=\"img\" "
            + "aria-label=\"\(MarkupText.escaped(MarkupText.shortened(title, to: 200))): \(placed) items on the plan\" "
            + "font-family=\"DejaVu Sans, Arial, Helvetica, sans-serif\" font-size=\"12\" fill=\"#1f2328\">\n"
            + "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n\(body)\(legend(height - 16))</svg>\n"
    }

    /// The SVG element of the floor's picture; empty if the floor has none. The parts of the picture outside the
    /// drawing are cut off.
    private var picture: String {
        guard let picture = site?.picture, let image = picture.image, let depth = picture.height else { return "" }
        let corner = point(FloorPosition(x: picture.position.x, y: picture.position.y + depth))
        return "<image class=\"floorPicture\" x=\"\(Self.number(corner.x))\" y=\"\(Self.number(corner.y))\" "
            + "width=\"\(Self.number(picture.width * scale))\" height=\"\(Self.number(depth * scale))\" "
            + "preserveAspectRatio=\"none\" href=\"\(image.dataAddress)\"/>\n"
    }

    private func legend(_ y: Double) -> String {
        let states = ItemState.allCases.filter { state in entries.contains { $0.state == state } }.map { Optional($0) }
        let shownStates = states + (entries.contains { $0.state == nil } ? [nil] : [])
        return shownStates.enumerated().map { index, state in
            let x = Self.margin + Double(index) * 150
            return "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y - 4))\" r=\"6\" "
                + "class=\"\(ReportPage.styleClass(state))\" fill=\"\(ReportPage.color(state))\"/><text x=\"\(Self.number(x + 10))\" y=\"\(Self.number(y))\">"
                + "\(state.map(CountReport.words) ?? "not counted")</text>\n"
        }.joined()
    }

    /// An HTML page with the drawing and a table of the items.
    public var html: String {
        var body = ""
        if placed > 0 || site != nil {
            body += "<figure class=\"card\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"plan\">"
            body += "\(svg)</div></figure>\n"
        }
        body += ReportPage.table(
            caption: "Items", header: ["item", "place", "position m", "state"],
            rows: entries.map { entry in
                [
                    ("\(entry.item.name) (\(entry.item.id))", ""), (entry.item.place ?? "", ""),
                    (entry.position.map { $0.json.line } ?? "none", ""),
                    (entry.state.map(CountReport.words) ?? "not counted", ReportPage.styleClass(entry.state)),
                ]
            })
        let remark = unplaced == 0 ? "" : " \(unplaced) have no position and are only in the table."
        return ReportPage.html(
            title: "\(title): map", heading: title,
            answer: "\(placed) of \(entries.count) items are on the plan.\(remark)", main: body)
    }
}
