public import BluetoothTypes
internal import Crypto

extension DeviceAddress {
    /// A box's own static random address: 46 bits of SHA-256 of its machine id and a name, so that it stays the same
    /// over restarts and no two names share one.
    ///
    /// The machine id itself is confidential (machine-id(5)); a hash of it may be shown to everybody.
    public static func staticRandom(machineID: String, name: String) -> DeviceAddress {
        let digest = SHA256.hash(data: Array((machineID + "\n" + name).utf8))
        var octets = FixedOctets<6>()
        for (index, octet) in digest.prefix(6).enumerated() { octets[index] = octet }
        return .staticRandom(from: octets)
    }
}
