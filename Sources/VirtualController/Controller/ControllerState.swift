import BluetoothTypes
import HCI

/// Which of the two sets of advertising and scanning commands a host uses. The first command after a reset decides, and
/// from then on those of the other are refused (Core Specification 5.4, Vol 4 Part E 3.1.1).
enum CommandFamily {
    case legacy
    case extended

    /// `nil` for commands that belong to neither.
    init?(_ opcode: HCIOpcode) {
        switch opcode.rawValue {
        case 0x2006...0x200C: self = .legacy
        case 0x2035...0x203D, 0x2041, 0x2042: self = .extended
        default: return nil
        }
    }
}

/// All that a reset clears.
struct ControllerState {
    var family: CommandFamily?
    var eventMask = HCIEventMask.standard
    var leEventMask = LEEventMask.standard
    var randomAddress: DeviceAddress?
    var sets: [AdvertisingSetID: AdvertisingSet] = [:]
    var scanParameters = ScanParameters()
    var scanner: Scanner?
    var acceptList: Set<DeviceIdentity> = []

    init(_ model: VirtualControllerModel) {
        sets[.legacy] = AdvertisingSet(.legacy, power: model.defaultPower)
    }

    /// How many of the host's sets exist.
    var extendedSetCount: Int { sets.count - 1 }
}
