import BluetoothTypes
import LinuxHost
import TestSupport
import Testing

@testable import BeaconService

/// The programs that may share an adapter.
@Suite struct AdapterClaimTests {
    private let folder: TemporaryFolder
    private let address = DeviceAddress(FixedOctets(repeating: 0xC1))

    init() throws { folder = try TemporaryFolder() }

    private func claim(_ role: AdapterLock.Role, isShared: Bool, _ purpose: String) throws -> AdapterClaim {
        try AdapterClaim(address, role, isShared: isShared, for: purpose, in: folder.place("pharos"))
    }

    @Test func whoSendsAndAllWhoListenShareARawAdapter() throws {
        let sender = try claim(.send, isShared: true, "lobby")
        let ears = try ["first", "second"].map { try claim(.listen, isShared: true, $0) }
        #expect(sender.shared == nil && ears[0].shared == nil)
        #expect("\(try #require(ears[1].shared))".contains("\"first\""))
        #expect(throws: AdapterLockError.self) { try claim(.send, isShared: true, "other") }
        withExtendedLifetime((sender, ears)) {}
    }

    @Test(arguments: AdapterLock.Role.allCases)
    func aUserChannelIsSharedWithNobody(role: AdapterLock.Role) throws {
        do {
            let holder = try claim(role, isShared: true, "holder")
            #expect { try claim(.listen, isShared: false, "pharos scan") } throws: { "\($0)".contains("\"holder\"") }
            withExtendedLifetime(holder) {}
        }
        // The locks that it got before the refusal are free again.
        let user = try claim(.listen, isShared: false, "pharos scan")
        #expect { try claim(.send, isShared: true, "lobby") } throws: { "\($0)".contains("\"pharos scan\"") }
        #expect(try claim(.listen, isShared: true, "other").shared != nil)
        withExtendedLifetime(user) {}
    }

    @Test func whereNoLockCanBeMadeNobodyIsRefused() throws {
        let place = try folder.file("file", []) + "/below"
        for _ in 0..<2 {
            let claim = try AdapterClaim(address, .send, isShared: false, for: "x", in: place)
            #expect(claim.shared == nil)
        }
    }
}
