import BluetoothTypes
import HCI

/// LE Set Extended Advertising Enable (Core Specification 5.4, Vol 4 Part E 7.8.56).
extension VirtualController {
    func setExtendedEnable(_ command: LESetExtendedAdvertisingEnable) throws(HCIStatus) {
        try HCIStatus.require(
            command.enable <= 1 && command.sets.count <= 0x3F, else: .invalidParameters)
        var handles: Set<UInt8> = []
        for entry in command.sets {
            try HCIStatus.require(handles.insert(entry.handle).inserted, else: .invalidParameters)
        }
        for entry in command.sets { _ = try existingSet(entry.handle) }
        if command.enable == 0 {
            for id in state.sets.keys where id.handle.map({ handles.isEmpty || handles.contains($0) }) ?? false {
                stopAdvertising(id)
            }
            return
        }
        try HCIStatus.require(!command.sets.isEmpty, else: .invalidParameters)
        // All or nothing: every set is checked before the first one starts.
        var identities: [DeviceIdentity] = []
        for entry in command.sets {
            let set = try existingSet(entry.handle)
            try check(set, entry)
            identities.append(try identity(set.ownAddressType, random: set.randomAddress))
        }
        for (entry, identity) in zip(command.sets, identities) {
            startAdvertising(
                AdvertisingSetID(handle: entry.handle), as: identity,
                durationMicroseconds: Int(entry.duration) * 10_000, maximumEvents: Int(entry.maximumEvents))
        }
    }

    private func check(_ set: AdvertisingSet, _ entry: LESetExtendedAdvertisingEnable.Entry) throws(HCIStatus) {
        try HCIStatus.require(!set.data.isPartial && !set.scanResponse.isPartial, else: .commandDisallowed)
        if set.isHighDuty {
            // At most 1.28 s, and never without end.
            try HCIStatus.require((1...128).contains(entry.duration), else: .invalidParameters)
        }
        guard !set.isLegacyPDU else { return }
        if set.properties.contains(.scannable) {
            try HCIStatus.require(!set.scanResponse.octets.isEmpty, else: .commandDisallowed)
        }
        try HCIStatus.require(set.data.octets.count <= Self.dataLimit(of: set), else: .invalidParameters)
        let longest = max(set.data.octets.count, set.scanResponse.octets.count)
        try HCIStatus.require(Self.fits(longest, on: set.secondaryPHY, set.interval), else: .packetTooLong)
    }

    /// Whether the auxiliary packets with so much data are over when the next advertising event begins: 8 µs an octet
    /// on LE 1M, 4 on LE 2M, 64 on LE Coded with S=8, some 20 octets of frame and header to a packet, and 300 µs between
    /// two of them (Vol 6 Part B 2.1, 2.2, 4.1.2).
    static func fits(_ octets: Int, on phy: AdvertisingPHY, _ interval: AdvertisingInterval) -> Bool {
        let perOctet = phy == .leCoded ? 64 : phy == .le2M ? 4 : 8
        let packets = octets / 245 + 1
        return (octets + packets * 20) * perOctet + (packets - 1) * 300 <= interval.microseconds
    }
}
