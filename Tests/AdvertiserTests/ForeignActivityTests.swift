import Advertiser
import BluetoothTypes
import HCI
import Testing

/// Passes packets of a monitor channel to a `ForeignActivity`, and returns what it finds.
private struct Monitored {
    var activity: ForeignActivity
    var now = HCIInstant(nanoseconds: 0)

    init(_ watched: ForeignActivity.Watched) {
        activity = ForeignActivity(index: 0, watching: watched, ownProgram: "pharos")
        tell(.socketOpened(cookie: 1, kind: .management, program: "bluetoothd"), index: 0xFFFF)
        tell(.socketOpened(cookie: 2, kind: .raw, program: "pharos"))
        tell(.socketOpened(cookie: 3, kind: .management, program: "pharos"), index: 0xFFFF)
    }

    @discardableResult
    mutating func tell(_ content: MonitorPacket.Content, index: UInt16 = 0) -> ForeignActivity.Cause? {
        guard case .disturbance(let cause) = find(content, index: index) else { return nil }
        return cause
    }

    mutating func find(_ content: MonitorPacket.Content, index: UInt16 = 0) -> ForeignActivity.Finding? {
        activity.receive(MonitorPacket(index: index, content), at: now)
    }

    /// Passes a command of another program and its successful answer, and returns the finding.
    mutating func finding<C: HCICommand>(_ command: C) -> ForeignActivity.Finding? {
        var octets: [UInt8] = [0x0E, 4, 1]
        octets.append(littleEndian: C.opcode.rawValue)
        return find(.hci(command.packet, isFromController: false))
            ?? find(.hci(HCIPacket(.event, octets + [0]), isFromController: true))
    }

    /// Passes a command of another program and the controller's answer.
    @discardableResult
    mutating func foreign(_ command: some HCICommand, _ status: HCIStatus = .success) -> ForeignActivity.Cause? {
        let begun = tell(.hci(command.packet, isFromController: false))
        return begun ?? answer(command, status)
    }

    /// Passes a command of this program and the controller's answer.
    @discardableResult
    mutating func own(_ command: some HCICommand, _ status: HCIStatus = .success) -> ForeignActivity.Cause? {
        activity.announce(command.packet)
        return foreign(command, status)
    }

    mutating func answer<C: HCICommand>(_ command: C, _ status: HCIStatus) -> ForeignActivity.Cause? {
        var octets: [UInt8] = [0x0E, 4, 1]
        octets.append(littleEndian: C.opcode.rawValue)
        return tell(.hci(HCIPacket(.event, octets + [status.rawValue]), isFromController: true))
    }

    mutating func wait(milliseconds: Int) -> ForeignActivity.Cause? {
        now = now.advanced(byMicroseconds: milliseconds * 1000)
        return activity.expire(at: now)
    }

    /// Passes a management command of this program.
    mutating func own(_ packet: ManagementPacket) {
        activity.announce(packet)
        tell(.managementCommand(cookie: 3, packet))
    }

    mutating func opensRawSocket(_ program: String) {
        tell(.socketOpened(cookie: 9, kind: .raw, program: program))
    }
}

@Suite struct ForeignActivityTests {
    private typealias Cause = ForeignActivity.Cause

    @Test func ownCommandsAreNoDisturbance() throws {
        var monitored = Monitored(.legacy)
        let data = try LESetAdvertisingData([2, 1, 6])
        for _ in 0..<3 {
            #expect(monitored.own(data) == nil)
            #expect(monitored.own(LESetAdvertisingEnable(true)) == nil)
            #expect(monitored.own(LESetAdvertisingEnable(false)) == nil)
            #expect(monitored.own(HCIReset()) == nil)
        }
    }

    @Test func namesTheProgramThatTurnsAdvertisingOff() {
        var monitored = Monitored(.legacy)
        monitored.own(LESetAdvertisingEnable(true))
        monitored.opensRawSocket("hcitool")
        let cause = monitored.foreign(LESetAdvertisingEnable(false))
        #expect(cause == Cause(.advertisingDisabled, programs: ["hcitool"]))
        #expect(cause?.description == "hcitool turned advertising off")
    }

    @Test func ignoresCommandsThatTheControllerRefused() throws {
        var monitored = Monitored(.legacy)
        monitored.opensRawSocket("hcitool")
        #expect(monitored.foreign(LESetAdvertisingEnable(false), .commandDisallowed) == nil)
        #expect(monitored.foreign(LESetRandomAddress(Sample.address), .commandDisallowed) == nil)
    }

