internal import Airtime

/// The algorithms, by their names in commands and maps.
public enum PositioningAlgorithm: String, CaseIterable, Hashable, Sendable {
    /// The place of the vector whose levels are nearest to the received levels.
    case nn
    /// The place whose mean levels are nearest to the received levels.
    case nnMean = "nn-mean"
    /// The place whose median levels are nearest to the received levels.
    case nnMedian = "nn-median"
    /// The place whose five strongest beacons have level histograms that are most similar to those of the received
    /// levels.
    case bhattacharyya
    /// The place whose relative levels are nearest to the received relative levels; see ``RelativeReading``.
    case relative
    /// The weighted mean of the positions of the nearest vectors.
    case wknn
    /// The position computed from the likelihood of each place.
    case gauss
    /// The position computed from the likelihood of each cell of a grid.
    case field
    /// Like `field`, with a filter that follows the receiver over time.
    case hmm
    /// The mean position of the six strongest beacons with known positions, weighted by their power.
    case weightedCentroid = "weighted-centroid"
    /// A position between four beacons near the corners of the site, computed from the ratio of the levels on opposite
    /// sides.
    case simpleDistance = "simple-distance"

    /// True if the algorithm computes probabilities of places, and therefore a region.
    public var isProbabilistic: Bool {
        switch self {
        case .gauss, .field, .hmm: true
        case .nn, .nnMean, .nnMedian, .bhattacharyya, .relative, .wknn, .weightedCentroid, .simpleDistance: false
        }
    }

    /// The algorithms that use a survey.
    public static let allCases: [PositioningAlgorithm] = [
        .nn, .nnMean, .nnMedian, .bhattacharyya, .relative, .wknn, .gauss, .field, .hmm,
    ]
    /// The algorithms that use only the positions of the beacons, for comparison.
    public static let baselines: [PositioningAlgorithm] = [.weightedCentroid, .simpleDistance]

    /// True if the algorithm compares the received levels with the survey's vectors.
    var needsFingerprints: Bool { self == .nn || self == .relative || self == .wknn }
}

/// The unit of the levels that `relative` compares. The article of 2016 that describes the algorithm names no unit.
public enum RelativeReading: String, CaseIterable, Hashable, Sendable {
    /// The level as a share of the range from -100 dBm to the strongest level, 0...1.
    case db
    /// The amplitude as a share of the strongest amplitude: 10^(difference from the strongest level in dB / 20).
    case amplitude
    /// The power as a share of the strongest power: 10^(difference from the strongest level in dB / 10).
    case power

    /// The default penalty for a beacon that was received only in the survey or only by the receiver.
    public var penalty: Double {
        switch self {
        case .db, .power: 0.5
        case .amplitude: 0.25
        }
    }
}

/// The algorithm that locates a receiver on a map, with its parameters.
public struct LocatorSettings: Hashable, Sendable {
    /// The fingerprints with which `relative` compares the received levels.
    public enum Fingerprints: String, CaseIterable, Hashable, Sendable {
        /// Each of the survey's vectors.
        case vectors
        /// The means of up to eight equal slices of a stay.
        case slices
    }

    /// The difference between the levels of the receiver and of the surveyor's receiver.
    public enum ReceiverOffset: Hashable, Sendable {
        /// Unknown. The algorithm sums over offsets of -12...12 dB, or of -24...24 dB if the map has no survey.
        case unknown
        /// Known, in dB.
        case known(Double)
    }

    public var algorithm: PositioningAlgorithm
    /// The number of the newest vectors from which a position is computed, at least 1. `nil` for the algorithm's
    /// default: one vector for `nn`, `nn-mean`, `nn-median` and `relative`, the whole run for `bhattacharyya`, and five
    /// vectors for the others.
    public var window: Int?
    /// For `relative`: the unit of relative levels.
    public var reading: RelativeReading = .db
    /// For `relative`: the penalty for a beacon that was received only in the survey or only by the receiver; `nil` for
    /// the default of the unit.
    public var penalty: Double?
    /// For `relative`: the fingerprints with which the received levels are compared.
    public var fingerprints: Fingerprints = .slices
    /// For `wknn`: the number k of nearest vectors.
    public var neighbors = 10
    /// For `gauss`, `field` and `hmm`: the receiver offset.
    public var receiverOffset: ReceiverOffset = .unknown
    /// The divisor of the log-likelihoods, fitted so that a 95 % region contains 95 % of the true positions.
    public var likelihoodTemperature = 4.0
    /// The side of a cell of the field, in metres; `nil` to choose it by the size of the site.
    public var gridMetres: Double?

    /// The receiver offsets that are tried, in dB.
    public static let offsets = stride(from: -12.0, through: 12, by: 3).map { $0 }
    /// The standard deviation of the prior distribution of the receiver offset, in dB.
    static let offsetDeviation = 4.0
    /// The receiver offsets that are tried in dB if the map has no survey. Their range is larger, because the power of
    /// the beacons is uncertain too.
    static let plannedOffsets = stride(from: -24.0, through: 24, by: 3).map { $0 }
    /// The standard deviation in dB of the prior distribution of the receiver offset if the map has no survey.
    static let plannedDeviation = 8.0
    /// The likelihood temperature with which the position is computed. It gives a smaller mean error than
    /// ``likelihoodTemperature``, which is used for regions.
    static let pointTemperature = 1.75

    /// Creates the settings of an algorithm with its default parameters.
    public init(_ algorithm: PositioningAlgorithm = .field) {
        self.algorithm = algorithm
    }

    /// The number of vectors from which a position is computed; `nil` for the whole run.
    public var effectiveWindow: Int? {
        if let window { return max(1, window) }
        switch algorithm {
        case .nn, .nnMean, .nnMedian, .relative: return 1
        case .bhattacharyya: return nil
        case .wknn, .gauss, .field, .hmm, .weightedCentroid, .simpleDistance: return 5
        }
    }

    /// The prior probability that the receiver is the surveyor's receiver, so that the receiver offset is 0 dB. Other
    /// offsets become likely only if the received levels support them.
    private static let sameReceiver = 0.6

    /// Returns the logarithm of the probability that each receiver offset has when a run begins.
    ///
    /// - Parameter priors: The logarithms of the probabilities for a receiver other than the surveyor's.
    func runPriors(_ priors: [Double], on map: SignalMap) -> [Double] {
        guard priors.count > 1, map.modelSite == nil else { return priors }
        return zip(Self.offsets, priors).map { offset, prior in
            log((1 - Self.sameReceiver) * exp(prior) + (offset == 0 ? Self.sameReceiver : 0))
        }
    }

    /// Returns the receiver offsets to sum over on a map, in dB, and the logarithms of their prior probabilities.
    func offsets(on map: SignalMap) -> (decibels: [Double], priors: [Double]) {
        if case .known(let offset) = receiverOffset { return ([offset], [0]) }
        let isPlanned = map.modelSite != nil
        let offsets = isPlanned ? Self.plannedOffsets : Self.offsets
        let deviation = isPlanned ? Self.plannedDeviation : Self.offsetDeviation
        let logWeights = offsets.map { -($0 / deviation) * ($0 / deviation) / 2 }
        let total = log(logWeights.reduce(0) { $0 + exp($1) })
        return (offsets, logWeights.map { $0 - total })
    }
}
