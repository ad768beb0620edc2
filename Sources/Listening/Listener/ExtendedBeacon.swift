internal import BeaconFrames
internal import BluetoothTypes
internal import HCI

/// An advertising set of extended PDUs: nothing that a phone looks for, but what a radio claims to do.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.52...7.8.59.
final class ExtendedBeacon {
    /// In the middle: the kernel counts from 1, and beacons of this package from the last one down.
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

    /// Sets all up, and turns it on. Where a command is refused, ``stop()`` takes back what was set.
    func start(_ octets: [UInt8], _ address: Advertisement.AddressRule) throws {
        try setParameters()
        if case .staticRandom(let address) = address {
            _ = try host.execute(try LESetAdvertisingSetRandomAddress(handle: Self.handle, address: address))
        }
        _ = try host.execute(try LESetExtendedAdvertisingData(handle: Self.handle, data: octets))
        _ = try host.execute(try LESetExtendedAdvertisingEnable(true, [.init(handle: Self.handle)]))
    }

    /// By its parameters, which a controller refuses while it advertises.
    func isOnAir() throws -> Bool {
        do {
            try setParameters()
            return false
        } catch HCICommandError.refused(_, _, .commandDisallowed) {
            return true
        }
    }

    /// A set that was never made is as good as one that is off.
    func stop() throws {
        do {
            _ = try host.execute(try LESetExtendedAdvertisingEnable(false, [.init(handle: Self.handle)]))
            _ = try host.execute(try LERemoveAdvertisingSet(handle: Self.handle))
        } catch HCICommandError.refused {
            return
        }
    }
}
