public import Airtime

/// How far a beacon is heard.
public struct PlannedRange: Hashable, Sendable {
    public let meters: Double
    /// Where the range comes from.
    let remark: String

    /// A range that somebody gives, in m, above 0.
    public init(meters: Double) {
        self.meters = meters
        remark = "as given"
    }

    /// The distance at which half of the beacons are heard.
    ///
    /// - Parameters:
    ///   - radioPower: What the beacon radiates, in dBm.
    ///   - sensitivity: The weakest that the receiver hears, in dBm.
    ///   - shadowing: The standard deviation of the shadowing of each link, in dB.
    ///
    /// Throws for a link whose range has no end, and one that carries nothing at any distance.
    public init(
        radioPower: Double, sensitivity: Double, pathLoss: NamedPathLoss, shadowing: Double
    ) throws(PlanError) {
        let (link, range) = try PlanError.asking { () throws(AirtimeError) in
            let link = try RadioLink(
                radioPowerDBm: radioPower, sensitivityDBm: sensitivity, pathLoss: pathLoss.model,
                shadowingDecibels: shadowing)
            return (link, try link.rangeMeters())
        }
        guard range.isFinite else {
            throw PlanError(
                .question,
                "--path-loss \(pathLoss.name): this model's loss ends at a value that the link carries, so the range has "
                    + "no end; take log-distance or itu")
        }
        guard range > 0 else {
            throw PlanError(
                .question,
                "\(NumberText.significant(link.radioPowerDBm)) dBm is not heard at any distance with a sensitivity of "
                    + "\(NumberText.significant(link.sensitivityDBm)) dBm; more radio power or a better receiver is needed"
            )
        }
        meters = range
        remark = "half of the beacons are heard there, by \(pathLoss.name)"
    }
}

/// A path loss with what somebody wrote for it.
public struct NamedPathLoss: Hashable, Sendable {
    /// As it was written, such as `itu:30,15`.
    public let name: String
    public let model: PathLoss

    /// Measured with Bluetooth indoors (Strzoda, 2022): 65 dB at 1 m, n = 2.03.
    private static let usualNumbers = (65.0, 2.03)

    /// What counts where nobody names another.
    public static let usual = NamedPathLoss(
        name: "log-distance:65,2.03",
        model: (try? .logDistance(lossAtOneMeterDecibels: usualNumbers.0, exponent: usualNumbers.1)) ?? .heydon)

    private init(name: String, model: PathLoss) {
        self.name = name
        self.model = model
    }

    /// Reads `log-distance` with the loss at 1 m and the exponent, `itu` with the coefficient and the floors' loss, each
    /// with or without its two numbers (`log-distance:65,2.03`), `heydon` or `thesis`.
    ///
    /// Throws for everything else, and numbers that the model refuses.
    public init(_ text: String) throws(PlanError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.count > 1 ? parts[1].split(separator: ",", omittingEmptySubsequences: false) : []
        let numbers = texts.compactMap { Double($0) }
        let usage = PlanError(
            .question, "write log-distance, log-distance:65,2.03, itu, itu:30,15, heydon or thesis")
        guard numbers.count == texts.count, parts.count == 1 || numbers.count == 2 else { throw usage }
        switch parts[0] {
        case "log-distance":
            model = try PlanError.asking { () throws(AirtimeError) in
                try .logDistance(
                    lossAtOneMeterDecibels: numbers.first ?? Self.usualNumbers.0,
                    exponent: numbers.last ?? Self.usualNumbers.1)
            }
        case "itu":
            model = try PlanError.asking { () throws(AirtimeError) in
                try .indoor(coefficient: numbers.first ?? 30, floorLossDecibels: numbers.last ?? 0)
            }
        case "heydon" where numbers.isEmpty: model = .heydon
        case "thesis" where numbers.isEmpty: model = .thesis
        default: throw usage
        }
        name = text
    }
}
