import Glibc
import TestSupport
import Testing

/// SIGHUP: changes that are applied, and changes that are refused.
@Suite struct RunReloadTests {
    @Test func aGoodProfileTakesOverAndABadOneDoesNot() throws {
        let box = try ServiceTestBox()
        try box.start()
        #expect(box.says("on the air"))
        let first = try box.status()
        try box.reload("{")
        #expect(box.says("reload refused, the old profile stays in use: "))
        #expect(box.count("profile:1:2") == 1)
        #expect(eventually { (try? box.status().contains("\"rejectedFile\":{\"time\":\"20")) == true })
        let refused = try box.status()
        #expect(refused.contains("profile:1:2: ") && refused.contains("\"lastError\":\"reload refused: "), "\(refused)")
        #expect(try Program.run("status", "--runtime-dir", box.folder.path).output.contains("changed file refused at"))
        try box.reload(ServiceTestBox.profile(minor: 3))
        #expect(box.says("reloaded: on the air: ibeacon every 100 ms"))
        // The status contains the hash of the profile.
        #expect(eventually { (try? box.status()) != first })
        #expect(box.count("back on the air") == 0)
        #expect(eventually { (try? box.status().contains("\"rejectedFile\":null")) == true })
    }

    @Test func statusAndLogShowWhatIsOnTheAir() throws {
        let box = try ServiceTestBox()
        try box.start()
        let frame = "iBeacon fb0b57a2-8228-44cd-913a-94a122ba1206, major 1, minor 2, -59 dBm at 1 m"
        #expect(box.says("(\(frame))"))
        #expect(eventually { (try? box.status().contains("\"content\":\"\(frame)\"")) == true })
        #expect(
            try box.status().contains("\"octets\":\"0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5\""))
        let text = try Program.run("status", "--runtime-dir", box.folder.path).output
        #expect(text.contains("\n  ibeacon: \(frame)\n"), "\(text)")
    }

    @Test func aReloadMayNameAnotherAdapter() throws {
        let box = try ServiceTestBox(ServiceTestBox.profile(adapter: "virtual"))
        try box.start(adapter: nil)
        #expect(box.says("on the air"))
        try box.plug()
        try box.reload(ServiceTestBox.profile(adapter: "unix:\(box.socket)"))
        #expect(eventually { (try? box.status().contains("unix:")) == true })
        #expect(eventually { (try? box.status().contains("\"state\":\"on-air\"")) == true })
        #expect(box.stop()?.code == 0)
    }

    /// Privileges that the service has dropped cannot be regained.
    @Test func refusesAReloadThatNeedsMoreRights() throws {
        let box = try ServiceTestBox(ServiceTestBox.profile(adapter: "virtual"))
        try box.start(adapter: nil)
        #expect(box.says("on the air"))
        try box.reload(ServiceTestBox.profile(adapter: "hci0"))
        #expect(box.says("hci0 needs capabilities that were given up; restart the service"))
        #expect(try box.status().contains("\"state\":\"on-air\""))
    }

    @Test func refusesAReloadOfAMissingProfile() throws {
        let box = try ServiceTestBox()
        try box.start()
        #expect(box.says("on the air"))
        box.folder.remove("profile")
        box.service?.signal(SIGHUP)
        #expect(box.says("the old profile stays in use: "))
        #expect(box.count("profile: there is no such file") == 1)
    }
}
