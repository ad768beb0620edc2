/// A material of walls with the typical loss of one crossing at 2.4 GHz.
/// The losses are rules of thumb. The losses of plaster, brick and concrete (3, 6 and 12 dB) are the examples of the
/// site format; those of glass, wood and metal are usual in lists for Wi-Fi (2 to 3, 3 to 4, and 12 dB). Walls of one
/// material differ by more than the materials do, so measured values are better.
public enum WallMaterial: String, CaseIterable, Hashable, Sendable {
    case glass
    case plaster
    case wood
    case brick
    case concrete
    case metal

    /// The loss of one crossing in dB.
    public var attenuation: Double {
        switch self {
        case .glass: 2
        case .plaster: 3
        case .wood: 4
        case .brick: 6
        case .concrete, .metal: 12
        }
    }

    /// The words that drawings use for this material, English and German, in lower case.
    private var words: [String] {
        switch self {
        case .glass: ["glass", "glazing", "glas"]
        case .plaster: ["plaster", "plasterboard", "drywall", "gypsum", "gips", "gipskarton", "rigips", "trockenbau"]
        case .wood: ["wood", "timber", "holz"]
        case .brick: ["brick", "masonry", "ziegel", "backstein", "mauerwerk"]
        case .concrete: ["concrete", "beton"]
        case .metal: ["metal", "steel", "metall", "stahl"]
        }
    }

    /// The material that a text of a drawing names, such as `Stahlbeton` or `A-WALL-GLASS`; nil if the text names no
    /// material.
    init?(in text: String) {
        let material = DrawingWords(text).first { word in
            Self.allCases.first { $0.words.contains(where: word.hasSuffix) }
        }
        guard let material else { return nil }
        self = material
    }
}

/// The words of a name in a drawing, in lower case: `A-WALL_Glass` has `a`, `wall` and `glass`.
struct DrawingWords {
    private let words: [String]

    init(_ text: String) { words = text.lowercased().split { !$0.isLetter }.map(String.init) }

    /// Returns the meaning of the first word for which `meaning` returns a value.
    func first<Meaning>(_ meaning: (String) -> Meaning?) -> Meaning? { words.lazy.compactMap(meaning).first }
}
