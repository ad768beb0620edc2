internal import Airtime
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import Planner

/// Parses the option values of the planner. The argument parser prints a thrown ``Mistake`` after the name of the
/// option.
enum PlanValue {
    /// The largest number of beacons in range of one receiver.
    static let countLimit = LargestFleet.countLimit

    static func count(_ text: String) throws -> Int {
        try OptionValue.integer(text, in: 1...countLimit)
    }

    static func payload(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard PacketTiming.payloadRange.contains(value) else {
            throw Mistake("\(value) is out of range 0...31: a legacy packet holds no more")
        }
        return value
    }

    static func scannerPHY(_ text: String) throws -> ScannerPHY {
        guard let phy = ScannerPHY(rawValue: text) else { throw Mistake("use 1M or coded") }
        return phy
    }

    static func interval(_ text: String) throws -> RequestedInterval {
        try OptionValue.interval(text, in: AdvertisingInterval.legacyRange, called: "20 ms...10.24 s")
    }

    /// Parses a share such as `0.95`, or a percentage such as `95%` or `95`. Without a percent sign, a number up to 1
    /// is a share, and a number from 10 to 100 is a percentage. Numbers between 1 and 10 are refused, because they are
    /// often a mistake.
    static func share(_ text: String) throws -> Double {
        let hasPercentSign = OptionValue.plainSpaces(text).hasSuffix("%")
        let digits = OptionValue.number(of: text, units: ["%"])
        guard let number = Double(digits), number.isFinite else {
            throw Mistake(
                "write a share such as 0.25, 25% or 25" + OptionValue.plainNumberAdvice(digits))
        }
        let isPercent = hasPercentSign || (ConfigurationDecoder.leastPercent...100).contains(number)
        if !isPercent, number > 1, number < ConfigurationDecoder.leastPercent {
            throw Mistake(
                "did you mean \(digits) %? Write \(digits)% or \(NumberFormat.significant(number / 100, 12))")
        }
        let share = isPercent ? number / 100 : number
        guard share >= 0, share <= 1 else { throw Mistake("\(text) is out of range 0...1") }
        return share
    }

    /// Parses the share of cases of a target, which must be above 0 and below 1.
    static func probability(_ text: String) throws -> Double {
        let share = try share(text)
        guard share > 0, share < 1 else {
            throw Mistake(
                text == "1"
                    ? "no time is enough for all cases; write 1% for one percent, or a share below 1"
                    : "write a share above 0 and below 1")
        }
        return share
    }

    /// Parses the share of the channel that other devices occupy, which must be below 1.
    static func load(_ text: String) throws -> Double {
        let share = try share(text)
        guard share < 1 else {
            throw Mistake("a channel that is always busy lets nothing through; write a share below 1")
        }
        return share
    }

    /// Parses the loads of the channels, such as `wifi-1-6-11:0.3` or `37:0,38:0.1`.
    static func channelLoads(_ text: String) throws -> ChannelLoads {
        do {
            if let loads = try ChannelLoads(text, share: load) { return loads }
        } catch let error as AirtimeError {
            throw Mistake("\(error)")
        }
        throw Mistake("write Wi-Fi channels such as wifi-1-6-11:0.3, or shares such as 37:0,38:0.1,39:0.05,data:0.2")
    }

    static func positive(_ text: String) throws -> Double {
        let value = try number(text)
        guard value > 0 else { throw Mistake("write a number above 0") }
        return value
    }

    /// Parses a time such as `15`, `15s` or `1.5 min`, at most a day; returns seconds.
    static func seconds(_ text: String) throws -> Double {
        let (digits, unit) = OptionValue.timeSpan(text)
        guard Double(digits)?.isFinite == true else {
            throw Mistake(
                "write a number of seconds such as 15, or with a unit: 15s, 1.5 min, 2 h"
                    + OptionValue.plainNumberAdvice(digits))
        }
        let value = try positive(digits) * Double(unit) / 1000
        guard value <= LatencyModel.longestHorizonSeconds else {
            throw Mistake("write a time of at most one day (86400)")
        }
        return value
    }

    static func number(_ text: String) throws -> Double { try OptionValue.number(text, units: []) }

    /// Parses a number in a range, which may have its unit, such as `4 dBm`.
    static func number(_ text: String, in range: ClosedRange<Double>, _ unit: String) throws -> Double {
        try OptionValue.number(text, in: range, unit)
    }

    /// Parses a scan window or a scan interval in milliseconds, from 2.5 ms to 40.96 s; returns microseconds.
    static func scanTime(_ text: String) throws -> Int {
        guard let microseconds = OptionValue.microseconds(ofMilliseconds: text) else {
            throw Mistake(
                "write milliseconds, such as 512, or with a unit: 512ms, 5.12s" + OptionValue.plainNumberAdvice(text))
        }
        guard microseconds >= 2500, microseconds <= LatencyModel.longestScanInterval else {
            throw Mistake("it is out of range 2.5...40959.375 ms")
        }
        return microseconds
    }

    /// Parses the spacing of copies: one number of milliseconds, or two such as `0.45..6`.
    static func copySpacing(_ text: String) throws -> CopySpacing {
        let ends = text.replacing("...", with: "..").split(separator: "..", omittingEmptySubsequences: false)
        guard ends.count <= 2, let low = ends.first.flatMap({ Double($0) }),
            let high = ends.last.flatMap({ Double($0) })
        else { throw Mistake("write two numbers of milliseconds, such as 0.45..6") }
        guard (0...10).contains(low), (0...10).contains(high) else { throw Mistake("it is out of range 0...10 ms") }
        guard low <= high else { throw Mistake("write the smaller number first") }
        do {
            return try CopySpacing(lowMicroseconds: low * 1000, highMicroseconds: high * 1000)
        } catch {
            throw Mistake("\(error)")
        }
    }

    static func places(_ text: String) throws -> Int {
        try OptionValue.integer(text, in: 1...100_000)
    }

    static func chip(_ text: String) throws -> BeaconChip {
        guard let chip = BeaconChip.named(text) else {
            throw OptionValue.unknown(
                text, BeaconChip.all.map(\.name), otherwise: "; for another chip give --charge-uc instead")
        }
        return chip
    }

    static func battery(_ text: String) throws -> BeaconBattery {
        guard let battery = BeaconBattery.named(text) else {
            throw OptionValue.unknown(
                text, BeaconBattery.all.map(\.name), otherwise: "; for another battery give --capacity-mah instead")
        }
        return battery
    }

    static func precision(_ text: String) throws -> Double {
        let value = try share(text)
        guard value >= 0.0001 else { throw Mistake("write a share of at least 0.0001") }
        return value
    }

    static func shard(_ text: String) throws -> SimulationShard {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let index = parts[0], let count = parts[1] else {
            throw Mistake("write the part and the number of parts, such as 2/8")
        }
        guard (1...SimulationShard.countLimit).contains(count) else {
            throw Mistake("\(count) parts are out of range 1...\(SimulationShard.countLimit)")
        }
        guard (1...count).contains(index) else {
            throw Mistake("there is no part \(index) of \(count): the parts are numbered from 1 to \(count)")
        }
        return try PlanError.asking { () throws(AirtimeError) in try SimulationShard(index, of: count) }
    }

    static func batches(_ text: String) throws -> Int {
        try OptionValue.integer(text, in: 1...100_000)
    }

    static func jobs(_ text: String) throws -> Int {
        try OptionValue.integer(text, in: 1...256)
    }
}
