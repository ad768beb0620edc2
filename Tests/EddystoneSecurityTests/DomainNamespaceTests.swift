import BeaconFrames
import BluetoothTypes
import EddystoneSecurity
import Testing

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
func whatIsNoDomainIsRefused(text: String, error: NamespaceError) {
    #expect(throws: error) { try EddystoneUID.namespace(fromDomain: text) }
}
