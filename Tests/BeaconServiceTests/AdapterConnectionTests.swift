import Advertiser
import BluetoothTypes
import Glibc
import HCI
import KernelSimulation
import LinuxHost
import TestSupport
import Testing

@testable import BeaconService

/// The instances of the kernel's advertising manager that are watched for changes by other programs.
@Suite struct AdapterConnectionTests {
    private let folder: TemporaryFolder
    private let finder = AdapterFinder()
    private let kernel = MonitoredKernel()

    init() throws { folder = try TemporaryFolder() }

    /// Returns a job for hci0:mgmt with one advertisement for each of these minor numbers.
    private func job(_ minors: Int...) throws -> ServiceJob {
        let advertisements = minors.map { minor in
            #"{"type": "ibeacon", "uuid": "fb0b57a2-8228-44cd-913a-94a122ba1206", "major": 1, "minor": \#(minor), "#
                + #""intervalMs": 100, "measuredPowerDbm": -59}"#
        }
        let path = try folder.file(
            "lobby.json",
            text: #"{"version": 1, "name": "lobby", "advertisements": [\#(advertisements.joined(separator: ","))]}"#)
        return try ServiceJob(path: path, adapter: .managed(index: 0))
    }

    private func opened() -> (connection: AdapterConnection, foreign: ForeignEvents) {
        let foreign = ForeignEvents(finder, kernel.monitor)
        return (AdapterConnection(managed: 0, kernel, .standardInput, foreign: foreign), foreign)
    }

    @Test func aReloadWatchesTheInstancesOfTheNewProfile() throws {
        let (connection, foreign) = opened()
        let inputs = AdapterConnection.SessionInputs(
            sensors: ServiceSensors(), memory: nil, wallClock: nil, record: nil)
        let first = try connection.start(try job(2), after: nil, inputs)
        #expect(kernel.numbers == [5])
        _ = try connection.changeOver(to: try job(2, 3), from: first.session, inputs)
        #expect(kernel.numbers == [4, 5])
        #expect(foreign.causes().isEmpty)
        kernel.removeForAnotherProgram(4)
        #expect(foreign.causes().map(\.kind) == [.advertisementRemoved])
    }

    /// A session in which the instances were lost takes other numbers without a new connection.
    @Test func aSessionThatStartsAgainIsWatchedWithItsNewInstances() throws {
        let opened = opened()
        let environment = ServiceEnvironment(
            try job(2), ServiceDirectories(state: folder.path, runtime: folder.path),
            notifier: try ServiceNotifier { _ in nil },
            signals: try ServiceSignals(stop: [SIGUSR1], reload: [SIGUSR2]), log: { _, _ in }, opened: opened)
        let session = try environment.startSession()
        try environment.confirmOnAir()
        #expect(kernel.numbers == [5])
        session.silence(since: kernel.now)
        kernel.loseInstances(maximum: 4)
        try session.rearm()
        try environment.confirmOnAir()
        #expect(kernel.numbers == [4])
        #expect(opened.foreign.causes().isEmpty)
        kernel.removeForAnotherProgram(4)
        #expect(opened.foreign.causes().map(\.kind) == [.advertisementRemoved])
    }
}

/// A kernel whose monitor channel shows each management command, and the instances that another program removes.
private final class MonitoredKernel: ManagementChannel {
    final class Monitor: MonitorChannel {
        let descriptor = Descriptor.standardInput
        let now = HCIInstant(nanoseconds: 0)
        var packets: [MonitorPacket] = []

        func receive(until deadline: HCIInstant) throws(HCIChannelError) -> MonitorPacket? {
            packets.isEmpty ? nil : packets.removeFirst()
        }
    }

    let monitor = Monitor()
    private let channel = KernelChannel(FakeKernel())

    var now: HCIInstant { channel.now }
    /// The numbers of the instances.
    var numbers: [UInt8] { channel.kernel.instances.keys.sorted() }

    func send(_ packet: ManagementPacket) throws(HCIChannelError) {
        monitor.packets.append(MonitorPacket(index: packet.index, .managementCommand(cookie: 1, packet)))
        try channel.send(packet)
    }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket? {
        try channel.receive(until: deadline)
    }

    func removeForAnotherProgram(_ number: UInt8) {
        channel.kernel.instances[number] = nil
        let event = ManagementEvent(index: 0, .advertisingRemoved(instance: number))
        monitor.packets.append(MonitorPacket(index: 0, .managementEvent(cookie: 1, event.packet)))
    }

    /// Removes all instances, as the kernel does with an adapter that is unplugged.
    ///
    /// - Parameter maximum: The number of instances from then on.
    func loseInstances(maximum: UInt8) {
        channel.kernel.instances = [:]
        channel.kernel.maximumInstances = maximum
    }
}
