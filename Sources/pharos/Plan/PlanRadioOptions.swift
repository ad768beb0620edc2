internal import Airtime
internal import ArgumentParser
internal import Planner

/// How far a beacon is heard.
struct PlanRadioOptions: ParsableArguments {
    @Option(
        parsing: .unconditional, help: ArgumentHelp("What the beacon radiates (default: 0).", valueName: "dBm"),
        transform: { try PlanValue.number($0, in: -127...40, "dBm") })
    var radioPowerDbm: Double = 0

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The weakest the receiver hears (default: -90).", valueName: "dBm"),
        transform: { try PlanValue.number($0, in: -150...0, "dBm") })
    var receiverSensitivityDbm: Double = -90

    @Option(
        help: ArgumentHelp(
            "Path loss: log-distance[:LOSS_AT_1M,EXPONENT], itu[:COEFFICIENT,FLOORS_DB], heydon or thesis.",
            valueName: "model"),
        transform: PlanValue.pathLoss)
    var pathLoss: NamedPathLoss = .usual

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Standard deviation of the shadowing of each link (default: 4).", valueName: "dB"),
        transform: { try PlanValue.number($0, in: 0...20, "dB") })
    var shadowingDb: Double = 4

    /// The distance at which half of the beacons are heard; models whose range has no end are refused.
    var range: PlannedRange {
        get throws {
            let link = try PlanError.asking { () throws(AirtimeError) in
                try RadioLink(
                    radioPowerDBm: radioPowerDbm, sensitivityDBm: receiverSensitivityDbm, pathLoss: pathLoss.model,
                    shadowingDecibels: shadowingDb)
            }
            return try PlannedRange(of: link, pathLoss: pathLoss.name)
        }
    }
}

/// A path loss with what somebody wrote for it.
struct NamedPathLoss {
    let name: String
    let model: PathLoss

    /// What was measured with Bluetooth indoors (Strzoda, 2022): 65 dB at 1 m, n = 2.03.
    static let usual = NamedPathLoss(
        name: "log-distance:65,2.03",
        model: (try? .logDistance(lossAtOneMeterDecibels: 65, exponent: 2.03)) ?? .heydon)
}

extension PlanValue {
    static func pathLoss(_ text: String) throws -> NamedPathLoss {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.count > 1 ? parts[1].split(separator: ",", omittingEmptySubsequences: false) : []
        let numbers = texts.compactMap { Double($0) }
        let usage = Mistake("write log-distance, log-distance:65,2.03, itu, itu:30,15, heydon or thesis")
        guard numbers.count == texts.count, parts.count == 1 || numbers.count == 2 else { throw usage }
        do {
            switch parts[0] {
            case "log-distance":
                return NamedPathLoss(
                    name: text,
                    model: try .logDistance(
                        lossAtOneMeterDecibels: numbers.first ?? 65, exponent: numbers.last ?? 2.03))
            case "itu":
                return NamedPathLoss(
                    name: text,
                    model: try .indoor(coefficient: numbers.first ?? 30, floorLossDecibels: numbers.last ?? 0))
            case "heydon" where numbers.isEmpty: return NamedPathLoss(name: text, model: .heydon)
            case "thesis" where numbers.isEmpty: return NamedPathLoss(name: text, model: .thesis)
            default: throw usage
            }
        } catch let error as AirtimeError {
            throw Mistake("\(error)")
        }
    }

    static func chip(_ text: String) throws -> BeaconChip {
        guard let chip = BeaconChip.named(text) else {
            throw unknown(text, BeaconChip.all.map(\.name))
        }
        return chip
    }

    static func battery(_ text: String) throws -> BeaconBattery {
        guard let battery = BeaconBattery.named(text) else {
            throw unknown(text, BeaconBattery.all.map(\.name))
        }
        return battery
    }
}
