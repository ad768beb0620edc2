import BluetoothTypes
import EddystoneSecurity
import Sightings
import Testing

@testable import Listener

@Suite struct AddressResolverTests {
    private static let key = "ec0234a357c8ad05341010a60a397d9b"
    private static let made = "70:81:94:0D:FB:AA"

    private func resolver(others: Int = 0) throws -> AddressResolver {
        let other = try IdentityKey(hexadecimal: "000102030405060708090a0b0c0d0e0f")
        let keys = (0..<others).map { AddressKey(beacon: $0, key: IdentityResolvingKey(other)) }
        return AddressResolver(
            keys + [AddressKey(beacon: 77, key: IdentityResolvingKey(try IdentityKey(hexadecimal: Self.key)))])
    }

    private func fresh(_ number: Int) throws -> DeviceAddress {
        let low = String(0x1_000_0000 + number, radix: 16).dropFirst()
        return try #require(DeviceAddress("40000\(low)"))
    }

    private func at(_ milliseconds: Int) -> HeardInstant { HeardInstant(nanoseconds: UInt64(milliseconds) * 1_000_000) }

    @Test func resolvesAddressesMadeWithAKey() throws {
        var resolver = try resolver(others: 3)
        #expect(resolver.beacon(try #require(DeviceAddress(Self.made)), at: at(0)) == 77)
        #expect(resolver.beacon(try #require(DeviceAddress(Self.made)), at: at(5)) == 77)
        #expect(resolver.beacon(try fresh(1), at: at(6)) == nil)
    }

    /// During a flood of new addresses with 1000 keys, known addresses stay resolved. A device with a new address is
    /// resolved as soon as trials are available again.
    @Test func limitsTheTrialsForNewAddresses() throws {
        var resolver = try resolver(others: 999)
        let made = try #require(DeviceAddress(Self.made))
        #expect(resolver.beacon(made, at: at(0)) == 77)
        for number in 0..<2000 { #expect(resolver.beacon(try fresh(number), at: at(1)) == nil) }
        // No trials are left in this second, but a known address needs none.
        #expect(resolver.beacon(made, at: at(1)) == 77)
        var later = try self.resolver(others: 999)
        for number in 0..<2000 { _ = later.beacon(try fresh(number), at: at(1)) }
        #expect(later.beacon(made, at: at(1)) == nil)
        #expect(later.beacon(made, at: at(200)) == 77)
    }

    /// During a flood, a device with a new address is found at its second report, because half of the trials are
    /// reserved for repeated addresses.
    @Test func reservesTrialsForRepeatedAddresses() throws {
        var resolver = try resolver(others: 999)
        let made = try #require(DeviceAddress(Self.made))
        var number = 0
        func flood(_ milliseconds: Range<Int>) throws {
            for time in milliseconds {
                for _ in 0..<10 {
                    number += 1
                    #expect(resolver.beacon(try fresh(number), at: at(time)) == nil)
                }
            }
        }
        try flood(0..<5000)
        #expect(resolver.beacon(made, at: at(5000)) == nil)
        try flood(5000..<5900)
        #expect(resolver.beacon(made, at: at(5900)) == 77)
        try flood(5900..<8000)
        #expect(resolver.beacon(made, at: at(8000)) == 77)
    }

    /// A flood that sends each address twice also uses up the trials that are reserved for repeated addresses.
    @Test func limitsTheTrialsForRepeatedAddresses() throws {
        var resolver = try resolver(others: 9_999)
        for number in 0..<100 { _ = resolver.beacon(try fresh(number), at: at(1)) }
        let made = try #require(DeviceAddress(Self.made))
        for number in 0..<100 { _ = resolver.beacon(try fresh(number), at: at(2)) }
        #expect(resolver.beacon(made, at: at(3)) == nil)
        #expect(resolver.beacon(made, at: at(4)) == nil)
        #expect(resolver.beacon(made, at: at(200)) == 77)
    }

    @Test func resolvesWithMoreKeysThanTrialsPerSecond() throws {
        var resolver = try resolver(others: AddressResolver.trialsPerSecond)
        let made = try #require(DeviceAddress(Self.made))
        #expect(resolver.beacon(try fresh(1), at: at(1)) == nil)
        #expect(resolver.beacon(made, at: at(2)) == nil)
        #expect(resolver.beacon(made, at: at(1100)) == 77)
    }

    @Test func keepsAnAddressThatIsReceivedNowAndThen() throws {
        var resolver = try resolver()
        let made = try #require(DeviceAddress(Self.made))
        #expect(resolver.beacon(made, at: at(0)) == 77)
        for number in 0..<3 * AddressResolver.remembered {
            _ = resolver.beacon(try fresh(number), at: at(number))
            if number % 1000 == 0 { #expect(resolver.beacon(made, at: at(number)) == 77) }
        }
    }
}
