internal import BluetoothTypes

/// What all Eddystone frames have in common: service data of UUID 0xFEAA, announced in a list of service UUIDs.
///
/// github google/eddystone, protocol-specification.md.
public enum Eddystone {
    /// 0xFEAA, assigned to Google for Eddystone.
    public static let serviceUUID: UInt16 = 0xFEAA

    /// The high nibble of a frame's first octet; the low one is 0.
    public enum FrameType: UInt8, Sendable {
        case uid = 0x00
        case url = 0x10
        case tlm = 0x20
        case eid = 0x30
    }

    /// The list that announces Eddystone, and `frame` as its service data.
    static func structures(_ frame: [UInt8]) -> [ADStructure] {
        [
            ADStructure(.complete16BitUUIDs, BluetoothUUID.uuid16(serviceUUID).littleEndian),
            .serviceData(serviceUUID, frame),
        ]
    }
}
