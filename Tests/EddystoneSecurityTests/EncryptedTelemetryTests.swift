import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import Testing

/// The first vector is the one of Nordic's Eddystone firmware; the second comes from pycryptodome.
@Test(
    arguments: [
        (
            "589417b0324b1b71d7a6751852867ae8", 65536, 0, 0xF683, "00001c400000004800000073",
            "0201060303aafe1516aafe2001d5d89979ae79ebee4e385fa5f6830efb"
        ),
        (
            "0102030405060708090a0b0c0d0e0f10", 0x1234_5678, 10, 0xBEEF, "0bb8fb80000186a000989680",
            "0201060303aafe1516aafe2001048688555251cd5e61fd19b9beef6ebd"
        ),
    ] as [(String, UInt32, Int, UInt16, String, String)])
func telemetryIsSealedAndOpened(
    key: String, seconds: UInt32, exponent: Int, salt: UInt16, plain: String, payload: String
) throws {
    let key = try IdentityKey(hexadecimal: key)
    let exponent = try RotationExponent(exponent)
    let telemetry = EddystoneTLM(telemetry: try FixedOctets(hexadecimal: plain))
    #expect(telemetry.telemetry.description == plain)

    let sealed = try key.seal(telemetry, at: seconds, exponent: exponent, salt: salt)
    #expect(try sealed.advertisingData().description == payload)

    let received = try #require(BeaconFrame(decoding: AdvertisingData(octets: Hexadecimal.octets(payload))))
    #expect(received == .eddystoneEncryptedTLM(sealed))
    #expect(try key.open(sealed, at: seconds, exponent: exponent) == telemetry)
}

@Test func theTagOfAKnownLibraryFaultIsRefused() throws {
    let key = try IdentityKey(hexadecimal: "589417b0324b1b71d7a6751852867ae8")
    let frame = EddystoneEncryptedTLM(
        encrypted: try FixedOctets(hexadecimal: "d5d89979ae79ebee4e385fa5"), salt: 0xF683, mic: 0x46A9)
    #expect(try key.open(frame, at: 65536, exponent: RotationExponent(0)) == nil)
}

@Test func saltAndCheckAreBigEndian() throws {
    let key = try IdentityKey(hexadecimal: "589417b0324b1b71d7a6751852867ae8")
    let frame = EddystoneEncryptedTLM(
        encrypted: try FixedOctets(hexadecimal: "d5d89979ae79ebee4e385fa5"), salt: 0x83F6, mic: 0xFB0E)
    #expect(try key.open(frame, at: 65536, exponent: RotationExponent(0)) == nil)
}

@Test func everyAlteredBitIsDetected() throws {
    let key = try IdentityKey(hexadecimal: "0102030405060708090a0b0c0d0e0f10")
    let exponent = try RotationExponent(4)
    let telemetry = EddystoneTLM(
        batteryMillivolts: 3000, temperature: try FixedPointTemperature(celsius: -4.5), advertisements: 100_000,
        uptimeDeciseconds: 10_000_000)
    let sealed = try key.seal(telemetry, at: 4096, exponent: exponent, salt: 7)
    #expect(try key.open(sealed, at: 4111, exponent: exponent) == telemetry)
    #expect(try key.open(sealed, at: 4112, exponent: exponent) == nil)
    for bit in 0..<96 {
        var altered = sealed
        altered.encrypted[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(try key.open(altered, at: 4096, exponent: exponent) == nil, "bit \(bit)")
    }
}

@Suite struct SaltCounterTests {
    /// Twenty windows of 1024 s with a frame a second. Random salts would repeat more than a hundred times.
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

    @Test func eachSaltIsUsedOncePerWindow() throws {
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

    /// A clock that is corrected may return to an earlier window.
    @Test func saltsContinueWhenAWindowReturns() throws {
        let exponent = try RotationExponent(4)
        var randomness = SplitMix64(seed: 9)
        var counter = SaltCounter()
        var used: Set<UInt64> = []
        for second in [UInt32(32), 48, 33, 64, 34, 49, 35, 47, 48, 65] {
            let salt = try #require(counter.next(at: second, exponent: exponent, using: &randomness))
            #expect(used.insert(UInt64(exponent.quantized(second)) << 16 | UInt64(salt)).inserted)
        }
    }

    @Test func firstSaltOfAWindowCanBeChosen() throws {
        let exponent = try RotationExponent(4)
        var randomness = SplitMix64(seed: 10)
        var counter = SaltCounter()
        let salts = [0xFFFE, 7, 7].compactMap { first in
            counter.next(at: 32, exponent: exponent, first: first, using: &randomness)
        }
        #expect(salts == [0xFFFE, 0xFFFF, 0])
    }
}
