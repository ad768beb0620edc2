import BluetoothTypes
import HCI
import LinuxHost
import Testing
import VirtualController

@testable import HCITransports

@Suite struct VirtualControllerClientTests {
    /// The thread of the air may be paused after it has found that a host has sent something, and the host may send
    /// more until the thread continues.
    @Test func commandDoesNotTakeEffectEarlierThanItWasSent() throws {
        let air = VirtualAir()
        let (ours, theirs) = try StreamSocket.pair()
        let client = VirtualControllerClient(theirs, isPacketOriented: false)
        client.controller = air.attach(.raspberryPi) { client.queue($0) }
        var firstEvent: HCIInstant?
        air.observer = { if firstEvent == nil { firstEvent = $0.start } }

        let sentAt = HCIInstant(nanoseconds: 500_000_000)
        try ours.writeAll(LESetAdvertisingEnable(true).packet.h4)
        client.readAvailable { air.advance(to: sentAt) }
        air.advance(to: HCIInstant(nanoseconds: 3_000_000_000))
        #expect(try #require(firstEvent) >= sentAt)
    }
}
