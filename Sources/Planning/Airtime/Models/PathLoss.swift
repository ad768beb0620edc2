internal import BluetoothTypes

/// The mean loss between two antennas, in dB, as a function of the distance in meters. ``RadioLink`` adds the
/// shadowing.
public struct PathLoss: Hashable, Sendable, CustomStringConvertible {
    private enum Formula: Hashable, Sendable {
        case thesis
        /// `atOneMeter` + 10·`exponent`·log10 d, where distances below `nearest` meters count as `nearest`.
        case logarithmic(atOneMeter: Double, exponent: Double, nearest: Double)
    }

    private let formula: Formula

    private init(_ formula: Formula) {
        self.formula = formula
    }

    /// The formula p1 of the thesis (see ``ThesisFormula``): 32 - 0.01721·x² + 19.8256·ln(1 + x) dB for distances x
    /// below 20 m, and 85 dB from 20 m on. At 20 m the loss falls by 0.48 dB. At larger distances it stays at 85 dB, so
    /// a link that tolerates 85 dB has an infinite range.
    public static let thesis = PathLoss(.thesis)

    /// Heydon, Bluetooth Low Energy: The Developer's Handbook: 40 + 25·log10 d dB.
    public static let heydon = PathLoss(.logarithmic(atOneMeter: 40, exponent: 2.5, nearest: 0.1))

    /// PL(1 m) + 10·n·log10 d dB. Measured with Bluetooth indoors: n = 2.03, shadowing of 3.5...5.9 dB (Strzoda, 2022).
    /// Distances below 0.1 m count as 0.1 m, because the formula is not valid below.
    ///
    /// Throws for a loss outside 0...120 dB and an exponent outside 0.5...10.
    public static func logDistance(
        lossAtOneMeterDecibels: Double, exponent: Double
    ) throws(AirtimeError) -> PathLoss {
        try Quantity.check(lossAtOneMeterDecibels, in: 0...120, "a path loss at 1 m (0...120 dB)")
        try Quantity.check(exponent, in: 0.5...10, "a path-loss exponent (0.5...10)")
        return PathLoss(.logarithmic(atOneMeter: lossAtOneMeterDecibels, exponent: exponent, nearest: 0.1))
    }

    /// ITU-R P.1238: 20·log10 f + N·log10 d + Lf - 28 dB, f in MHz. Distances below 1 m count as 1 m.
    ///
    /// - Parameters:
    ///   - frequencyMegahertz: f in 300...100,000: 2402, 2426 or 2480 for the advertising channels.
    ///   - coefficient: N in 5...100. ITU-R recommends 28 in dwellings, 30 in offices and 22 in shops (for 1.8...2
    ///     GHz).
    ///   - floorLossDecibels: Lf in 0...100. For n floors in between, it is 4·n in dwellings, 15 + 4·(n - 1) in offices
    ///     and 6 + 3·(n - 1) in shops.
    public static func indoor(
        frequencyMegahertz: Double = 2426, coefficient: Double = 30, floorLossDecibels: Double = 0
    ) throws(AirtimeError) -> PathLoss {
        try Quantity.check(frequencyMegahertz, in: 300...100_000, "a frequency (300...100 000 MHz)")
        try Quantity.check(coefficient, in: 5...100, "a power loss coefficient (5...100)")
        try Quantity.check(floorLossDecibels, in: 0...100, "a floor loss (0...100 dB)")
        let atOneMeter = 20 * log10(frequencyMegahertz) + floorLossDecibels - 28
        return PathLoss(.logarithmic(atOneMeter: atOneMeter, exponent: coefficient / 10, nearest: 1))
    }

    /// The formula in words, such as `65 dB at 1 m with the exponent 2.03`.
    public var description: String {
        switch formula {
        case .thesis: "that of the thesis"
        case .logarithmic(let atOneMeter, let exponent, _):
            "\(NumberFormat.significant(atOneMeter, 4)) dB at 1 m with the exponent "
                + NumberFormat.significant(exponent, 4)
        }
    }

    /// Returns the loss over `distance` meters. Throws for a distance outside 0...10⁶ m.
    public func decibels(atMeters distance: Double) throws(AirtimeError) -> Double {
        try Quantity.check(distance, in: 0...1_000_000, "a distance (0...1 000 000 m)")
        switch formula {
        case .thesis: return Self.thesisLoss(distance)
        case .logarithmic(let atOneMeter, let exponent, let nearest):
            return atOneMeter + 10 * exponent * log10(max(distance, nearest))
        }
    }

