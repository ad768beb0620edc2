import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import Testing

/// The example of bthome.io/encryption.
@Suite struct BTHomePacketTests {
    private let key = try? IdentityKey(hexadecimal: "231d39c1d7cc1ab1aee224cd096db932")
    private let address = DeviceAddress("54:48:E6:8F:80:A5")
    private let plain = BTHome(information: 0x40, data: [0x02, 0xCA, 0x09, 0x03, 0xBF, 0x13])

    @Test func theExampleIsSealedAndOpened() throws {
        let (key, address, plain) = (try #require(key), try #require(address), try #require(plain))
        let sealed = try key.seal(plain, from: address, counter: 0x3322_1100)
        #expect(try sealed.advertisingData().description == "0201061216d2fc41a47266c95f730011223378237214")
        #expect(try key.open(sealed, from: address) == plain)
        #expect(try key.open(plain, from: address) == nil)
    }

    @Test func anotherAddressKeyOrOctetIsDetected() throws {
        let (key, address, plain) = (try #require(key), try #require(address), try #require(plain))
        let sealed = try key.seal(plain, from: address, counter: 9)
        #expect(try key.open(sealed, from: #require(DeviceAddress("54:48:E6:8F:80:A6"))) == nil)
        #expect(try IdentityKey(FixedOctets()).open(sealed, from: address) == nil)
        for bit in 0..<8 * sealed.data.count {
            var data = sealed.data
            data[bit / 8] ^= 1 << UInt8(bit % 8)
            let altered = try #require(BTHome(information: sealed.information, data: data))
            #expect(try key.open(altered, from: address) == nil, "bit \(bit)")
        }
    }

    /// Up to the limit of 18 octets, which is more than one block of sixteen octets.
    @Test(arguments: 0...18)
    func everyLengthIsOpened(_ count: Int) throws {
        let (key, address) = (try #require(key), try #require(address))
        let plain = try #require(BTHome(information: 0x44, data: [UInt8](repeating: 7, count: count)))
        let sealed = try key.seal(plain, from: address, counter: .max)
        #expect(sealed.isTriggerBased && sealed.sealed?.counter == .max)
        #expect(try key.open(sealed, from: address) == plain)
    }

    @Test func refusesAPacketThatIsTooLong() throws {
        let long = try #require(BTHome(information: 0x40, data: [UInt8](repeating: 7, count: 19)))
        #expect(throws: EddystoneSecurityError.refused("the BTHome packet has 27 bytes, more than the limit of 26")) {
            try #require(key).seal(long, from: #require(address), counter: 1)
        }
    }
}
