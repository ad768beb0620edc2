/// Finds room for names beside points of a drawing, so that none covers another.
struct LabelLayout {
    private struct Box {
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double

        func meets(_ other: Box) -> Bool {
            left < other.right && other.left < right && top < other.bottom && other.top < bottom
        }
    }

    /// Where a name stands.
    struct Place: Equatable {
        let x: Double
        /// Of the line on which the letters stand.
        let y: Double
        let anchor: SVG.Anchor
    }

    /// Of a letter, at the size of the names on a floor.
    private static let letter = 8.6
    private static let lineHeight = 14.0
    private static let distance = 9.0

    private let bounds: Box
    private var taken: [Box] = []

    init(width: Double, height: Double) {
        bounds = Box(left: 0, top: 0, right: width, bottom: height)
    }

    /// Keeps names away from a point.
    mutating func block(_ point: (x: Double, y: Double), radius: Double) {
        guard point.x.isFinite, point.y.isFinite else { return }
        taken.append(
            Box(left: point.x - radius, top: point.y - radius, right: point.x + radius, bottom: point.y + radius))
    }

    /// Room for a name to the right, to the left, above or below of a point; `nil` where there is none.
    mutating func place(_ name: String, beside point: (x: Double, y: Double)) -> Place? {
        guard point.x.isFinite, point.y.isFinite else { return nil }
        let width = Double(name.count) * Self.letter
        let offers = [
            Place(x: point.x + Self.distance, y: point.y + 5, anchor: .start),
            Place(x: point.x - Self.distance, y: point.y + 5, anchor: .end),
            Place(x: point.x, y: point.y - Self.distance, anchor: .middle),
            Place(x: point.x, y: point.y + Self.distance + 10, anchor: .middle),
        ]
        for offer in offers {
            let left =
                switch offer.anchor {
                case .start: offer.x
                case .middle: offer.x - width / 2
                case .end: offer.x - width
                }
            let box = Box(left: left, top: offer.y - Self.lineHeight + 3, right: left + width, bottom: offer.y + 3)
            let isInside =
                box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top
                && box.bottom <= bounds.bottom
            guard isInside, !taken.contains(where: { $0.meets(box) }) else { continue }
            taken.append(box)
            return offer
        }
        return nil
    }
}
