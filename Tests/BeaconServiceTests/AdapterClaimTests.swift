import BluetoothTypes
import Glibc
import HCITransports
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
        let claim = AdapterClaim(role, for: purpose, in: folder.place("pharos"))
        try claim.take(LockedAdapter(address), isShared: isShared)
        return claim
    }

    @Test func oneSenderAndSeveralListenersShareARawAdapter() throws {
        let sender = try claim(.send, isShared: true, "lobby")
        let ears = try ["first", "second"].map { try claim(.listen, isShared: true, $0) }
        #expect(sender.shared == nil && ears[0].shared == nil)
        #expect("\(try #require(ears[1].shared))".contains("\"first\""))
        #expect(throws: AdapterLockError.self) { try claim(.send, isShared: true, "other") }
        withExtendedLifetime((sender, ears)) {}
    }

    @Test(arguments: AdapterLock.Role.allCases)
    func userChannelIsNotShared(role: AdapterLock.Role) throws {
        do {
            let holder = try claim(role, isShared: true, "holder")
            #expect { try claim(.listen, isShared: false, "pharos scan") } throws: { "\($0)".contains("\"holder\"") }
            withExtendedLifetime(holder) {}
        }
        // The refused claim has released its locks.
        let user = try claim(.listen, isShared: false, "pharos scan")
        #expect { try claim(.send, isShared: true, "lobby") } throws: { "\($0)".contains("\"pharos scan\"") }
        #expect(try claim(.listen, isShared: true, "other").shared != nil)
        withExtendedLifetime(user) {}
    }

    @Test func claimsAreAcceptedIfNoLockCanBeCreated() throws {
        let place = try folder.file("file", []) + "/below"
        for _ in 0..<2 {
            let claim = AdapterClaim(.send, for: "x", in: place)
            try claim.take(LockedAdapter(address), isShared: false)
            #expect(claim.shared == nil)
        }
    }
}

/// Claims of controllers behind sockets and serial lines.
@Suite struct StreamClaimTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns a socket that accepts connections, and its path.
    private func serve(_ name: String) throws -> (listener: Descriptor, path: String) {
        let path = folder.place(name)
        return (try StreamSocket.listen(path: path), path)
    }

    private func address(_ last: UInt8) -> DeviceAddress {
        DeviceAddress(FixedOctets<6>([0, 0, 0x5E, 0, 0x53, last]) ?? FixedOctets())
    }

    private func behind(_ path: String, _ last: UInt8 = 1) throws -> LockedAdapter {
        LockedAdapter(
            address(last), behind: try StreamSocket.connect(path: path), at: path, named: "unix:\(path)")
    }

    private func claim(_ adapter: LockedAdapter, for purpose: String) throws -> AdapterClaim {
        let claim = AdapterClaim(.send, for: purpose, in: folder.place("pharos"))
        try claim.take(adapter, isShared: false)
        return claim
    }

    @Test func controllerBehindASocketIsClaimedOnceForAllPaths() throws {
        let (listener, path) = try serve("hci")
        let link = folder.place("link")
        #expect(unsafe symlink(path, link) == 0)
        #expect(try behind(path) == behind(path))
        let first = try claim(try behind(path), for: "lobby")
        #expect {
            _ = try claim(try behind(link), for: "other")
        } throws: { error in
            "\(error)".hasPrefix("the adapter unix:\(link) is used by the instance \"lobby\" (process ")
        }
        #expect(AdapterLock.holders(in: folder.place("pharos")).map(\.purpose) == ["lobby"])
        withExtendedLifetime((listener, first)) {}
    }

    /// A server may create a controller for each connection, and two servers may have controllers of one address.
    @Test func otherControllersCanBeClaimed() throws {
        let (one, other) = (try serve("one"), try serve("other"))
        let claims = try [behind(one.path), behind(one.path, 2), behind(other.path)].map { try claim($0, for: "\($0)") }
        #expect(AdapterLock.holders(in: folder.place("pharos")).count == 3)
        withExtendedLifetime((one, other, claims)) {}
    }

    @Test func loopbackAddressesNameTheSameController() throws {
        let (listener, port) = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        func adapter(_ host: String, _ last: UInt8 = 1) throws -> LockedAdapter {
            LockedAdapter(
                address(last), behind: try StreamSocket.connect(host: host, port: port), at: nil,
                named: "tcp:\(host):\(port)")
        }
        let first = try claim(try adapter("127.0.0.1"), for: "lobby")
        #expect { _ = try claim(try adapter("localhost"), for: "x") } throws: {
            "\($0)".contains("tcp:localhost:\(port)")
        }
        let second = try claim(try adapter("localhost", 2), for: "x")
        withExtendedLifetime((listener, first, second)) {}
    }

    @Test func aSerialLineIsClaimedByItsDevice() throws {
        let terminal = try PseudoTerminal()
        let link = folder.place("ttyACM0")
        #expect(unsafe symlink(terminal.path, link) == 0)
        let name = AdapterName.serial(path: terminal.path, rate: 115_200)
        let first = try AdapterClaim(name, .send, for: "lobby", in: folder.place("pharos"))
        #expect {
            _ = try AdapterClaim(
                .serial(path: link, rate: 9600), .listen, for: "pharos scan", in: folder.place("pharos"))
        } throws: { error in
            "\(error)".hasPrefix("the adapter serial:\(link)@9600 is used by the instance \"lobby\"")
                || "\(error)".hasPrefix("the adapter serial:\(link)@9600 is used for listening by \"lobby\"")
        }
        withExtendedLifetime((terminal, first)) {}
        #expect(LockedAdapter(serialLine: folder.path, named: "x") == nil)
        #expect(LockedAdapter(serialLine: folder.place("none"), named: "x") == nil)
    }

    @Test func aVirtualAdapterNeedsNoClaim() throws {
        for _ in 0..<2 { _ = try AdapterClaim(.virtual, .send, for: "x", in: folder.place("pharos")) }
        #expect(!Files.exists(folder.place("pharos")))
        #expect(AdapterClaim.adapter(.virtual) == nil)
        #expect(try AdapterClaim.adapter(OpenAdapter(.virtual)) == nil)
    }
}

/// A serial line. The test holds its other end.
private struct PseudoTerminal {
    let path: String
    private let ends: [Descriptor]

    init() throws {
        var board: Int32 = -1
        var line: Int32 = -1
        guard unsafe openpty(&board, &line, nil, nil, nil) == 0 else { throw SystemError("openpty", errno: errno) }
        ends = [Descriptor(owning: board), Descriptor(owning: line)]
        path = try #require(Files.resolved("/proc/self/fd/\(line)"))
    }
}
