import BeaconFrames
import BluetoothTypes
import CReferenceParser

/// Encoding and decoding of each frame, one at a time, compared with a plain C parser.
struct FrameTimes {
    /// The number of different payloads of each kind. With many, neither a branch predictor nor the optimiser can learn
    /// them.
    private static let copies = 1024
    /// The number of passes in a round. Rounds are short and many, so that only a few are interrupted by another
    /// program, and the median ignores these.
    private static let passes = 40
    private static let rounds = 151

    static func run(_ report: Report) throws {
        report.section("Frames: decode compared with a plain C parser, and encode")
        report.row("frame", ["decode ns", "C parser ns", "ratio", "mallocs", "encode ns", "mallocs"])
        var worst = 0.0
        var allocations = 0
        for sample in try SampleFrame.all() {
            let row = try measure(sample)
            worst = max(worst, row.ratio)
            allocations += row.decodeAllocations
            report.row(
                sample.name,
                [
                    row.decode.text(2), row.reference.text(2), row.ratio.text(2), String(row.decodeAllocations),
                    row.encode.map { $0.text(0) } ?? "-", row.encodeAllocations.map { String($0) } ?? "-",
                ])
        }
        report.line("Times of one frame: medians of \(rounds) rounds of \(copies * passes) frames, both decoders")
        report.line("turn about. Mallocs: of \(copies) frames decoded, of one frame encoded.")
        report.target("slowest decoder compared with the C parser", worst, "times", atMost: 3)
        report.target("allocations while decoding, all kinds", Double(allocations), "", atMost: 0, digits: 0)
    }

    private struct Row {
        var decode = 0.0
        var reference = 0.0
        var decodeAllocations = 0
        var encode: Double?
        var encodeAllocations: Int?

        var ratio: Double { decode / reference }
    }

    private static func measure(_ sample: SampleFrame) throws -> Row {
        let length = sample.payload.count
        var payloads: [UInt8] = []
        for copy in 0..<copies {
            payloads += sample.payload
            payloads[payloads.count - 1] &+= UInt8(truncatingIfNeeded: copy)
        }
        try compare(payloads, length, sample.name)

        var sum = 0
        let times = try Measuring.inTurns(
            rounds: rounds,
            [
                { for _ in 0..<passes { sum &+= decodeAll(payloads.span, length) } },
                { for _ in 0..<passes { sum &+= parseAll(payloads.span, length) } },
            ])
        var row = Row()
        row.decode = times[0].median / Double(passes * copies)
        row.reference = times[1].median / Double(passes * copies)
        row.decodeAllocations = Measuring.allocations { sum &+= decodeAll(payloads.span, length) }
        if let frame = sample.frame {
            let times = try Measuring.inTurns(
                rounds: rounds, [{ for _ in 0..<copies { sum &+= try frame.advertisingData().octets.count } }])
            row.encode = times[0].median / Double(copies)
            row.encodeAllocations = try Measuring.allocations { sum &+= try frame.advertisingData().octets.count }
        }
        guard sum != 0 else { throw BenchmarkError("nothing was decoded of \(sample.name)") }
        return row
    }

    private static func decodeAll(_ payloads: Span<UInt8>, _ length: Int) -> Int {
        var sum = 1
        for start in stride(from: 0, to: payloads.count, by: length) {
            if let frame = BeaconFrame(decoding: payloads, range: start..<start + length) { sum &+= frame.digest }
        }
        return sum
    }

    private static func parseAll(_ payloads: Span<UInt8>, _ length: Int) -> Int {
        var sum = 1
        var frame = reference_frame()
        unsafe payloads.withUnsafeBufferPointer { octets in
            guard var next = octets.baseAddress else { return }
            for _ in 0..<octets.count / length {
                if unsafe reference_parse(next, length, &frame) != 0 { sum &+= Int(frame.power) }
                unsafe next += length
            }
        }
        return sum
    }

    /// Checks that both parsers read the same. Otherwise their times could not be compared.
    private static func compare(_ payloads: [UInt8], _ length: Int, _ name: String) throws {
        var other = reference_frame()
        for start in stride(from: 0, to: payloads.count, by: length) {
            let frame = BeaconFrame(decoding: payloads.span, range: start..<start + length)
            let found = unsafe payloads.withUnsafeBufferPointer { octets in
                unsafe octets.baseAddress.map { unsafe reference_parse($0 + start, length, &other) } ?? 0
            }
            let agrees =
                switch frame {
                case .iBeacon(let frame):
                    other.kind == REFERENCE_IBEACON.rawValue && other.power == frame.measuredPower.dBm
                        && other.ibeacon.major == frame.major && other.ibeacon.minor == frame.minor
                case .altBeacon(let frame):
                    other.kind == REFERENCE_ALTBEACON.rawValue && other.altbeacon.company == frame.companyID
                        && other.altbeacon.reserved == frame.reserved
                case .eddystoneUID(let frame):
                    other.kind == REFERENCE_UID.rawValue && other.power == frame.measuredPower.dBm
                        && other.uid.instance.5 == frame.instance[5]
                case .eddystoneURL(let frame):
                    other.kind == REFERENCE_URL.rawValue && other.url.scheme == frame.url.scheme
                        && Int(other.url.count) == frame.url.count
                case .eddystoneTLM(let frame):
                    other.kind == REFERENCE_TLM.rawValue && other.tlm.uptime == frame.uptimeDeciseconds
                        && other.tlm.advertisements == frame.advertisements
                case .eddystoneEncryptedTLM(let frame):
                    other.kind == REFERENCE_ENCRYPTED_TLM.rawValue && other.encrypted_tlm.salt == frame.salt
                        && other.encrypted_tlm.check == frame.mic
                case .eddystoneEID(let frame):
                    other.kind == REFERENCE_EID.rawValue && other.power == frame.measuredPower.dBm
                        && other.eid.id.7 == frame.id[7]
                // The C parser does not read BTHome, and no sample is BTHome.
                case .btHome: false
                case nil: found == 0
                }
            guard agrees, (found != 0) == (frame != nil) else {
                throw BenchmarkError("the C parser reads other values in \(name)")
            }
        }
    }
}
