import BluetoothTypes
import HCI
import Listener
import Sightings
import Testing

/// A kernel with the advertisement monitors of Linux 6.1: at most 32 monitors, numbered from 1.
private final class MonitorKernel: ManagementChannel {
    private(set) var now = HCIInstant(nanoseconds: 0)
    private(set) var monitors: [UInt16: AddAdvertisementPatternsMonitor] = [:]
    private var made: UInt16 = 0
    private var queue: [ManagementPacket] = []
    var refusal: ManagementStatus?

    func tell(_ content: ManagementEvent.Content, index: UInt16 = 1) {
        queue.append(ManagementEvent(index: index, content).packet)
    }

    /// Another program removes all monitors.
    func removeAll() {
        for monitor in monitors.keys.sorted() { tell(.monitorRemoved(monitor)) }
        monitors = [:]
    }

    func send(_ packet: ManagementPacket) throws(HCIChannelError) {
        func answer(_ status: ManagementStatus, _ returned: [UInt8] = []) {
            tell(.commandComplete(opcode: packet.code, status: status, returned: returned), index: packet.index)
        }
        if let refusal { return answer(refusal) }
        switch packet.code {
        case AddAdvertisementPatternsMonitor.opcode:
            guard monitors.count < 32, let command = AddAdvertisementPatternsMonitor(parameters: packet.parameters.span)
            else { return answer(.invalidParameters) }
            made += 1
            monitors[made] = command
            answer(.success, ManagementMonitor(made).octets)
        case RemoveAdvertisementMonitor.opcode:
            guard let command = RemoveAdvertisementMonitor(parameters: packet.parameters.span),
                monitors.removeValue(forKey: command.monitor) != nil
            else { return answer(.invalidIndex) }
            answer(.success, packet.parameters)
        default: answer(.unknownCommand)
        }
    }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket? {
        if !queue.isEmpty { return queue.removeFirst() }
        now = max(now, deadline)
        return nil
    }
}

@Suite struct PresenceSessionTests {
    private let kernel = MonitorKernel()
    private let session: PresenceSession

    init() {
        session = PresenceSession(host: ManagementHost(channel: kernel), index: 1)
    }

    private static func device(_ type: UInt8, rssi: Int8? = -60, flags: UInt32 = 4) -> ManagementDevice {
        ManagementDevice(
            address: DeviceAddress(FixedOctets(repeating: 0xC1)), addressType: type, rssi: rssi, flags: flags,
            data: [2, 1, 6])
    }

    private func receive() throws -> [HeardReport] {
        var reports: [HeardReport] = []
        try session.receive(until: kernel.now) { report, data in
            reports.append(report)
            #expect(data == [2, 1, 6])
        }
        return reports
    }

    @Test func receivesLEDevicesAndRemovesItsMonitorAtTheEnd() throws {
        try session.start()
        #expect(kernel.monitors.values.map(\.patterns.count) == [3])
        kernel.tell(.monitoredDeviceFound(monitor: 1, Self.device(2)))
        kernel.tell(.monitoredDeviceFound(monitor: 0, Self.device(1, rssi: nil, flags: 0)))
        kernel.tell(.deviceFound(Self.device(2)))
        // A device of another adapter, and a BR/EDR device.
        kernel.tell(.deviceFound(Self.device(2)), index: 0)
        kernel.tell(.deviceFound(Self.device(0)))
        let reports = try receive()
        #expect(reports.map { $0.sighting.sender?.isRandom } == [true, false, true])
        #expect(reports.map(\.sighting.rssi) == [-60, nil, -60])
        #expect(reports.map(\.type) == [.legacy(3), .legacy(0), .legacy(3)])
        try session.stop()
        #expect(kernel.monitors.isEmpty)
    }

    @Test func addsARemovedMonitorAgain() throws {
        try session.start()
        kernel.removeAll()
        #expect(try receive().isEmpty)
        #expect(kernel.monitors.keys.sorted() == [2])
        #expect(session.restarts == 1)
    }

    /// The kernel keeps monitors while an adapter is off. If the session did not remove them, 32 power cycles would use
    /// up all monitors.
    @Test func replacesTheMonitorAfterEachPowerLoss() throws {
        for cycle in 1...40 {
            try session.start()
            #expect(kernel.monitors.keys.sorted() == [UInt16(cycle)])
            kernel.tell(.newSettings([.lowEnergy]))
            #expect(throws: ManagementError.self) { try receive() }
        }
        try session.stop()
        #expect(kernel.monitors.isEmpty)
    }

    /// The number of the old monitor may belong to another program by then.
    @Test func removesNoMonitorAfterTheAdapterWasPluggedInAgain() throws {
        try session.start()
        kernel.tell(.newSettings([.lowEnergy]))
        #expect(throws: ManagementError.self) { try receive() }
        kernel.tell(.indexRemoved)
        kernel.tell(.indexAdded)
        try session.start()
        #expect(kernel.monitors.keys.sorted() == [1, 2])
    }

    @Test func isAsleepBetweenSuspendAndResume() throws {
        try session.start()
        kernel.tell(.controllerSuspend(state: 0))
        _ = try receive()
        #expect(!session.isAsleep)
        kernel.tell(.controllerSuspend(state: 2))
        _ = try receive()
        #expect(session.isAsleep)
        kernel.tell(.controllerResume(reason: 0, peer: [UInt8](repeating: 0, count: 7)))
        _ = try receive()
        #expect(!session.isAsleep)
    }

    @Test(arguments: [ManagementEvent.Content.indexRemoved, .newSettings([.lowEnergy]), .newSettings([.powered])])
    func endsIfTheAdapterIsRemovedOrTurnedOff(content: ManagementEvent.Content) throws {
        try session.start()
        kernel.tell(content)
        #expect(throws: ManagementError.self) { try receive() }
    }

    @Test func throwsIfTheKernelRefusesTheMonitor() {
        kernel.refusal = .permissionDenied
        #expect(throws: ManagementError.self) { try session.start() }
    }
}
