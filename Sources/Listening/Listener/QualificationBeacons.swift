internal import Advertiser
internal import Auditing
internal import BeaconFrames
internal import BluetoothTypes
internal import LinuxHost

/// What the radios of a qualification send: iBeacons under a random UUID, which nobody else has.
struct QualificationBeacons {
    /// 100 ms, which every controller takes.
    static let interval = AdvertisingInterval(rawValue: 160)
    /// The minor number of data that replaces the first.
    private static let changedMinor: UInt16 = 0xFFFF
    /// More than a legacy PDU holds, and less than the longest report.
    private static let extendedLength = 160

    private let uuid = FixedOctets<16>(Privileges.randomOctets(16)) ?? FixedOctets()
    /// One for each radio.
    private let addresses = (0..<2).map { _ in
        DeviceAddress.staticRandom(from: FixedOctets<6>(Privileges.randomOctets(6)) ?? FixedOctets())
    }

    /// Each phase has a minor number of its own: what is left of one is not heard in the next.
    func advertisement(of sender: Int, _ phase: QualificationPhase) -> Advertisement {
        advertisement(of: sender, UInt16(QualificationPhase.allCases.firstIndex(of: phase) ?? 0))
    }

    /// Other data from the same address.
    func changed(of sender: Int) -> Advertisement { advertisement(of: sender, Self.changedMinor) }

    private func advertisement(of sender: Int, _ minor: UInt16) -> Advertisement {
        Advertisement(
            content: .iBeacon(uuid: uuid, major: UInt16(sender), minor: minor, flags: .beacon),
            interval: Self.interval, measuredPower: .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)),
            address: .staticRandom(addresses[sender]))
    }

    /// The octets of a beacon; in extended PDUs with a long structure behind them, of the company that stands for tests.
    ///
    /// - Parameter limit: What an advertising set of the sender holds.
    /// - Throws: where that is no more than a legacy PDU holds.
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

    /// Tells what a radio sends from everything else.
    func judge(
        of sender: Int, _ phase: QualificationPhase, limit: Int
    ) throws -> ([UInt8]) -> OctetsJudgement? {
        let own = try octets(of: sender, phase, limit: limit)
        let later = try changed(of: sender).payload().octets
        // Flags, the head of an iBeacon, and the UUID.
        let head = own.prefix(25)
        return { data in
            if data == own || (phase == .duplicatesFiltered && data == later) { return .right }
            return data.starts(with: head) ? .wrong : nil
        }
    }
}

/// Whether data is that of the beacon which is listened for.
enum OctetsJudgement {
    case right
    /// Its identity, and not its octets.
    case wrong
}
