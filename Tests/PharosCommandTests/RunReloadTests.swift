import Glibc
import TestSupport
import Testing

/// SIGHUP: what takes over, and what does not.
@Suite struct RunReloadTests {
    @Test func aGoodProfileTakesOverAndABadOneDoesNot() throws {
        let box = try ServiceTestBox()
        try box.start()
        #expect(box.says("on the air"))
        let first = try box.status()
        try box.reload("{")
        #expect(box.says("reload refused, the old profile stays: "))
        #expect(box.count("p.json:1:2") == 1)
        try box.reload(ServiceTestBox.profile(minor: 3))
        #expect(box.says("reloaded: on the air: ibeacon every 100 ms"))
        // The hash of the profile is in it.
        #expect(eventually { (try? box.status()) != first })
        #expect(box.count("back on the air") == 0)
    }

    @Test func anotherNameIsNoReload() throws {
        let box = try ServiceTestBox()
        try box.start()
        #expect(box.says("on the air"))
        try box.reload(ServiceTestBox.profile(name: "hall"))
        #expect(box.says("its name is hall now"))
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

    /// Rights that were given up do not come back.
    @Test func anAdapterThatNeedsMoreRightsIsNoReload() throws {
        let box = try ServiceTestBox(ServiceTestBox.profile(adapter: "virtual"))
        try box.start(adapter: nil)
        #expect(box.says("on the air"))
        try box.reload(ServiceTestBox.profile(adapter: "hci0"))
        #expect(box.says("hci0 needs rights that were given up; restart for that"))
        #expect(try box.status().contains("\"state\":\"on-air\""))
    }

    @Test func aProfileThatHasGoneIsNoReload() throws {
        let box = try ServiceTestBox()
        try box.start()
        #expect(box.says("on the air"))
        box.folder.remove("p.json")
        box.service?.signal(SIGHUP)
        #expect(box.says("the old profile stays: "))
        #expect(box.count("p.json: there is no such file") == 1)
    }

    @Test(arguments: RunRefusalTests.refusals.indices)
    func whatIsRefusedAtTheStartIsRefusedAtAReload(_ number: Int) throws {
        let refusal = RunRefusalTests.refusals[number]
        let box = try ServiceTestBox()
        try refusal.prepare(box)
        try box.start()
        #expect(box.says("on the air"))
        try box.reload(refusal.profile)
        #expect(box.says("reload refused, the old profile stays: "))
        for part in refusal.reasons { #expect(box.count(part) == 1, "\(part): \(box.service?.errors ?? "")") }
        #expect(try box.status().contains("\"state\":\"on-air\""))
        // And a good one is taken after it.
        try box.reload(ServiceTestBox.profile(minor: 3))
        #expect(box.says("reloaded: on the air"))
        #expect(box.stop()?.code == 0)
    }
}
