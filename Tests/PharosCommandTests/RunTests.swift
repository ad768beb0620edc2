import Glibc
import LinuxHost
import TestSupport
import Testing

/// The service on virtual controllers from its start to its end.
@Suite struct RunTests {
    @Test func sigtermEndsItWithinASecond() throws {
        let box = try ServiceTestBox()
        let service = try box.start()
        #expect(box.says("on the air"))
        let begin = MonotonicClock.nanoseconds()
        service.signal(SIGTERM)
        #expect(service.end().code == 0)
        #expect(MonotonicClock.nanoseconds() - begin < 1_000_000_000)
        #expect(try box.status().contains("\"state\":\"off\""))
    }

    /// The stop may come while the service waits for the answer to a command of the start or of the end.
    @Test(arguments: [200, 1500, 2500, 4500])
    func sigtermEndsAStartOnASilentController(afterMilliseconds delay: UInt32) throws {
        let box = try ServiceTestBox()
        try box.plug()
        box.silence()
        try box.start(adapter: "unix:\(box.socket)")
        usleep(delay * 1000)
        try endsWithinASecond(box)
    }

    @Test(arguments: [200, 1500, 2500, 4500, 6500])
    func sigtermEndsAReloadOnASilentController(afterMilliseconds delay: UInt32) throws {
        let box = try ServiceTestBox()
        try box.plug()
        try box.start(adapter: "unix:\(box.socket)")
        #expect(box.says("on the air"))
        box.silence()
        try box.reload(ServiceTestBox.profile(minor: 3))
        usleep(delay * 1000)
        try endsWithinASecond(box)
    }

    private func endsWithinASecond(_ box: ServiceTestBox) throws {
        let begin = MonotonicClock.nanoseconds()
        #expect(box.stop()?.code == 0)
        #expect(MonotonicClock.nanoseconds() - begin < 1_200_000_000)
        box.unplug()
    }

    @Test func itWaitsForItsController() throws {
        let box = try ServiceTestBox()
        try box.start(adapter: "unix:\(box.socket)")
        #expect(box.says("there is no such socket"))
        #expect(try box.status().contains("\"state\":\"starting\""))
        try box.plug()
        #expect(box.says("on the air"))
        #expect(try box.status().contains("\"state\":\"on-air\""))
    }

    /// The beacon was not on the air yet, so the end is not an error.
    @Test func itEndsWhileItWaits() throws {
        let box = try ServiceTestBox()
        try box.start(adapter: "unix:\(box.socket)")
        #expect(box.says("there is no such socket"))
        #expect(box.stop()?.code == 0)
    }

    @Test func recoversWhenTheControllerReturns() throws {
        let box = try ServiceTestBox()
        try box.plug()
        try box.start(adapter: "unix:\(box.socket)")
        #expect(box.says("on the air"))
        box.unplug()
        #expect(box.says("the controller closed the connection"))
        #expect(eventually { (try? box.status().contains("\"state\":\"recovering\"")) == true })
        try box.plug()
        #expect(box.says("back on the air"))
        #expect(try box.status().contains("\"rearms\":{\"peer-gone\":1}"))
        #expect(box.text("lobby.prom").contains("pharos_rearms_total{profile=\"lobby\",cause=\"peer-gone\"} 1\n"))
    }

    /// The only message is that the beacon is on the air.
    @Test func logsNothingInNormalOperation() throws {
        let box = try ServiceTestBox()
        let service = try box.start(shell: "WATCHDOG_USEC=300000 NOTIFY_SOCKET=/nowhere exec \"$0\" \"$@\"")
        #expect(box.says("on the air"))
        let verified = try box.status()
        // The status changes with each verification.
        #expect(eventually { (try? box.status()) != verified })
        #expect(service.errors.split(separator: "\n").filter { !$0.contains("the service manager") }.count == 1)
        #expect(box.stop()?.code == 0)
    }
}
