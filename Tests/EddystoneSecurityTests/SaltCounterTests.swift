import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import Testing

@Suite struct SaltCounterTests {
    /// Twenty windows of 1024 s with a frame a second: chance alone repeats salts by the hundred.
    @Test func noSaltIsUsedTwiceInAWindow() throws {
        let exponent = try RotationExponent(10)
        var randomness = SplitMix64(seed: 7)
        var counter = SaltCounter()
        var used: Set<UInt64> = []
        var starts: Set<UInt16> = []
        for second in UInt32(65_280)..<65_280 + 20 * 1024 {
            let salt = try #require(counter.next(at: second, exponent: exponent, using: &randomness))
            let nonce = UInt64(exponent.quantized(second)) << 16 | UInt64(salt)
            #expect(used.insert(nonce).inserted)
            if second % 1024 == 0 { starts.insert(salt) }
        }
        #expect(used.count == 20 * 1024 && starts.count == 20)
    }

    @Test func aWindowHasAllSaltsAndNoMore() throws {
        let exponent = try RotationExponent(15)
        var randomness = SplitMix64(seed: 8)
        var counter = SaltCounter()
        var used: Set<UInt16> = []
        for _ in 0...Int(UInt16.max) {
            used.insert(try #require(counter.next(at: 70_000, exponent: exponent, using: &randomness)))
        }
        #expect(used.count == 65_536)
        #expect(counter.next(at: 70_001, exponent: exponent, using: &randomness) == nil)
        #expect(counter.next(at: 98_304, exponent: exponent, using: &randomness) != nil)
    }

    /// A clock that is put right may come back to a window; the count goes on there.
    @Test func windowsAreRemembered() throws {
        let exponent = try RotationExponent(4)
        var randomness = SplitMix64(seed: 9)
        var counter = SaltCounter()
        var used: Set<UInt64> = []
        for second in [UInt32(32), 48, 33, 64, 34, 49, 35, 47, 48, 65] {
            let salt = try #require(counter.next(at: second, exponent: exponent, using: &randomness))
            #expect(used.insert(UInt64(exponent.quantized(second)) << 16 | UInt64(salt)).inserted)
        }
    }

    @Test func theFirstSaltMayBeGiven() throws {
        let exponent = try RotationExponent(4)
        var randomness = SplitMix64(seed: 10)
        var counter = SaltCounter()
        let salts = [0xFFFE, 7, 7].compactMap { first in
            counter.next(at: 32, exponent: exponent, first: first, using: &randomness)
        }
        #expect(salts == [0xFFFE, 0xFFFF, 0])
    }
}
