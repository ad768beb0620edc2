import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct ScanningTests {
    private static let payload: [UInt8] = [2, 1, 6, 3, 3, 0xAA, 0xFE]

    /// Returns a host on `air` that gets all events, after it has sent `commands`.
    private func listener(
        _ model: VirtualControllerModel, on air: VirtualAir, _ commands: [RawCommand]
    ) throws -> TestHost {
        let host = TestHost(model, on: air)
        try host.send([.allEvents, .allLEEvents] + commands)
        return host
    }

    private func advertiser(_ commands: [RawCommand], on air: VirtualAir = VirtualAir()) throws -> TestHost {
        let host = TestHost(commands.contains { $0.opcode == 0x2036 } ? .zephyr : .raspberryPi, on: air)
        try host.send(commands)
        return host
    }

    @Test(arguments: [(0, 0), (2, 2), (3, 3)] as [(UInt8, UInt8)])
    func legacyReport(_ type: UInt8, _ eventType: UInt8) throws {
        let sender = try advertiser([.parameters(type: type), .data(Self.payload), .enable])
        let host = try listener(.raspberryPi, on: sender.air, [.scan(), .scanEnable()])
        let report = try #require(host.listen(milliseconds: 1000).first)
        let rssi = UInt8(bitPattern: 12 - 50)
        #expect(
            report == [2, 1, eventType, 0] + sender.controller.address.littleEndian + [7] + Self.payload + [rssi])
    }

    @Test(arguments: [(0, 0x13), (2, 0x12), (3, 0x10)] as [(UInt8, UInt8)])
    func legacyPDUHasAnExtendedReport(_ type: UInt8, _ eventType: UInt8) throws {
        let sender = try advertiser(
            [.randomAddress, .parameters(type: type, own: 1), .data(Self.payload), .enable])
        let host = try listener(.zephyr, on: sender.air, [.extendedScan(), .extendedScanEnable()])
        let report = try #require(host.listen(milliseconds: 1000).first)
        let head: [UInt8] = [0x0D, 1, eventType, 0, 1, 1, 2, 3, 4, 5, 0xC6, 1, 0, 0xFF, 0x7F]
        let tail: [UInt8] = [UInt8(bitPattern: 12 - 50), 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]
        #expect(report == head + tail + Self.payload)
    }

    @Test func legacyPDUOfASetIsReceivedByLegacyScanners() throws {
        let sender = try advertiser([.set(power: 4), .setData(1, Self.payload), .setEnable()])
        let host = try listener(.raspberryPi, on: sender.air, [.scan(), .scanEnable()])
        let report = try #require(host.listen(milliseconds: 1000).first)
        #expect(Array(report.prefix(4)) == [2, 1, 3, 0] && report.last == UInt8(bitPattern: 4 - 50))
    }

    @Test func extendedPDUIsReceivedOnlyByExtendedScanners() throws {
        let long = [UInt8](repeating: 9, count: 251)
        let sender = try advertiser([
            .set(properties: 0x40, power: 3, secondary: 2, sid: 5), .setData(1, long, operation: 1),
            .setData(1, long, operation: 2), .setEnable(),
        ])
        let legacy = try listener(.raspberryPi, on: sender.air, [.scan(), .scanEnable()])
        let host = try listener(.intel, on: sender.air, [.extendedScan(), .extendedScanEnable()])
        let reports = try host.listen(milliseconds: 1000)
        #expect(try legacy.listen(milliseconds: 0) == [])
        let first = try #require(reports.first)
        #expect(Array(first[2...3]) == [0x20, 0])
        // 1M, 2M, SID 5, 3 dBm announced and sent.
        #expect(Array(first[11...15]) == [1, 2, 5, 3, UInt8(bitPattern: 3 - 50)])
        #expect(reports.prefix(3).map { $0[25] } == [229, 229, 44])
        #expect(reports.prefix(3).map { $0[2] } == [0x20, 0x20, 0x00])
        #expect(reports.prefix(3).flatMap { $0.dropFirst(26) } == long + long)
    }

    @Test func codedPDUIsReceivedOnlyOnCoded() throws {
        let sender = try advertiser([.set(properties: 0, primary: 3, secondary: 3), .setEnable()])
        let other = try listener(.zephyr, on: sender.air, [.extendedScan(), .extendedScanEnable()])
        let host = try listener(.zephyr, on: sender.air, [.extendedScan(phys: 4), .extendedScanEnable()])
        let reports = try host.listen(milliseconds: 2000)
        #expect(!reports.isEmpty && reports.allSatisfy { $0[11] == 3 && $0[12] == 3 })
        #expect(try other.listen(milliseconds: 0) == [])
    }

    @Test func anonymousAdvertisementHasNoAddress() throws {
        let sender = try advertiser([.set(properties: 0x20), .setEnable()])
        let host = try listener(.zephyr, on: sender.air, [.extendedScan(), .extendedScanEnable()])
        let report = try #require(host.listen(milliseconds: 1000).first)
        #expect(Array(report[4...10]) == [0xFF, 0, 0, 0, 0, 0, 0])
    }

    @Test func directedAdvertisementIsReceivedOnlyByItsTarget() throws {
        let air = VirtualAir()
        let other = try listener(.raspberryPi, on: air, [.scan(), .scanEnable()])
        let target = try listener(.raspberryPi, on: air, [.scan(), .scanEnable()])
        var command = RawCommand.parameters(type: 4)
        command.parameters.replaceSubrange(7..<13, with: target.controller.address.littleEndian)
        let sender = try advertiser([command, .enable], on: air)
        let report = try #require(target.listen(milliseconds: 1000).first)
        #expect(report[2] == 1 && report[10] == 0)
        #expect(try other.listen(milliseconds: 0) == [])
        #expect(sender.controller.isAdvertising())
    }

    @Test func activeScanningBringsScanResponses() throws {
        let sender = try advertiser([
            .parameters(type: 2), .data(Self.payload), .scanResponse([3, 9, 0x50, 0x48]), .enable,
        ])
        let passive = try listener(.zephyr, on: sender.air, [.extendedScan(), .extendedScanEnable()])
        let legacy = try listener(.raspberryPi, on: sender.air, [.scan(type: 1), .scanEnable()])
        let host = try listener(.zephyr, on: sender.air, [.extendedScan(type: 1), .extendedScanEnable()])
        let reports = try host.listen(milliseconds: 500)
        #expect(reports.count >= 2 && reports.count.isMultiple(of: 2))
        #expect(reports.prefix(2).map { $0[2] } == [0x12, 0x1A])
        #expect(Array(reports[1].suffix(5)) == [4, 3, 9, 0x50, 0x48])
        #expect(try legacy.listen(milliseconds: 0).prefix(2).map { $0[2] } == [2, 4])
        #expect(try passive.listen(milliseconds: 0).allSatisfy { $0[2] == 0x12 })
    }

    @Test func scannableExtendedPDUHasItsDataInTheScanResponse() throws {
        let sender = try advertiser([.set(properties: 2, sid: 3), .setScanResponse(1, Self.payload), .setEnable()])
        let host = try listener(.zephyr, on: sender.air, [.extendedScan(type: 1), .extendedScanEnable(filter: 1)])
        let reports = try host.listen(milliseconds: 1000)
        #expect(reports.map { $0[2] } == [0x02, 0x0A])
        #expect(reports.map { $0[25] } == [0, 7] && reports.map { $0[13] } == [3, 3])
        #expect(reports.last.map { Array($0.suffix(7)) } == Self.payload)
    }

    @Test func nonconnectableHasNoScanResponse() throws {
        let sender = try advertiser([.parameters(type: 3), .scanResponse([1, 2]), .enable])
        let host = try listener(.raspberryPi, on: sender.air, [.scan(type: 1), .scanEnable()])
        #expect(try host.listen(milliseconds: 1000).allSatisfy { $0[2] == 3 })
    }

    @Test func scanRequestsAreReportedIfTheHostRequestsIt() throws {
        let sender = try advertiser([
            .allEvents, .allLEEvents, .set(properties: 0x12, notify: 1), .setEnable(),
        ])
        let host = try listener(.raspberryPi, on: sender.air, [.scan(type: 1), .scanEnable()])
        try host.listen(milliseconds: 1000)
        let event = try #require(sender.listen(milliseconds: 0).first)
        #expect(event == [0x13, 1, 0] + host.controller.address.littleEndian)
    }

    @Test func advertisersAnswerOnlyDevicesOfTheAcceptList() throws {
        let sender = try advertiser([.parameters(type: 2, filter: 1), .enable])
        let host = try listener(.raspberryPi, on: sender.air, [.scan(type: 1), .scanEnable()])
        #expect(try host.listen(milliseconds: 1000).allSatisfy { $0[2] == 2 })
        try sender.send([.disable, RawCommand(0x2011, [0] + host.controller.address.littleEndian), .enable])
        #expect(try host.listen(milliseconds: 1000).contains { $0[2] == 4 })
    }

    @Test func scannersReportOnlyDevicesOfTheAcceptList() throws {
        let air = VirtualAir()
        let wanted = try advertiser([.parameters(), .data([1]), .enable], on: air)
        let other = try advertiser([.parameters(), .data([2]), .enable], on: air)
        let host = try listener(
            .raspberryPi, on: air,
            [RawCommand(0x2011, [0] + wanted.controller.address.littleEndian), .scan(policy: 1), .scanEnable()])
        let reports = try host.listen(milliseconds: 1000)
        #expect(!reports.isEmpty && reports.allSatisfy { $0[11] == 1 })
        #expect(other.controller.isAdvertising())
    }

    @Test func reportsNeedBothEventMasks() throws {
        let sender = try advertiser([.parameters(), .enable])
        let none = TestHost(.raspberryPi, on: sender.air)
        try none.send([.scan(), .scanEnable()])
        // By default, bit 1 of the LE event mask (reports) is set, but the LE Meta event is not in the event mask.
        let legacy = TestHost(.raspberryPi, on: sender.air)
        try legacy.send([.allEvents, .scan(), .scanEnable()])
        // By default, the LE event mask does not contain bit 12 (extended reports).
        let extended = TestHost(.zephyr, on: sender.air)
        try extended.send([.allEvents, .extendedScan(), .extendedScanEnable()])
        #expect(try none.listen(milliseconds: 1000).isEmpty)
        #expect(try !legacy.listen(milliseconds: 0).isEmpty)
        #expect(try extended.listen(milliseconds: 0).isEmpty)
        try extended.send(RawCommand(0x2001, [0, 0x10, 0, 0, 0, 0, 0, 0]))
        #expect(try !extended.listen(milliseconds: 1000).isEmpty)
    }

    @Test(arguments: [(12, -50, 20), (-16, 300, -127), (12, 62, -50), (0, Int.min, -127)])
    func rssiIsPowerLessPathLoss(_ power: Int, _ loss: Int, _ rssi: Int) throws {
        let air = VirtualAir(.init(pathLoss: loss))
        let sender = try advertiser(
            [RawCommand(0xFC26, [0xFE, 0, UInt8(truncatingIfNeeded: power)]), .parameters(), .enable], on: air)
        let host = try listener(.raspberryPi, on: air, [.scan(), .scanEnable()])
        let report = try #require(host.listen(milliseconds: 1000).first)
        #expect(report.last == UInt8(bitPattern: Int8(rssi)))
        #expect(sender.controller.isAdvertising())
    }
}
