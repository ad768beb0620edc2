import BluetoothTypes
import HCI
import Testing
import VirtualController

@Suite struct ScanWindowTests {
    /// Returns all packets on the air, and the times of a scanner's reports in microseconds.
    private func history(
        interval: UInt16, window: UInt16, milliseconds: Int, seed: UInt64 = 5
    ) throws -> (pdus: [AirPDU], reports: [Int]) {
        let air = VirtualAir(.init(seed: seed))
        var pdus: [AirPDU] = []
        air.observer = { pdus.append($0) }
        var reports: [Int] = []
        let scanner = air.attach(.raspberryPi) { packet in
            if packet.octets[0] == 0x3E { reports.append(Int(air.now.nanoseconds / 1000)) }
        }
        for command in [RawCommand.allEvents, .scan(interval, window), .scanEnable()] {
            scanner.receive(command.packet)
        }
        let sender = air.attach(.raspberryPi) { _ in }
        for command in [RawCommand.data([UInt8](repeating: 1, count: 31)), .parameters(0x20, 0x20), .enable] {
            sender.receive(command.packet)
        }
        air.advance(to: air.now.advanced(byMicroseconds: milliseconds * 1000))
        return (pdus, reports)
    }

    /// Scan interval and window in units of 0.625 ms: continuous, a tenth, the shortest, a short window, the longest.
    @Test(arguments: [(0x10, 0x10), (0xA0, 0x10), (4, 4), (0x31, 0x0B), (0x4000, 0x2000)] as [(UInt16, UInt16)])
    func receivesPacketsInAWindowOnTheirChannel(_ interval: UInt16, _ window: UInt16) throws {
        let (pdus, reports) = try history(interval: interval, window: window, milliseconds: 120_000)
        let length = Int(interval) * 625
        let expected = pdus.filter { pdu in
            let start = Int(pdu.start.nanoseconds / 1000)
            let place = start % length
            return [37, 38, 39][start / length % 3] == pdu.channel && place + 376 <= Int(window) * 625
        }
        #expect(expected.count > 100)
        #expect(expected.count < pdus.count)
        #expect(reports == expected.map { Int($0.start.nanoseconds / 1000) + 376 })
    }

    @Test func receivedShareIsTheShareOfTheWindow() throws {
        // 30 ms of 300 ms: one event in ten, minus those at the edges of the windows.
        let (pdus, reports) = try history(interval: 480, window: 48, milliseconds: 120_000)
        let events = Double(pdus.count) / 3
        #expect(abs(Double(reports.count) / events - 0.1) < 0.02)
    }

    @Test func durationEndsTheScan() throws {
        let host = TestHost(.zephyr)
        try host.send([.allEvents, .allLEEvents, .extendedScan(), .extendedScanEnable(duration: 10)])
        #expect(try host.listen(milliseconds: 99) == [])
        #expect(try host.listen(milliseconds: 1) == [[0x11]])
        #expect(!host.controller.isScanning)
    }

    @Test func periodRepeatsTheScan() throws {
        let air = VirtualAir()
        let sender = TestHost(.raspberryPi, on: air)
        try sender.send([.parameters(0x20, 0x20), .enable])
        let host = TestHost(.zephyr, on: air)
        try host.send([
            .allEvents, .allLEEvents, .extendedScan(), .extendedScanEnable(filter: 2, duration: 50, period: 1),
        ])
        // One device, one report a period, and silence in the pauses.
        for _ in 0..<5 {
            #expect(try host.listen(milliseconds: 500).count == 1)
            #expect(try host.listen(milliseconds: 780) == [])
        }
        #expect(host.controller.isScanning)
    }

    @Test func duplicatesAreReportedOnce() throws {
        let air = VirtualAir()
        let sender = TestHost(.raspberryPi, on: air)
        try sender.send([.parameters(type: 2), .data([1]), .enable])
        let host = TestHost(.raspberryPi, on: air)
        try host.send([.allEvents, .scan(type: 1), .scanEnable(filter: 1)])
        #expect(try host.listen(milliseconds: 5000).map { $0[2] } == [2, 4])
        // Other data does not make another device.
        try sender.send(.data([2]))
        #expect(try host.listen(milliseconds: 1000) == [])
        // Another address does.
        try sender.send([.disable, .randomAddress, .parameters(type: 2, own: 1), .enable])
        #expect(try host.listen(milliseconds: 1000).count == 2)
        // A new scan reports the device again.
        try host.send([.scanEnable(0), .scanEnable(filter: 1)])
        #expect(try host.listen(milliseconds: 1000).count == 2)
    }

    @Test func newExtendedDataIsNoDuplicate() throws {
        let air = VirtualAir()
        let sender = TestHost(.zephyr, on: air)
        try sender.send([.set(properties: 0), .setData(1, [1]), .setEnable()])
        let host = TestHost(.zephyr, on: air)
        try host.send([.allEvents, .allLEEvents, .extendedScan(), .extendedScanEnable(filter: 1)])
        #expect(try host.listen(milliseconds: 2000).count == 1)
        try sender.send(.setData(1, [2]))
        #expect(try host.listen(milliseconds: 2000).count == 1)
        try sender.send(.setData(1, [], operation: 4))
        #expect(try host.listen(milliseconds: 2000).count == 1)
    }

    @Test func overlappingPacketsAreLostIfCollisionsAreOn() throws {
        for collide in [false, true] {
            var parameters = VirtualAir.Parameters()
            parameters.packetsCollide = collide
            let air = VirtualAir(parameters)
            let hosts = [TestHost(on: air), TestHost(on: air)]
            let scanner = TestHost(on: air)
            try scanner.send([.allEvents, .scan(0x4000, 0x4000), .scanEnable()])
            for host in hosts { try host.send([.parameters(map: 1), .enable]) }
            // Both packets begin at the same instant.
            #expect(try scanner.listen(milliseconds: 50).count == (collide ? 0 : 2))
            // Later, advDelay separates them.
            #expect(try scanner.listen(milliseconds: 1000).count > 15)
        }
    }

    @Test func packetsThatFollowWithoutGapDoNotCollide() throws {
        for (microseconds, heard) in [(127, 0), (128, 2)] {
            var parameters = VirtualAir.Parameters()
            parameters.packetsCollide = true
            let air = VirtualAir(parameters)
            let scanner = TestHost(on: air)
            try scanner.send([.allEvents, .scan(0x4000, 0x4000), .scanEnable()])
            let first = TestHost(on: air)
            try first.send([.parameters(map: 1), .enable])
            air.advance(to: air.now.advanced(byMicroseconds: microseconds))
            let second = TestHost(on: air)
            try second.send([.parameters(map: 1), .enable])
            #expect(try scanner.listen(milliseconds: 50).count == heard)
        }
    }

    @Test func packetThatBeganBeforeTheScanIsNotReceived() throws {
        for microseconds in [1, 127] {
            let air = VirtualAir()
            let earlier = TestHost(on: air)
            try earlier.send([.allEvents, .scan(0x4000, 0x4000), .scanEnable()])
            let sender = TestHost(on: air)
            try sender.send([.parameters(map: 1), .enable])
            air.advance(to: air.now.advanced(byMicroseconds: microseconds))
            let scanner = TestHost(on: air)
            try scanner.send([.allEvents, .scan(0x4000, 0x4000), .scanEnable()])
            #expect(try scanner.listen(milliseconds: 50).isEmpty)
            #expect(try earlier.listen(milliseconds: 0).count == 1)
        }
    }
}
