import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import Testing

/// The first two vectors are those of RadiusNetworks/ephemeral_calc; the others come from pycryptodome.
@Test(arguments: [
    (10, 0, "a9b76a71c5f89290"),
    (10, 2000, "4144413e45fefa58"),
    (10, 1023, "a9b76a71c5f89290"),
    (10, 1024, "4144413e45fefa58"),
    (0, 65280, "82c818187c157277"),
    (4, 65536, "720268e92171fbb2"),
    (15, 0xFFFF_FFFF, "cd58cbba04aadce5"),
])
func anEphemeralIDFollowsFromKeyExponentAndTime(exponent: Int, seconds: UInt32, id: String) throws {
    let key = try IdentityKey(hexadecimal: "0102030405060708090A111213141516")
    let result = try key.ephemeralID(at: seconds, exponent: RotationExponent(exponent))
    #expect(result.description == id)
}

@Test func ephemeralIDChangesOncePerPeriod() throws {
    let key = try IdentityKey(hexadecimal: "0102030405060708090A111213141516")
    for value in 0...15 {
        let exponent = try RotationExponent(value)
        let period = exponent.periodSeconds
        let start = IdentityKey.firstCounter / period * period
        let first = try key.ephemeralID(at: start, exponent: exponent)
        #expect(try key.ephemeralID(at: start + period - 1, exponent: exponent) == first)
        #expect(try key.ephemeralID(at: start + period, exponent: exponent) != first)
    }
}

@Test(arguments: [-1, 16, 256, Int.max, Int.min])
func aRotationExponentOutsideItsRangeIsRefused(value: Int) {
    #expect(throws: ValueOutOfRange("rotation exponent", value, range: 0...15)) { try RotationExponent(value) }
}

@Test(arguments: ["", "0102", "0102030405060708090A11121314151", "g102030405060708090A111213141516"])
func invalidKeyTextIsRefusedWithoutRepeatingIt(text: String) throws {
    let error = try #require(throws: IdentityKeyTextError.self) { try IdentityKey(hexadecimal: text) }
    #expect(error.description == "an identity key has 16 bytes: 32 hexadecimal digits")
}

@Test func identityKeyIsNotPrinted() throws {
    let key = try IdentityKey(hexadecimal: "a1a2a3a4a5a6a7a8a9aaabacadaeafa0")
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped, "\([key])"] {
        #expect(!text.contains("a1") && !text.contains("161"))
    }
}

@Test(arguments: [0, 3, 10, 15])
func startCounterOfAnIDIsFound(_ value: Int) throws {
    let exponent = try RotationExponent(value)
    let key = IdentityKey(.init(repeating: 0x42))
    // Around a change of the temporary key, and at both ends of the counter.
    for seconds: UInt32 in [0, 65_535, 65_536, 131_071, .max - 100, .max] {
        let id = try key.ephemeralID(at: seconds, exponent: exponent)
        let start = exponent.quantized(seconds)
        let before = seconds < 70_000 ? 0 : seconds - 70_000
        let after = seconds > .max - 70_000 ? .max : seconds + 70_000
        #expect(try key.startCounter(of: id, in: before...after, exponent: exponent) == start)
        #expect(try key.startCounter(of: id, in: seconds...seconds, exponent: exponent) == start)
        let next = start.addingReportingOverflow(exponent.periodSeconds)
        if !next.overflow {
            #expect(try key.startCounter(of: id, in: next.partialValue...after, exponent: exponent) == nil)
        }
        #expect(try key.startCounter(of: .init(), in: seconds...seconds, exponent: exponent) == nil)
    }
}

@Test(arguments: [("example.org", "20116dfd6774a9e7b32e"), ("example.com", "0caaf24ab1a0c33440c0")])
func aNamespaceFromADomainIsTheStartOfItsSHA1(domain: String, namespace: String) throws {
    #expect(try EddystoneUID.namespace(fromDomain: domain).description == namespace)
}

@Test(arguments: [
    ("", NamespaceError.emptyDomain),
    ("https://example.org", .notADomain(":", offset: 5)),
    ("example.org ", .notADomain(" ", offset: 11)),
    ("exämple.org", .notADomain("ä", offset: 2)),
])
func invalidDomainsAreRefused(text: String, error: NamespaceError) {
    #expect(throws: error) { try EddystoneUID.namespace(fromDomain: text) }
}
