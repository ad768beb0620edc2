import Glibc
import LinuxHost
import TestSupport
import Testing

@Suite struct RFKillTests {
    @Test func anEventIsReadFieldByField() throws {
        let event = try #require(RFKillEvent(octets: [0x03, 0x01, 0, 0, 2, 2, 1, 0]))
        #expect(event.number == 0x103)
        #expect(event.isBluetooth)
        #expect(event.operation == .change)
        #expect(event.isSoftBlocked)
        #expect(!event.isHardBlocked)
        // Linux 5.11 appends the reasons of a hard block.
        #expect(RFKillEvent(octets: [0, 0, 0, 0, 1, 0, 0, 1, 3])?.isHardBlocked == true)
        #expect(RFKillEvent(octets: [0, 0, 0, 0, 1, 0, 0, 1])?.isBluetooth == false)
    }

    @Test(arguments: [[], [0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 2, 4, 0, 0]] as [[UInt8]])
    func ignoresInvalidEvents(_ octets: [UInt8]) {
        #expect(RFKillEvent(octets: octets) == nil)
    }

    @Test func theSwitchOfAnAdapterIsFoundAmongOthers() throws {
        let folder = try TemporaryFolder()
        var switches: [TemporaryFolder] = []
        // Links to folders, as in /sys.
        func make(_ name: String, _ values: [(String, String)]) throws {
            let target = try TemporaryFolder()
            for (file, value) in values { _ = try target.file(file, Array((value + "\n").utf8)) }
            #expect(unsafe symlink(target.path, folder.place(name)) == 0)
            switches.append(target)
        }
        try make("rfkill0", [("type", "wlan"), ("name", "phy0"), ("soft", "1"), ("hard", "0")])
        try make("rfkill1", [("type", "bluetooth"), ("name", "hci0"), ("soft", "1"), ("hard", "0")])
        try make("rfkill2", [("type", "bluetooth"), ("name", "hci1"), ("soft", "0"), ("hard", "1")])
        try make("rfkill7", [("type", "bluetooth"), ("name", "tpacpi_bluetooth_sw"), ("soft", "0"), ("hard", "0")])
        let all = RFKill.switches(in: folder.path)
        #expect(all.map(\.number) == [1, 2, 7])
        #expect(all.map(\.adapter) == ["hci0", "hci1", nil])
        #expect(all.map(\.isBlocked) == [true, true, false])
        let soft = try #require(RFKill.switch(of: "hci0", in: folder.path))
        #expect(soft.remedy == "`rfkill unblock 1` (or `rfkill unblock bluetooth`) turns it on")
        let hard = try #require(RFKill.switch(of: "hci1", in: folder.path))
        #expect(hard.remedy == "the machine's radio switch or key turns it on")
        #expect(RFKill.switch(of: "hci2", in: folder.path) == nil)
        #expect(all.last?.remedy == nil)
        #expect(switches.count == 4)
    }

    @Test func findsNoSwitchesInAMissingDirectory() {
        #expect(RFKill.switches(in: "/nowhere/at/all") == [])
    }
}
