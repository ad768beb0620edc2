import BluetoothTypes
import HCI
import Testing

/// Every decoder returns a value, `nil` or an error for any octets, and never traps.
@Suite struct RandomOctetTests {
    private static let rounds = 100_000

    /// An expectation for fast loops, which costs time only if it fails.
    private func expect(_ holds: Bool, _ comment: @autoclosure () -> String) {
        if !holds { Issue.record("\(comment())") }
    }

    @Test func decodedEventsAreEncodedUnchanged() throws {
        var generator = SplitMix64(seed: 2)
        var understood = 0
        for _ in 0..<Self.rounds {
            let codes: [UInt8] = [0x0E, 0x0F, 0x10, 0x3E, 0x3E, 0x3E, UInt8.random(in: 0...255, using: &generator)]
            let subevents: [UInt8] = [0x02, 0x0D, 0x12, UInt8.random(in: 0...255, using: &generator)]
            var octets = generator.octets(Int.random(in: 0...80, using: &generator))
            if octets.count >= 2 {
                octets[0] = codes[Int.random(in: 0..<codes.count, using: &generator)]
                if Int.random(in: 0..<8, using: &generator) > 0 { octets[1] = UInt8(octets.count - 2) }
            }
            if octets.count >= 4 {
                octets[2] = subevents[Int.random(in: 0..<4, using: &generator)]
                octets[3] &= 3
            }
            guard let read = try? event(octets) else { continue }
            understood += 1
            expect(read.packet.octets == octets, Hexadecimal.text(octets))
        }
        #expect(understood > Self.rounds / 20)
    }

    @Test func truncatedAndAlteredReportsNeverTrap() {
        var generator = SplitMix64(seed: 3)
        let packets = [
            HCIEvent.advertisingReports([HCIEventTests.legacyReport, HCIEventTests.scanResponse]).packet.octets,
            HCIEvent.extendedAdvertisingReports([HCIEventTests.extendedReport]).packet.octets,
        ]
        for round in 0..<Self.rounds {
            var octets = packets[round % 2]
            octets[Int.random(in: 0..<octets.count, using: &generator)] = UInt8(truncatingIfNeeded: generator.next())
            octets.removeLast(Int.random(in: 0...3, using: &generator))
            let span = octets.span
            do throws(HCIEventError) {
                guard var cursor = try AdvertisingReportCursor(event: span, in: 0..<octets.count) else { continue }
                while let element = try cursor.next(in: span) {
                    let report = AdvertisingReport(element, in: span)
                    expect(report.data.octets.count == element.data.count, Hexadecimal.text(octets))
                }
            } catch {
                expect(error.offset <= octets.count, error.description)
            }
        }
    }

    @Test func anyCommandIsDescribed() {
        var generator = SplitMix64(seed: 4)
        let opcodes = HCICommands.all.map { $0.opcode }
        for _ in 0..<Self.rounds {
            let known = opcodes[Int.random(in: 0..<opcodes.count, using: &generator)]
            let random = HCIOpcode(rawValue: UInt16(truncatingIfNeeded: generator.next()))
            let octets = generator.octets(Int.random(in: 0...33, using: &generator))
            let description = HCICommandDescription.describe(
                Bool.random(using: &generator) ? known : random, parameters: octets.span)
            expect(!description.name.isEmpty, Hexadecimal.text(octets))
        }
    }

    @Test func anyReturnParametersAreReadOrRefused() {
        var generator = SplitMix64(seed: 5)
        func check<C: HCICommand>(_ type: C.Type, _ octets: [UInt8], _ offset: Int) {
            guard let value = returned(C.ReturnParameters.self, octets, at: offset) else { return }
            guard offset >= 0, offset <= octets.count else { return }
            expect(octets[offset...].starts(with: value.octets), C.name)
        }
        for _ in 0..<Self.rounds / HCICommands.all.count {
            let octets = generator.octets(Int.random(in: 0...70, using: &generator))
            let offset = Int.random(in: -1...71, using: &generator)
            for type in HCICommands.all { check(type, octets, offset) }
        }
    }

    @Test func anyStreamIsFramedOrRefused() {
        var generator = SplitMix64(seed: 6)
        for _ in 0..<Self.rounds / 10 {
            var framer = H4Framer(limit: 300)
            for _ in 0..<10 {
                var octets = generator.octets(Int.random(in: 0...20, using: &generator))
                if !octets.isEmpty { octets[0] = octets[0] % 6 }
                framer.push(octets)
                while let packet = try? framer.next() { expect(packet.h4.count <= 300, "too long") }
            }
            expect(framer.pending <= 300, "kept too much")
        }
    }

    @Test func anyFileIsReadOrRefused() {
        var generator = SplitMix64(seed: 8)
        var file = BTSnoopWriter.header
        for _ in 0..<4 {
            file += BTSnoopWriter.record(HCIReset().packet, isFromController: false, unixMicroseconds: 0)
        }
        for _ in 0..<Self.rounds {
            var octets = file
            for _ in 0..<2 {
                octets[Int.random(in: 0..<octets.count, using: &generator)] = UInt8(
                    truncatingIfNeeded: generator.next())
            }
            octets.removeLast(Int.random(in: 0...40, using: &generator))
            let span = octets.span
            do throws(CaptureError) {
                var cursor = try CaptureCursor(span)
                while let record = try cursor.next(in: span) {
                    expect(record.octets.upperBound <= octets.count, Hexadecimal.text(octets))
                    _ = record.packet(in: span)
                }
            } catch {
                expect(error.offset <= octets.count, error.description)
            }
        }
    }

    @Test func instantsNeverOverflow() {
        let far = HCIInstant.distantFuture
        let last = HCIInstant(nanoseconds: .max)
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        for instant in [at(0), at(1), far, last] {
            #expect(instant.advanced(by: longest) == max(instant, far))
            #expect(instant.advanced(by: .zero - longest) == .distantPast)
            #expect(instant.advanced(by: .zero) == instant)
            for other in [at(0), at(1), far] {
                #expect(instant == last || instant.advanced(by: instant.duration(to: other)) == other)
            }
        }
        #expect(at(1).duration(to: at(3)) == .milliseconds(2) && at(3).duration(to: at(1)) == .milliseconds(-2))
        #expect(at(5).advanced(by: .milliseconds(-2)) == at(3))
        #expect(at(5).advanced(by: .nanoseconds(-1)).nanoseconds == 4_999_999)
        #expect(far.advanced(byMicroseconds: 1) == far)
        #expect(at(1).advanced(byMicroseconds: .max) == far)
        #expect(at(1).advanced(byMicroseconds: -5) == at(1))
        #expect(at(1).microseconds(since: at(3)) == -2000)
        #expect(at(3).microseconds(since: at(1)) == 2000)
        #expect(HCIInstant(nanoseconds: .max).microseconds(since: at(0)) == Int(UInt64.max / 1000))
    }
}
