import BluetoothTypes
import Testing

@testable import EddystoneSecurity

/// Private keys 01...20 and 65...84. The expected keys were computed with Python's cryptography and hmac.
private let beacon = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
private let resolver = "65666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828384"
private let beaconPublic = "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c"
private let resolverPublic = "5714769d116bf76436ae74bc793d2c30ad1903c59ac5273805c7e2698b410c36"

@Test func bothSidesAgreeOnTheSameIdentityKey() throws {
    let onBeacon = try IdentityKey(
        beaconPrivateKey: FixedOctets(hexadecimal: beacon), resolverPublicKey: FixedOctets(hexadecimal: resolverPublic))
    let onResolver = try IdentityKey(
        resolverPrivateKey: FixedOctets(hexadecimal: resolver), beaconPublicKey: FixedOctets(hexadecimal: beaconPublic))
    #expect(onBeacon.octets.description == "3ec97da63809bc32fc82370c5a70a1fd")
    #expect(onResolver.octets == onBeacon.octets)
}

@Test func publicKeysFollowFromPrivateKeys() throws {
    #expect(try IdentityKey.publicKey(of: FixedOctets(hexadecimal: beacon)).description == beaconPublic)
    #expect(try IdentityKey.publicKey(of: FixedOctets(hexadecimal: resolver)).description == resolverPublic)
}

/// Points of small order: the shared secret is zero with any private key.
@Test(arguments: [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
])
func aPublicKeyThatGivesZerosIsRefusedOnBothSides(weak: String) throws {
    let weak = try FixedOctets<32>(hexadecimal: weak)
    let own = try FixedOctets<32>(hexadecimal: beacon)
    #expect(throws: EddystoneSecurityError.weakPublicKey) {
        try IdentityKey(beaconPrivateKey: own, resolverPublicKey: weak)
    }
    #expect(throws: EddystoneSecurityError.weakPublicKey) {
        try IdentityKey(resolverPrivateKey: own, beaconPublicKey: weak)
    }
}

@Suite struct KeyTextTests {
    @Test(arguments: [
        "0102030405060708090a0b0c0d0e0f10", "0102030405060708090A0B0C0D0E0F10\n",
        "01:02-03 0405060708090a0b0c0d0e0f10\r\n",
    ])
    func keysAreReadAndTheirTextIsOverwritten(_ text: String) throws {
        var octets = Array(text.utf8)
        let key = try IdentityKey(wiping: &octets)
        #expect(key.octets.octets == Array(1...16) && octets.isEmpty)
        #expect(try IdentityKey(hexadecimal: text).octets == key.octets)
    }

    @Test(arguments: ["", "0", "0102030405060708090a0b0c0d0e0f1", "0102030405060708090a0b0c0d0e0f1011", "0 1", "xx"])
    func invalidKeyTextsAreRefusedAndOverwritten(_ text: String) {
        var octets = Array(text.utf8)
        #expect(throws: IdentityKeyTextError.self) { _ = try IdentityKey(wiping: &octets) }
        #expect(throws: IdentityKeyTextError.self) { _ = try IdentityKey(hexadecimal: text) }
        #expect(octets.isEmpty)
    }

    /// Checks the memory of the array, not a copy.
    @Test func octetsAreOverwritten() {
        var octets = [UInt8](repeating: 0xA5, count: 64)
        octets.reserveCapacity(64)
        unsafe octets.withUnsafeMutableBytes { memory in
            unsafe SecretOctets.wipe(memory)
            #expect(unsafe memory.allSatisfy { $0 == 0 })
        }
    }
}
