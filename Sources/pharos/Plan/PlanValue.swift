internal import Airtime
internal import BluetoothTypes

/// Reads option values of the planner. What is thrown here, the argument parser repeats behind the option's name.
enum PlanValue {
    /// More beacons than this nobody hears at one place.
    static let countLimit = 100_000_000

    static func count(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard (1...countLimit).contains(value) else { throw Mistake("\(value) is out of range 1...\(countLimit)") }
        return value
    }

    static func payload(_ text: String) throws -> Int {
        let value = try OptionValue.integer(text)
        guard PacketTiming.payloadRange.contains(value) else {
            throw Mistake("\(value) is out of range 0...31: a legacy packet holds no more")
        }
        return value
    }

    static func interval(_ text: String) throws -> AdvertisingInterval {
        let range = AdvertisingInterval.legacyRange
        let isTooShort = Mistake("it is out of range \(range.lowerBound)...\(range.upperBound)")
        let requested = try OptionValue.interval(text).interval
        guard range.contains(requested) else { throw isTooShort }
        return requested
    }

    /// A share of 0...1; a percent sign is understood.
    static func share(_ text: String) throws -> Double {
        let isPercent = text.hasSuffix("%")
        guard let number = Double(isPercent ? String(text.dropLast()) : text), number.isFinite else {
            throw Mistake("write a share such as 0.25, or 25%")
        }
        let share = isPercent ? number / 100 : number
        guard share >= 0, share <= 1 else { throw Mistake("\(text) is out of range 0...1") }
        return share
    }

    static func positive(_ text: String) throws -> Double {
        let value = try number(text)
        guard value > 0 else { throw Mistake("it must be more than 0") }
        return value
    }

    /// A time in seconds, at most a day.
    static func seconds(_ text: String) throws -> Double {
        let value = try positive(text)
        guard value <= LatencyModel.longestHorizonSeconds else { throw Mistake("it is longer than a day") }
        return value
    }

    static func number(_ text: String) throws -> Double {
        guard let value = Double(text), value.isFinite, abs(value) <= 1e9 else {
            throw Mistake("write a number of at most 1e9, such as 2.5")
        }
        return value
    }

    /// A scan window or interval in µs: the controllers' range, up to 40.96 s.
    static func scanTime(_ text: String) throws -> Int {
        guard let thousandths = DecimalText.thousandths(text) else { throw Mistake("write milliseconds, such as 512") }
        guard thousandths >= 2500, thousandths <= LatencyModel.longestScanInterval else {
            throw Mistake("it is out of range 2.5...40959.375 ms")
        }
        return thousandths
    }

    static func scanner(_ text: String) throws -> ScannerPreset {
        guard let preset = ScannerPreset(named: text) else {
            throw Mistake("use one of \(ScannerPreset.all.map(\.name).joined(separator: ", "))")
        }
        return preset
    }

    /// `0.45..6`: two numbers of milliseconds, or one.
    static func copySpacing(_ text: String) throws -> CopySpacing {
        let ends = text.replacing("...", with: "..").split(separator: "..", omittingEmptySubsequences: false)
        guard ends.count <= 2, let low = ends.first.flatMap({ Double($0) }),
            let high = ends.last.flatMap({ Double($0) })
        else { throw Mistake("write two numbers of milliseconds, such as 0.45..6") }
        do {
            return try CopySpacing(lowMicroseconds: low * 1000, highMicroseconds: high * 1000)
        } catch {
            throw Mistake("\(error)")
        }
    }

    /// A model's own refusal as the command's.
    static func answer<Value>(_ compute: () throws(AirtimeError) -> Value) throws -> Value {
        do throws(AirtimeError) {
            return try compute()
        } catch {
            throw Failure(.usage, "\(error)")
        }
    }
}
