import BluetoothTypes
import EddystoneSecurity
import Testing

@Suite struct IdentityResolvingKeyTests {
    private func key(_ text: String) throws -> IdentityResolvingKey {
        IdentityResolvingKey(try IdentityKey(hexadecimal: text))
    }

    /// Core Specification 5.4, Vol 3 Part H, Appendix D.7.
    @Test func theSampleOfTheSpecificationIsResolved() throws {
        let key = try key("ec0234a357c8ad05341010a60a397d9b")
        let address = try #require(DeviceAddress("70:81:94:0D:FB:AA"))
        #expect(key.resolves(address))
    }

    @Test(arguments: ["70:81:94:0D:FB:AB", "70:81:95:0D:FB:AA", "F0:81:94:0D:FB:AA", "30:81:94:0D:FB:AA"])
    func anotherAddressIsNot(text: String) throws {
        let key = try key("ec0234a357c8ad05341010a60a397d9b")
        #expect(!key.resolves(try #require(DeviceAddress(text))))
    }

    @Test func anotherKeyResolvesItNot() throws {
        let key = try key("ec0234a357c8ad05341010a60a397d9c")
        #expect(!key.resolves(try #require(DeviceAddress("70:81:94:0D:FB:AA"))))
    }
}
