/// A material of walls with the typical loss of one crossing at 2.4 GHz. The losses are rules of thumb. The losses of
/// plaster, brick and concrete (3, 6 and 12 dB) are the examples of the site format; lists for Wi-Fi usually state 2 to
/// 3 dB for glass, 3 to 4 dB for wood, and 12 dB for metal. The losses of two walls of the same material can differ
/// more than the typical losses of two materials, so measured values are better.
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

/// The words of a name in a drawing, in lower case: `a`, `wall` and `glass` for `A-WALL_Glass`.
struct DrawingWords {
    private let words: [String]

    init(_ text: String) { words = text.lowercased().split { !$0.isLetter }.map(String.init) }

    /// Calls `meaning` with each word, and returns the first result that is not nil.
    func first<Meaning>(_ meaning: (String) -> Meaning?) -> Meaning? { words.lazy.compactMap(meaning).first }
}