    /// The farthest distance, in meters, whose loss does not exceed `loss` dB. Returns 0 if every distance has a larger
    /// loss, and infinity if no distance has a larger loss. Throws for a loss outside -200...400 dB.
    public func meters(atDecibels loss: Double) throws(AirtimeError) -> Double {
        try Quantity.check(loss, in: -200...400, "a path loss (-200...400 dB)")
        switch formula {
        case .thesis:
            guard loss >= 32 else { return 0 }
            guard loss < 85 else { return .infinity }
            var low = 0.0
            var high = 20.0
            for _ in 0..<60 {
                let middle = (low + high) / 2
                if Self.thesisLoss(middle) <= loss { low = middle } else { high = middle }
            }
            return low
        case .logarithmic(let atOneMeter, let exponent, let nearest):
            let distance = pow(10, (loss - atOneMeter) / (10 * exponent))
            return distance >= nearest ? distance : 0
        }
    }

    /// The formula with its parameters.
    package enum Shape {
        case thesis
        case logDistance(lossAtOneMeter: Double, exponent: Double)
        case indoor(coefficient: Double, floorLoss: Double)
    }

    /// The formula with its parameters. ``heydon`` is returned as `logDistance`. An indoor loss is returned with the
    /// floor loss that gives the same result at 2426 MHz.
    package var shape: Shape {
        guard case .logarithmic(let atOneMeter, let exponent, let nearest) = formula else { return .thesis }
        guard nearest == 1 else { return .logDistance(lossAtOneMeter: atOneMeter, exponent: exponent) }
        return .indoor(coefficient: exponent * 10, floorLoss: max(0, atOneMeter + 28 - 20 * log10(2426)))
    }

    private static func thesisLoss(_ distance: Double) -> Double {
        guard distance < 20 else { return 85 }
        return 32 - 0.01721 * distance * distance + 19.8256 * log1p(distance)
    }
}

/// The link from a beacon to one receiver: its mean level and its range.
///
/// Symbols: P the radio power in dBm, antenna gains included; S the receiver's sensitivity in dBm; σ the standard
/// deviation of the log-normal shadowing in dB. The level at d meters is P - PL(d) + N(0, σ).
public struct RadioLink: Hashable, Sendable {
    /// P: the radiated power of the transmitter. It is not the measured power in a beacon's payload, which is the level
    /// received at a distance of 1 m.
    public let radioPowerDBm: Double
    /// S: the level above which the receiver decodes.
    public let sensitivityDBm: Double
    public let pathLoss: PathLoss
    /// σ, the standard deviation of the shadowing, in dB.
    public let shadowingDecibels: Double

    /// Throws for a radio power outside -127...40 dBm, a sensitivity outside -150...0 dBm, and a shadowing outside
    /// 0...20 dB.
    public init(
        radioPowerDBm: Double, sensitivityDBm: Double, pathLoss: PathLoss, shadowingDecibels: Double = 0
    ) throws(AirtimeError) {
        try Quantity.check(radioPowerDBm, in: -127...40, "a radio power (-127...40 dBm)")
        try Quantity.check(sensitivityDBm, in: -150...0, "a sensitivity (-150...0 dBm)")
        try Quantity.check(shadowingDecibels, in: 0...20, "a shadowing (0...20 dB)")
        self.radioPowerDBm = radioPowerDBm
        self.sensitivityDBm = sensitivityDBm
        self.pathLoss = pathLoss
        self.shadowingDecibels = shadowingDecibels
    }

    /// The mean level in dBm at `distance` meters, with `extra` dB of walls in between.
    public func meanLevelDBm(atMeters distance: Double, extraLossDecibels extra: Double = 0) throws(AirtimeError)
        -> Double
    {
        try Quantity.check(extra, in: 0...1_000_000, "a loss of walls (0 dB or more)")
        return radioPowerDBm - (try pathLoss.decibels(atMeters: distance)) - extra
    }

    /// P(level ≥ S) = Φ((P - PL(d) - S)/σ); 0 or 1 without shadowing.
    public func audibleProbability(
        atMeters distance: Double, extraLossDecibels extra: Double = 0
    ) throws(AirtimeError) -> Double {
        let margin = try meanLevelDBm(atMeters: distance, extraLossDecibels: extra) - sensitivityDBm
        guard shadowingDecibels > 0 else { return margin >= 0 ? 1 : 0 }
        return NormalDistribution.cumulative(margin / shadowingDecibels)
    }

    /// The detection range in meters: the farthest distance at which the beacon's level is above the sensitivity with
    /// `probability` (1/2: the range of the median level). 0 if there is no such distance; infinite if the path loss
    /// has a maximum (as in the thesis) and the link can bridge this maximum.
    ///
    /// Throws for a probability outside 0.001...0.999 (with shadowing, reception is certain at no distance).
    public func rangeMeters(probability: Double = 0.5) throws(AirtimeError) -> Double {
        guard probability >= 0.001, probability <= 0.999 else { throw .share(probability) }
        let reserve = shadowingDecibels * NormalDistribution.quantile(probability)
        return try pathLoss.meters(atDecibels: radioPowerDBm - sensitivityDBm - reserve)
    }
}
