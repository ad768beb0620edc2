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
    func otherAddressesAreNotResolved(text: String) throws {
        let key = try key("ec0234a357c8ad05341010a60a397d9b")
        #expect(!key.resolves(try #require(DeviceAddress(text))))
    }

    @Test(
        arguments: [
            ("ec0234a357c8ad05341010a60a397d9b", true), ("9b7d390aa610103405adc857a33402ec", false),
            ("EC:02:34:A3:57:C8:AD:05:34:10:10:A6:0A:39:7D:9B\n", true), ("7AI0o1fIrQU0EBCmCjl9mw==", true),
            ("irk:7AI0o1fIrQU0EBCmCjl9mw==\r\n", true), ("7AI0o1fIrQU0EBCmCjl9mw", true),
            (" m305CqYQEDQFrchXozQC7A==\n", false), ("irk:9b7d390aa610103405adc857a33402ec", false),
        ])
    func exportedKeysAreReadInEveryFormAndByteOrder(text: String, isMostSignificantFirst: Bool) throws {
        var octets = Array(text.utf8)
        let key = IdentityResolvingKey(try IdentityKey(wipingExported: &octets))
        #expect(octets.isEmpty)
        let order = key.byteOrder(provenBy: try #require(DeviceAddress("70:81:94:0D:FB:AA")))
        #expect(order == (isMostSignificantFirst ? .mostSignificantFirst : .leastSignificantFirst))
    }

    @Test(arguments: [
        "", "irk:", "7AI0o1fIrQU0EBCmCjl9m", "7AI0o1fIrQU0EBCmCjl9mx==", "7AI0o1fIrQU0EBCmCjl9mw===",
        "ec0234a357c8ad05341010a60a397d9", "7AI0o1fIrQU0EBC*Cjl9mw==",
    ])
    func invalidKeyTextIsRefused(text: String) {
        var octets = Array(text.utf8)
        #expect(throws: IdentityKeyTextError()) { try IdentityKey(wipingExported: &octets) }
        #expect(octets.isEmpty)
    }

    @Test func anotherKeyDoesNotResolveTheAddress() throws {
        let key = try key("ec0234a357c8ad05341010a60a397d9c")
        #expect(!key.resolves(try #require(DeviceAddress("70:81:94:0D:FB:AA"))))
    }
}
