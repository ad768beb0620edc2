internal import Advertiser
internal import Auditing
internal import BeaconFrames
internal import BluetoothTypes
internal import HCI
internal import LinuxHost

/// The beacons that the radios of a qualification send: iBeacons with a random UUID.
struct QualificationBeacons {
    /// The interval: 100 ms, which every controller supports.
    static let interval = AdvertisingInterval(rawValue: 160)
    /// The minor number of the data that replaces the first data.
    private static let changedMinor: UInt16 = 0xFFFF
    /// The length of extended data: more than a legacy PDU holds, and less than the longest report.
    private static let extendedLength = 160

    private let uuid = FixedOctets<16>(Privileges.randomOctets(16)) ?? FixedOctets()
    /// The static random addresses of the beacons, one for each radio.
    private let addresses = (0..<2).map { _ in
        DeviceAddress.staticRandom(from: FixedOctets<6>(Privileges.randomOctets(6)) ?? FixedOctets())
    }

    /// Returns the advertisement of a phase. Each phase has its own minor number, so that reports of an earlier phase
    /// are not counted.
    func advertisement(of sender: Int, _ phase: QualificationPhase) -> Advertisement {
        advertisement(of: sender, UInt16(QualificationPhase.allCases.firstIndex(of: phase) ?? 0))
    }

    /// Returns an advertisement with other data and the same address.
    func changed(of sender: Int) -> Advertisement { advertisement(of: sender, Self.changedMinor) }

    private func advertisement(of sender: Int, _ minor: UInt16) -> Advertisement {
        Advertisement(
            content: .iBeacon(uuid: uuid, major: UInt16(sender), minor: minor, flags: .beacon),
            interval: Self.interval, measuredPower: .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)),
            address: .staticRandom(addresses[sender]))
    }

    /// Returns the data of a beacon. In extended PDUs a long structure with the company identifier for tests is
    /// appended.
    ///
    /// - Parameter limit: The maximum data length of the sender's advertising sets.
    /// - Throws: An error if the limit is not larger than that of a legacy PDU.
    func octets(of sender: Int, _ phase: QualificationPhase, limit: Int) throws -> [UInt8] {
        let octets = try advertisement(of: sender, phase).payload().octets
        guard phase == .extended else { return octets }
        guard limit > AdvertisingData.legacyLimit + 4 else {
            throw SessionError.impossible("its advertising sets hold \(limit) bytes, no more than a legacy PDU")
        }
        let filling = min(Self.extendedLength, limit) - octets.count - 2
        let structure = [UInt8(filling + 1), ADType.manufacturerData.rawValue]
        return octets + structure + [UInt8](repeating: 0xFF, count: filling)
    }

    /// Returns a function that judges received data. The function returns `nil` for data of another sender.
    func judge(
        of sender: Int, _ phase: QualificationPhase, limit: Int
    ) throws -> ([UInt8]) -> OctetsJudgement? {
        let expected = try octets(of: sender, phase, limit: limit)
        let expectedAfterChange = try changed(of: sender).payload().octets
        // Flags, the header of an iBeacon, and the UUID.
        let identifyingPrefix = expected.prefix(25)
        return { data in
            if data == expected || (phase == .duplicatesFiltered && data == expectedAfterChange) { return .right }
            return data.starts(with: identifyingPrefix) ? .wrong : nil
        }
    }
}

/// The judgement of received data.
enum OctetsJudgement {
    case right
    /// The identity is right, but not the data.
    case wrong
}

/// An advertising set with extended PDUs, to test what a radio claims to support.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.52...7.8.59.
final class ExtendedBeacon {
    /// A handle in the middle of the range, which is probably free: the kernel assigns handles upwards from 1, and
    /// beacons of this package use handles downwards from the last one.
    private static let handle: UInt8 = 0x80

    private let host: HCIHost
    private let interval: AdvertisingInterval

    init(host: HCIHost, interval: AdvertisingInterval) {
        self.host = host
        self.interval = interval
    }

    private func setParameters() throws {
        _ = try host.execute(
            try LESetExtendedAdvertisingParameters(
                handle: Self.handle, properties: [], intervalMinimum: interval, intervalMaximum: interval,
                ownAddressType: .random))
    }

    /// Sets up the advertising set and enables it. If a command is refused, call ``stop()``.
    func start(_ octets: [UInt8], _ address: Advertisement.AddressRule) throws {
        try setParameters()
        if case .staticRandom(let address) = address {
            _ = try host.execute(try LESetAdvertisingSetRandomAddress(handle: Self.handle, address: address))
        }
        _ = try host.execute(try LESetExtendedAdvertisingData(handle: Self.handle, data: octets))
        _ = try host.execute(try LESetExtendedAdvertisingEnable(true, [.init(handle: Self.handle)]))
    }

    /// Returns whether the set is enabled. A controller refuses the parameters of a set that advertises.
    func isEnabled() throws -> Bool {
        do {
            try setParameters()
            return false
        } catch HCICommandError.refused(_, _, .commandDisallowed) {
            return true
        }
    }

    /// Disables and removes the set. A set that does not exist is not an error.
    func stop() throws {
        do {
            _ = try host.execute(try LESetExtendedAdvertisingEnable(false, [.init(handle: Self.handle)]))
            _ = try host.execute(try LERemoveAdvertisingSet(handle: Self.handle))
        } catch HCICommandError.refused {
            return
        }
    }
}
