internal import Airtime

/// The ways to find a place, by the names that commands and maps know them by.
public enum PositioningAlgorithm: String, CaseIterable, Hashable, Sendable {
    /// The place of the survey's nearest vector.
    case nn
    /// The place whose means are nearest.
    case nnMean = "nn-mean"
    /// The place whose medians are nearest.
    case nnMedian = "nn-median"
    /// The place whose five strongest beacons have the most similar histograms.
    case bhattacharyya
    /// The place with the print whose levels, relative to its strongest, are nearest.
    case relative
    /// Between the places of the nearest vectors, by weight.
    case wknn
    /// The likelihood of each place.
    case gauss
    /// The likelihood of each cell of a grid.
    case field
    /// The field, followed over time.
    case hmm
    /// The middle of the six strongest beacons that somebody has said the places of, each with its power as its weight.
    case weightedCentroid = "weighted-centroid"
    /// Between the beacons at the four corners, by the mean levels of opposite sides.
    case simpleDistance = "simple-distance"

    /// Whether it gives a probability for each place, and so a region.
    public var isProbabilistic: Bool {
        switch self {
        case .gauss, .field, .hmm: true
        case .nn, .nnMean, .nnMedian, .bhattacharyya, .relative, .wknn, .weightedCentroid, .simpleDistance: false
        }
    }

    /// All that know a survey.
    public static let allCases: [PositioningAlgorithm] = [
        .nn, .nnMean, .nnMedian, .bhattacharyya, .relative, .wknn, .gauss, .field, .hmm,
    ]
    /// Those that know the beacons' places alone: something to hold the others against.
    public static let baselines: [PositioningAlgorithm] = [.weightedCentroid, .simpleDistance]

    var isBaseline: Bool { Self.baselines.contains(self) }

    /// Whether it compares with the survey's vectors themselves.
    var needsPrints: Bool { self == .nn || self == .relative || self == .wknn }
}

/// What "relative" is relative in: S2 does not say it.
public enum RelativeReading: String, CaseIterable, Hashable, Sendable {
    /// The share of the way from -100 dBm to the strongest.
    case db
    /// 10^(difference from the strongest / 20).
    case amplitude
    /// 10^(difference from the strongest / 10).
    case power

    /// What a beacon costs that only one of the two sides has.
    public var penalty: Double {
        switch self {
        case .db, .power: 0.5
        case .amplitude: 0.25
        }
    }
}

/// How a place is found on a map.
public struct LocatorSettings: Hashable, Sendable {
    /// What `relative` compares with.
    public enum Prints: String, CaseIterable, Hashable, Sendable {
        /// Each of the survey's vectors.
        case vectors
        /// The means of up to eight equal slices of a stay.
        case slices
    }

    /// The difference of the receiver from the surveyor's, in dB.
    public enum ReceiverOffset: Hashable, Sendable {
        /// Unknown: every offset of -12...12 dB counts with how likely it is.
        case unknown
        /// So much stronger than the surveyor's.
        case known(Double)
    }

    public var algorithm: PositioningAlgorithm
    /// How many of the last vectors count, from 1; `nil` for the algorithm's own: one for the rules of the seeds, all of
    /// the run for `bhattacharyya`, five for the others.
    public var window: Int?
    /// Of `relative`.
    public var reading: RelativeReading = .db
    /// Of `relative`; `nil` for the reading's own.
    public var penalty: Double?
    /// Of `relative`.
    public var prints: Prints = .slices
    /// k of `wknn`.
    public var neighbors = 10
    /// Of `gauss`, `field` and `hmm`.
    public var receiverOffset: ReceiverOffset = .unknown
    /// What the log-likelihood is divided by, so that regions cover what they say.
    public var temper = 4.0
    /// The distance between the cells of a field, in metres; `nil` to let the map choose.
    public var gridMetres: Double?

    /// The offsets that are tried, in dB, and the standard deviation of what is expected.
    public static let offsets = stride(from: -12.0, through: 12, by: 3).map { $0 }
    static let offsetDeviation = 4.0
    /// The same on a map without a survey, which knows the beacons' powers no better than the receiver's.
    static let plannedOffsets = stride(from: -24.0, through: 24, by: 3).map { $0 }
    static let plannedDeviation = 8.0
    /// Of the point estimate: sharper than an honest region, and better in the mean.
    static let pointTemper = 1.75

    /// An algorithm with its defaults.
    public init(_ algorithm: PositioningAlgorithm = .field) {
        self.algorithm = algorithm
    }

    /// How many vectors count; `nil` for all of the run.
    public var effectiveWindow: Int? {
        if let window { return max(1, window) }
        switch algorithm {
        case .nn, .nnMean, .nnMedian, .relative: return 1
        case .bhattacharyya: return nil
        case .wknn, .gauss, .field, .hmm, .weightedCentroid, .simpleDistance: return 5
        }
    }

    /// The offsets that count on a map, with the logarithm of how likely each is.
    func offsets(on map: SignalMap) -> (decibels: [Double], priors: [Double]) {
        if case .known(let offset) = receiverOffset { return ([offset], [0]) }
        let isPlanned = map.modelSite != nil
        let tried = isPlanned ? Self.plannedOffsets : Self.offsets
        let deviation = isPlanned ? Self.plannedDeviation : Self.offsetDeviation
        let logs = tried.map { -($0 / deviation) * ($0 / deviation) / 2 }
        let total = log(logs.reduce(0) { $0 + exp($1) })
        return (tried, logs.map { $0 - total })
    }
}
