public import BluetoothTypes

/// An iBeacon: manufacturer data of Apple (0x004C) with the type 0x02 and the length 0x15.
///
/// `02 01 06 | 1A FF 4C 00 02 15 | UUID[16] | major u16 BE | minor u16 BE | measured power s8`: 30 bytes. The UUID is
/// sent most significant byte first, as in its text. The measured power is the signal strength at 1 m.
public struct IBeacon: EncodableFrame {
    /// The UUID with 128 bits, most significant byte first.
    private var proximity: FixedOctets<16>
    /// The number of a group of beacons with the same UUID, such as the beacons of one building; big-endian on the air.
    public var major: UInt16
    /// The number of this beacon in its `major` group; big-endian on the air.
    public var minor: UInt16
    public var measuredPower: MeasuredPowerAtOneMeter

    /// A frame with these values, which are not checked. `advertisingData(flags:)` refuses a measured power that may
    /// not be sent.
    ///
    /// - Parameter uuid: The proximity UUID. A UUID of 16 or 32 bits is expanded to 128 bits.
    public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: MeasuredPowerAtOneMeter) {
        self.init(proximity: uuid.expanded, major: major, minor: minor, measuredPower: measuredPower)
    }

    @inline(__always)
    private init(proximity: FixedOctets<16>, major: UInt16, minor: UInt16, measuredPower: MeasuredPowerAtOneMeter) {
        self.proximity = proximity
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }

    /// The proximity UUID, which all beacons of an organisation or application share. It always has 128 bits: if you
    /// set a shorter UUID, it is expanded.
    public var uuid: BluetoothUUID {
        get { .uuid128(proximity) }
        set { proximity = newValue.expanded }
    }
}

extension IBeacon {
    /// Apple's company identifier.
    public static let companyID: UInt16 = 0x004C
    /// The size of the manufacturer data in bytes: company, type, length, UUID, major, minor and power.
    static let manufacturerDataLength = 25

    /// Reads manufacturer data; `nil` if it does not have the exact length and prefix of an iBeacon.
    @inline(__always)
    init?(manufacturerData data: Span<UInt8>) {
        guard data.count == Self.manufacturerDataLength, data.uint32BigEndian(at: 0) == 0x4C00_0215,
            let proximity = FixedOctets<16>(data, at: 4)
        else { return nil }
        self.init(
            proximity: proximity, major: data.uint16BigEndian(at: 20), minor: data.uint16BigEndian(at: 22),
            measuredPower: MeasuredPowerAtOneMeter(octet: data[24]))
    }

    /// The manufacturer data, without Flags. A measured power that is out of range is encoded as well.
    public var adStructures: [ADStructure] {
        var data: [UInt8] = [0x02, 0x15] + proximity.octets
        data.append(bigEndian: major)
        data.append(bigEndian: minor)
        data.append(measuredPower.octet)
        return [.manufacturerData(Self.companyID, data)]
    }

    /// Checks that the frame may be sent.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -127...0 dBm.
    public func validate() throws(BeaconFrameError) { try measuredPower.checkRange() }
}

/// An AltBeacon (github AltBeacon/spec): manufacturer data with any company identifier and the code BE AC.
///
/// `1B FF | company id LE | BE AC | beacon id[20] | reference RSSI s8 at 1 m | manufacturer reserved u8`: 28 bytes.
public struct AltBeacon: EncodableFrame {
    /// A company identifier of the Bluetooth SIG; little-endian on the air.
    public var companyID: UInt16
    /// The id of the beacon. By convention, the first 16 bytes are the same for all beacons of an organisation, and the
    /// last 4 bytes distinguish its beacons.
    public var beaconID: FixedOctets<20>
    public var measuredPower: MeasuredPowerAtOneMeter
    /// A byte that the manufacturer may use for any purpose.
    public var reserved: UInt8

    /// A frame with these values, which are not checked. `advertisingData(flags:)` refuses a measured power that may
    /// not be sent.
    public init(
        companyID: UInt16, beaconID: FixedOctets<20>, measuredPower: MeasuredPowerAtOneMeter, reserved: UInt8 = 0
    ) {
        self.companyID = companyID
        self.beaconID = beaconID
        self.measuredPower = measuredPower
        self.reserved = reserved
    }
}

extension AltBeacon {
    /// The size of the manufacturer data in bytes: company, code, id, power and the reserved byte.
    static let manufacturerDataLength = 26

    /// Reads manufacturer data; `nil` if it does not have the exact length and code of an AltBeacon.
    @inline(__always)
    init?(manufacturerData data: Span<UInt8>) {
        guard data.count == Self.manufacturerDataLength, data.uint16BigEndian(at: 2) == 0xBEAC,
            let beaconID = FixedOctets<20>(data, at: 4)
        else { return nil }
        self.init(
            companyID: data.uint16LittleEndian(at: 0), beaconID: beaconID,
            measuredPower: MeasuredPowerAtOneMeter(octet: data[24]), reserved: data[25])
    }

    /// The manufacturer data, without Flags. A measured power that is out of range is encoded as well.
    public var adStructures: [ADStructure] {
        [.manufacturerData(companyID, [0xBE, 0xAC] + beaconID.octets + [measuredPower.octet, reserved])]
    }

    /// Checks that the frame may be sent.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -127...0 dBm.
    public func validate() throws(BeaconFrameError) { try measuredPower.checkRange() }
}
