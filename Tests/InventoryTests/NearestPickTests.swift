import BluetoothTypes
import Inventory
import Sightings
import Testing

@Suite struct NearestPickTests {
    /// Rule 4.6: more than three of the last six rounds at -53 dBm or more, which is half a metre at P = -59.
    @Test(
        arguments: [
            ("nnn", nil), ("nnnn", 4), ("n--nnn", 6), ("n---nnn", nil), ("ffffff", nil), ("fnfnnn", 6),
        ] as [(String, Int?)])
    func moreThanThreeOfTheLastSixRounds(rounds: String, found: Int?) {
        var pick = NearestPick()
        pick.advance(to: World.instant(0))
        for (second, mark) in rounds.enumerated() where mark != "-" {
            hear(&pick, 7, second: Double(second) + 0.5, rssi: mark == "n" ? -52 : -56)
        }
        pick.finish(at: World.instant(Double(rounds.count)))
        #expect(pick.answer.map { $0.afterMicroseconds / 1_000_000 } == found)
        if found != nil { #expect(pick.answer?.identity == World.identity(7)) }
    }

    @Test func picksTheNearerOfTwoBeaconsAtHand() {
        var pick = NearestPick()
        for second in 0..<4 {
            hear(&pick, 1, second: Double(second) + 0.1, rssi: -50)
            hear(&pick, 2, second: Double(second) + 0.2, rssi: -40)
        }
        pick.finish(at: World.instant(4))
        #expect(pick.answer?.identity == World.identity(2) && pick.answer?.others == [World.identity(1)])
    }

    /// A beacon of P = -90 that is half a metre away is received at -84 dBm: near enough, but too weak.
    @Test func aWeakBeaconIsNotAtHand() {
        let known = KnownBeacon(name: "weak", identity: World.identity(3), calibrationAtOneMeter: -90)
        for (level, isPicked) in [(Int8(-76), false), (-75, false), (-74, true)] {
            var pick = NearestPick(known: [known])
            for second in 0..<6 { hear(&pick, 3, second: Double(second), rssi: level) }
            pick.finish(at: World.instant(6))
            #expect((pick.answer != nil) == isPicked)
        }
    }

    @Test func picksNothingWhileTheReceiverIsDeaf() {
        var pick = NearestPick()
        pick.advance(to: World.instant(100))
        pick.change(isListening: false)
        for second in 100..<110 { hear(&pick, 1, second: Double(second), rssi: -40) }
        pick.finish(at: World.instant(110))
        #expect(pick.answer == nil)
    }

    /// During a flood of new identities at hand, the beacon that stays is picked.
    @Test func picksTheBeaconThatStaysDuringAFloodOfIdentities() {
        var pick = NearestPick(known: [KnownBeacon(name: "own", identity: World.identity(60_000))])
        for second in 0..<5 {
            for number in 0..<3000 { hear(&pick, second * 3000 + number, second: Double(second) + 0.1, rssi: -52) }
            hear(&pick, 60_000, second: Double(second) + 0.2, rssi: -45)
        }
        pick.finish(at: World.instant(5))
        #expect(pick.answer?.identity == World.identity(60_000))
    }

    private func hear(_ pick: inout NearestPick, _ number: Int, second: Double, rssi: Int8) {
        let octets = World.data(number)
        let address = DeviceAddress.staticRandom(
            from: FixedOctets<6>([0xC0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 0xFF)]) ?? FixedOctets())
        pick.receive(
            Sighting(at: World.instant(second), from: Sender(address, isRandom: true), rssi: rssi), octets.span,
            octets.indices)
    }
}