    @Test func settingTheSameDataAgainIsNoDisturbance() throws {
        var monitored = Monitored(.legacy)
        monitored.own(try LESetAdvertisingData([2, 1, 6]))
        monitored.opensRawSocket("bleno")
        #expect(monitored.foreign(try LESetAdvertisingData([2, 1, 6])) == nil)
        #expect(monitored.foreign(try LESetAdvertisingData([2, 1, 4])) == Cause(.dataChanged, programs: ["bleno"]))
        #expect(monitored.foreign(LESetAdvertisingEnable(true)) == nil)
        #expect(
            monitored.foreign(try LESetScanResponseData([2, 1, 4])) == Cause(.scanResponseChanged, programs: ["bleno"]))
        #expect(monitored.foreign(HCIReset()) == Cause(.controllerReset, programs: ["bleno"]))
    }

    @Test func kernelActionIsAttributedToTheRequestingProgram() throws {
        var monitored = Monitored(.legacy)
        let added = ManagementPacket(code: AddAdvertising.opcode, index: 0, parameters: [1])
        #expect(monitored.tell(.managementCommand(cookie: 1, added)) == nil)
        let cause = monitored.foreign(try LESetAdvertisingData([2, 1, 4]))
        #expect(cause == Cause(.dataChanged, programs: ["bluetoothd"]))
        _ = monitored.wait(milliseconds: 3000)
        let later = monitored.foreign(LESetAdvertisingEnable(false))
        #expect(later == Cause(.advertisingDisabled, programs: []))
        #expect(later?.description == "the kernel turned advertising off")
    }

    @Test func ignoresAdvertisingSetsOfOtherPrograms() throws {
        var monitored = Monitored(.sets(handles: [0xEF]))
        monitored.opensRawSocket("hcitool")
        func enable(_ on: Bool, _ handles: UInt8...) throws -> LESetExtendedAdvertisingEnable {
            try LESetExtendedAdvertisingEnable(on, handles.map { .init(handle: $0) })
        }
        #expect(monitored.foreign(try enable(false, 1)) == nil)
        #expect(monitored.foreign(try LERemoveAdvertisingSet(handle: 1)) == nil)
        #expect(monitored.foreign(try LESetExtendedAdvertisingData(handle: 1, data: [2, 1, 4])) == nil)
        #expect(monitored.foreign(LESetAdvertisingEnable(false)) == nil)
        let disabled = Cause(.advertisingDisabled, programs: ["hcitool"])
        #expect(monitored.foreign(try enable(false, 1, 0xEF)) == disabled)
        #expect(monitored.foreign(LESetExtendedAdvertisingEnable.disableAll) == disabled)
        #expect(
            monitored.foreign(try LESetExtendedAdvertisingData(handle: 0xEF, data: [2, 1, 4]))
                == Cause(.dataChanged, programs: ["hcitool"]))
        #expect(
            monitored.foreign(try LERemoveAdvertisingSet(handle: 0xEF))
                == Cause(.advertisementRemoved, programs: ["hcitool"]))
        #expect(monitored.foreign(LEClearAdvertisingSets())?.kind == .advertisementRemoved)
    }

    @Test func powerDownIsAttributedToTheRequestingProgram() {
        var monitored = Monitored(.legacy)
        #expect(monitored.tell(.closeIndex)?.description == "the adapter was powered down")
        let powered = SetPowered(false).packet(0)
        _ = monitored.tell(.managementCommand(cookie: 1, powered))
        #expect(monitored.tell(.closeIndex) == Cause(.poweredDown, programs: ["bluetoothd"]))
        // The socket of hciconfig is bound to no adapter. Only its ioctl names the adapter.
        monitored.tell(.socketOpened(cookie: 8, kind: .raw, program: "hciconfig"), index: 0xFFFF)
        #expect(monitored.tell(.closeIndex) == Cause(.poweredDown, programs: ["hciconfig"]))
        monitored.tell(.socketClosed(cookie: 8))
        #expect(monitored.tell(.deleteIndex)?.description == "the adapter was unplugged")
    }

    @Test func ignoresEventsOfOtherAdapters() {
        var monitored = Monitored(.legacy)
        #expect(monitored.tell(.closeIndex, index: 1) == nil)
        #expect(monitored.tell(.deleteIndex, index: 1) == nil)
        #expect(monitored.tell(.hci(HCIReset().packet, isFromController: false), index: 1) == nil)
        #expect(monitored.answer(HCIReset(), .success) == nil)
    }

    @Test func reportsAProgramThatOpensTheUserChannel() {
        var monitored = Monitored(.legacy)
        #expect(
            monitored.tell(.socketOpened(cookie: 8, kind: .user, program: "zephyr"))
                == Cause(.takenOver, programs: ["zephyr"]))
        #expect(monitored.tell(.socketOpened(cookie: 9, kind: .user, program: "pharos")) == nil)
    }

    // MARK: Through the kernel

    @Test func reportsOnlyLongPausesOfManagedAdvertising() throws {
        var monitored = Monitored(.managed(instances: [5]))
        for _ in 0..<3 {
            #expect(monitored.foreign(LESetAdvertisingEnable(false)) == nil)
            #expect(monitored.foreign(LESetRandomAddress(Sample.address)) == nil)
            #expect(monitored.foreign(try LESetAdvertisingData([2, 1, 4])) == nil)
            #expect(monitored.wait(milliseconds: 650) == nil)
            #expect(monitored.foreign(LESetAdvertisingEnable(true)) == nil)
            #expect(monitored.wait(milliseconds: 5000) == nil)
            #expect(monitored.activity.wakeTime == nil)
        }
        monitored.opensRawSocket("hcitool")
        #expect(monitored.foreign(LESetAdvertisingEnable(false)) == nil)
        monitored.tell(.socketClosed(cookie: 9))
        #expect(monitored.wait(milliseconds: 249) == nil)
        #expect(monitored.activity.wakeTime != nil)
        #expect(monitored.wait(milliseconds: 1) == Cause(.advertisingDisabled, programs: ["hcitool"]))
        #expect(monitored.wait(milliseconds: 10_000) == nil, "it is reported once")
        #expect(monitored.foreign(LESetAdvertisingEnable(false)) == nil)
        #expect(monitored.wait(milliseconds: 699) == nil)
        #expect(monitored.wait(milliseconds: 1) == Cause(.advertisingDisabled, programs: []))
    }

    @Test func reportsManagedDataThatNoCommandExplains() throws {
        var monitored = Monitored(.managed(instances: [5]))
        let ours = try AddExtendedAdvertisingData(instance: 5, data: [3, 0x16, 1, 2], scanResponse: [2, 0x0A, 4])
            .packet(0)
        monitored.own(ours)
        let added = try LESetAdvertisingData([2, 1, 6, 3, 0x16, 1, 2])
        let other = try LESetAdvertisingData([2, 1, 6])
        #expect(monitored.foreign(added) == nil)
        // No program has a raw socket, so the kernel has sent these data: another instance has its turn.
        #expect(monitored.foreign(other) == nil)
        #expect(monitored.activity.wakeTime == nil)

        monitored.opensRawSocket("hcitool")
        #expect(monitored.foreign(added) == nil)
        #expect(monitored.activity.wakeTime == nil)
        // The kernel changes to another instance, and then turns advertising on again.
        #expect(monitored.foreign(other) == nil)
        #expect(monitored.foreign(LESetAdvertisingEnable(true)) == nil)
        #expect(monitored.activity.wakeTime == nil)

        #expect(monitored.foreign(other) == nil)
        monitored.tell(.socketClosed(cookie: 9))
        #expect(monitored.wait(milliseconds: 249) == nil)
        let cause = monitored.wait(milliseconds: 1)
        #expect(cause == Cause(.dataChanged, programs: ["hcitool"]))
        #expect(cause?.description == "hcitool changed the advertising data")
        #expect(monitored.wait(milliseconds: 10_000) == nil, "it is reported once")
        monitored.opensRawSocket("hcitool")
        #expect(monitored.foreign(try LESetScanResponseData([2, 1, 4])) == nil)
        #expect(monitored.wait(milliseconds: 250)?.kind == .scanResponseChanged)
    }

    @Test func restoredDataOfAManagedSetAreNoDisturbance() throws {
        var monitored = Monitored(.managed(instances: [5]))
        let ours = try AddAdvertising(instance: 5, data: [3, 0x16, 1, 2]).packet(0)
        monitored.tell(.managementCommand(cookie: 1, ours))
        // Data that were requested for another instance do not explain the same data in the watched instance.
        monitored.tell(.managementCommand(cookie: 1, try AddAdvertising(instance: 4, data: [2, 1, 6]).packet(0)))
        monitored.opensRawSocket("hcitool")
        #expect(monitored.foreign(try LESetExtendedAdvertisingData(handle: 5, data: [0])) == nil)
        #expect(monitored.foreign(try LESetExtendedAdvertisingData(handle: 5, data: [3, 0x16, 1, 2])) == nil)
        #expect(monitored.activity.wakeTime == nil)
        #expect(monitored.foreign(try LESetExtendedAdvertisingData(handle: 4, data: [2, 1, 6])) == nil)
        #expect(monitored.activity.wakeTime == nil)
        #expect(monitored.foreign(try LESetExtendedAdvertisingData(handle: 5, data: [2, 1, 6])) == nil)
        // Enabling the set again does not restore its data.
        #expect(monitored.foreign(try LESetExtendedAdvertisingEnable(true, [.init(handle: 5)])) == nil)
        #expect(monitored.wait(milliseconds: 250) == Cause(.dataChanged, programs: ["hcitool"]))
    }

    @Test func reportsEachRemovedOwnInstanceOnce() throws {
        var monitored = Monitored(.managed(instances: [4, 5]))
        for instance in 4...5 as ClosedRange<UInt8> {
            monitored.own(try AddAdvertising(instance: instance, data: [2, 1, 6]).packet(0))
        }
        let all = ManagementPacket(code: RemoveAdvertising.opcode, index: 0, parameters: [0])
        #expect(monitored.tell(.managementCommand(cookie: 1, all)) == nil)
        func removed(_ instance: UInt8, cookie: UInt32) -> ForeignActivity.Cause? {
            monitored.tell(
                .managementEvent(
                    cookie: cookie, ManagementEvent(index: 0, .advertisingRemoved(instance: instance)).packet))
        }
        #expect(removed(1, cookie: 3) == nil)
        let cause = removed(5, cookie: 3)
        #expect(cause?.description == "bluetoothd removed the advertisement")
        // The monitor channel shows the event once for each management socket.
        #expect(removed(5, cookie: 4) == nil)
        #expect(removed(4, cookie: 4)?.kind == .advertisementRemoved)
    }

    /// The session removes its instance and adds one with the same number. The kernel's events of the removal arrive
    /// late.
    @Test func removalsByThisProgramAreNoDisturbance() throws {
        var monitored = Monitored(.managed(instances: [5]))
        let addition = try AddAdvertising(instance: 5, data: [3, 0x16, 1, 2]).packet(0)
        let event = ManagementEvent(index: 0, .advertisingRemoved(instance: 5)).packet
        #expect(monitored.tell(.managementEvent(cookie: 1, event)) == nil, "it was not added yet")
        monitored.own(addition)
        monitored.own(try RemoveAdvertising(instance: 5).packet(0))
        monitored.activity.watch(.managed(instances: [5]))
        #expect(monitored.tell(.managementEvent(cookie: 1, event)) == nil)
        monitored.own(addition)
        #expect(monitored.tell(.managementEvent(cookie: 1, event)) == Cause(.advertisementRemoved, programs: []))
    }

    /// After a removal, the same number is watched again without a new call of `watch`.
    @Test func changedDataOfAnInstanceThatWasAddedAgainAreReported() throws {
        var monitored = Monitored(.managed(instances: [5]))
        let addition = try AddAdvertising(instance: 5, data: [3, 0x16, 1, 2]).packet(0)
        monitored.own(addition)
        let event = ManagementEvent(index: 0, .advertisingRemoved(instance: 5)).packet
        #expect(monitored.tell(.managementEvent(cookie: 1, event))?.kind == .advertisementRemoved)
        monitored.own(addition)
        monitored.opensRawSocket("hcitool")
        #expect(monitored.foreign(try LESetExtendedAdvertisingData(handle: 5, data: [2, 1, 6])) == nil)
        #expect(monitored.wait(milliseconds: 250) == Cause(.dataChanged, programs: ["hcitool"]))
    }

    /// The monitor channel lists the open sockets only once, before this program has chosen its adapter.
    @Test func followingAnotherAdapterKeepsTheKnownSockets() throws {
        var monitored = Monitored(.legacy)
        monitored.tell(.socketOpened(cookie: 9, kind: .raw, program: "hcitool"), index: 2)
        monitored.activity.follow(2)
        #expect(monitored.foreign(LESetAdvertisingEnable(false)) == nil)
        #expect(monitored.tell(.closeIndex) == nil)
        let off = LESetAdvertisingEnable(false)
        monitored.tell(.hci(off.packet, isFromController: false), index: 2)
        let answer = HCIPacket(.event, [0x0E, 4, 1, 0x0A, 0x20, 0])
        #expect(
            monitored.tell(.hci(answer, isFromController: true), index: 2)
                == Cause(.advertisingDisabled, programs: ["hcitool"]))
    }

    @Test func theEndOfAScanFreesTheRadio() throws {
        for watched in [ForeignActivity.Watched.legacy, .sets(handles: [0xEF]), .managed(instances: [1])] {
            var monitored = Monitored(watched)
            #expect(monitored.finding(LESetScanEnable(true)) == nil)
            #expect(monitored.activity.isScanning)
            #expect(monitored.finding(LESetScanEnable(false)) == .radioFreed)
            #expect(!monitored.activity.isScanning)
            #expect(try monitored.finding(LESetExtendedScanEnable(false)) == .radioFreed)
        }
    }

    @Test func foreignAddressIsReportedAsAnAddressChange() throws {
        var monitored = Monitored(.legacy)
        let ours = LESetRandomAddress(try #require(DeviceAddress("C0:00:00:00:00:01")))
        _ = monitored.own(ours)
        #expect(monitored.finding(ours) == nil)
        #expect(
            monitored.finding(LESetRandomAddress(try #require(DeviceAddress("C0:00:00:00:00:02")))) == .addressChanged)
    }

    @Test func reportsAFreeRadioWhenTheKernelAdvertisesAgain() {
        var monitored = Monitored(.managed(instances: [1]))
        #expect(monitored.finding(LESetAdvertisingEnable(true)) == nil)
        #expect(monitored.activity.isAdvertising == true)
        #expect(monitored.finding(LESetAdvertisingEnable(false)) == nil)
        #expect(monitored.activity.isAdvertising == false)
        #expect(monitored.wait(milliseconds: 2000)?.kind == .advertisingDisabled)
        #expect(monitored.finding(LESetAdvertisingEnable(true)) == .radioFreed)
        #expect(monitored.finding(LESetAdvertisingEnable(true)) == nil)
    }

    @Test func namesTheScanningProgramUntilItStops() {
        var monitored = Monitored(.managed(instances: [1]))
        for (code, program) in [(0x0023, "bluetoothd"), (0x0024, nil), (0x003A, "bluetoothd")] as [(UInt16, String?)] {
            monitored.tell(.managementCommand(cookie: 1, ManagementPacket(code: code, index: 0, parameters: [7])))
            #expect(monitored.activity.scanningProgram == program)
        }
    }

    @Test func instancesThatWereAddedAgainCountAsAdvertising() throws {
        var monitored = Monitored(.managed(instances: [1]))
        let on = try LESetExtendedAdvertisingEnable(true, [.init(handle: 1)])
        #expect(monitored.finding(try LESetExtendedAdvertisingEnable(false, [])) == nil)
        monitored.activity.announce(try RemoveAdvertising(instance: 1).packet(0))
        #expect(monitored.finding(on) == nil)
        #expect(monitored.activity.isAdvertising == true)
    }

    @Test func randomMonitorPacketsNeverTrap() {
        var generator = SplitMix64(seed: 8)
        for watched in [
            ForeignActivity.Watched.legacy, .sets(handles: [0, 0xEF]), .managed(instances: [1, 2]),
        ] {
            var activity = ForeignActivity(index: 0, watching: watched, ownProgram: "pharos")
            for step in 0..<20_000 {
                let count = Int.random(in: 0...12, using: &generator)
                var octets: [UInt8] = [UInt8.random(in: 0...19, using: &generator), 0, 0, 0, UInt8(count), 0]
                octets += (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let instant = HCIInstant(nanoseconds: 0).advanced(byMicroseconds: step)
                if let packet = MonitorPacket(octets: octets.span) { _ = activity.receive(packet, at: instant) }
                _ = activity.expire(at: instant)
            }
        }
    }
}
