public import Airtime
internal import BluetoothTypes

/// The range of a beacon: the distance up to which a receiver receives it.
public struct PlannedRange: Sendable {
    public let meters: Double
    /// The source of the range, for the text.
    let remark: String

    /// Creates a range that the user gave, in m, above 0.
    public init(meters: Double) {
        self.meters = meters
        remark = "as given"
    }

    /// Creates the range at which half of the beacons are received.
    ///
    /// - Parameters:
    ///   - radioPower: The radiated power in dBm.
    ///   - sensitivity: The weakest level that the receiver decodes, in dBm.
    ///   - shadowing: The standard deviation of the shadowing of each link, in dB.
    ///
    /// Throws if the range is infinite, and if nothing is received at any distance.
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
                "--path-loss \(pathLoss.name): this model's loss never exceeds the loss that the link allows, so the range is "
                    + "infinite; use log-distance or itu")
        }
        guard range > 0 else {
            throw PlanError(
                .question,
                "\(NumberFormat.significant(link.radioPowerDBm)) dBm is too weak at any distance for a sensitivity of "
                    + "\(NumberFormat.significant(link.sensitivityDBm)) dBm; use more radio power or a better receiver"
            )
        }
        meters = range
        remark =
            "at this distance half of the beacons are received, by \(pathLoss.name), with "
            + "\(NumberFormat.significant(radioPower)) dBm and a sensitivity of "
            + "\(NumberFormat.significant(sensitivity)) dBm"
    }

    /// A note about the assumption that every beacon within the range is received, and no beacon beyond the range.
    var note: String {
        "The answer counts every beacon within the range as received, and none beyond it. Real reception falls off gradually: "
            + "closer beacons are received more often than those at the range, and some beacons beyond it are still "
            + "received. `pharos plan site` computes each place of a floor with its own levels and walls."
    }
}

/// A path-loss model with its name on the command line.
public struct NamedPathLoss: Sendable {
    /// The name on the command line, such as `itu:30,15`.
    public let name: String
    public let model: PathLoss

    /// The loss at 1 m in dB and the exponent n of the default model, as measured with Bluetooth indoors (Strzoda,
    /// 2022).
    private static let usualNumbers = (65.0, 2.03)

    /// The default path loss model.
    public static let usual = NamedPathLoss(
        name: "log-distance:65,2.03",
        model: (try? .logDistance(lossAtOneMeterDecibels: usualNumbers.0, exponent: usualNumbers.1)) ?? .heydon)

    private init(name: String, model: PathLoss) {
        self.name = name
        self.model = model
    }

    /// Parses `log-distance`, `itu`, `heydon` or `thesis`. `log-distance:65,2.03` gives the loss at 1 m and the
    /// exponent, and `itu:30,15` gives the coefficient and the loss of the floors; without numbers, the defaults are
    /// used.
    ///
    /// Throws for any other text, and for numbers outside the model's ranges.
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
