import BluetoothTypes
import HCI

/// Commands that hosts such as the Linux kernel need to set up a controller, but not for advertising. The controller
/// answers them like a controller without connections.
enum HostSetupCommand: UInt16, CaseIterable {
    case readLocalSupportedFeatures = 0x1003
    case leReadBufferSize = 0x2002
    case leReadFilterAcceptListSize = 0x200F
    case leClearFilterAcceptList = 0x2010
    case leAddDeviceToFilterAcceptList = 0x2011
    case leRemoveDeviceFromFilterAcceptList = 0x2012
    case leRand = 0x2018
    case leReadSupportedStates = 0x201C
    case leReadSuggestedDefaultDataLength = 0x2023
    case leWriteSuggestedDefaultDataLength = 0x2024
    case leReadMaximumDataLength = 0x202F

    /// The length of the command's parameters in bytes.
    var length: Int {
        switch self {
        case .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList: 7
        case .leWriteSuggestedDefaultDataLength: 4
        default: 0
        }
    }

    /// The length of the command's return parameters after the status, in bytes.
    var returnedLength: Int {
        switch self {
        case .readLocalSupportedFeatures, .leRand, .leReadSupportedStates, .leReadMaximumDataLength: 8
        case .leReadSuggestedDefaultDataLength: 4
        case .leReadBufferSize: 3
        case .leReadFilterAcceptListSize: 1
        default: 0
        }
    }

    /// The byte that contains the command's bit in Supported_Commands (Core Specification 5.4, Vol 4 Part E 6.27).
    var supportedOctet: Int {
        switch self {
        case .readLocalSupportedFeatures: 14
        case .leReadBufferSize: 25
        case .leReadFilterAcceptListSize, .leClearFilterAcceptList: 26
        case .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leRand: 27
        case .leReadSupportedStates: 28
        case .leReadSuggestedDefaultDataLength: 33
        case .leWriteSuggestedDefaultDataLength: 34
        case .leReadMaximumDataLength: 35
        }
    }

    /// The number of the command's bit in the byte ``supportedOctet``.
    var supportedBit: UInt8 {
        switch self {
        case .leAddDeviceToFilterAcceptList, .leWriteSuggestedDefaultDataLength: 0
        case .leReadBufferSize, .leRemoveDeviceFromFilterAcceptList: 1
        case .leReadSupportedStates, .leReadMaximumDataLength: 3
        case .readLocalSupportedFeatures: 5
        case .leReadFilterAcceptListSize: 6
        case .leClearFilterAcceptList, .leRand, .leReadSuggestedDefaultDataLength: 7
        }
    }
}

extension VirtualController {
    private static let acceptListSize = 16

    func setUp(_ command: HostSetupCommand, _ octets: Span<UInt8>) -> CommandReply {
        do throws(HCIStatus) {
            try HCIStatus.require(octets.count == command.length, else: .invalidParameters)
            return CommandReply(status: .success, returned: try returned(by: command, octets))
        } catch {
            return CommandReply(status: error, returned: [UInt8](repeating: 0, count: command.returnedLength))
        }
    }

    private func returned(by command: HostSetupCommand, _ octets: Span<UInt8>) throws(HCIStatus) -> [UInt8] {
        switch command {
        case .readLocalSupportedFeatures:
            // LMP features: BR/EDR Not Supported, and LE Supported (Vol 2 Part C 3.3).
            return [0, 0, 0, 0, 0x60, 0, 0, 0]
        case .leReadBufferSize: return [0xFB, 0x00, 1]
        case .leReadFilterAcceptListSize: return [UInt8(Self.acceptListSize)]
        case .leClearFilterAcceptList: try changeAcceptList { $0.removeAll() }
        case .leAddDeviceToFilterAcceptList:
            let device = try identity(octets)
            try HCIStatus.require(
                state.acceptList.contains(device) || state.acceptList.count < Self.acceptListSize,
                else: .memoryCapacityExceeded)
            try changeAcceptList { $0.insert(device) }
        case .leRemoveDeviceFromFilterAcceptList:
            let device = try identity(octets)
            try changeAcceptList { $0.remove(device) }
        case .leRand:
            var number: [UInt8] = []
            number.append(littleEndian: air?.generator.next() ?? 0)
            return number
        case .leReadSupportedStates:
            // The controller can use each kind of advertising (bits 0...3), each kind of scanning (4, 5), and both at
            // once (8...15) (7.8.27).
            return [0x3F, 0xFF, 0, 0, 0, 0, 0, 0]
        case .leReadSuggestedDefaultDataLength:
            // 27 bytes in 328 µs: the initial values of every connection (7.8.34).
            return [27, 0, 0x48, 0x01]
        case .leWriteSuggestedDefaultDataLength: break
        case .leReadMaximumDataLength:
            // 251 bytes in 2120 µs in each direction (7.8.46).
            return [251, 0, 0x48, 0x08, 251, 0, 0x48, 0x08]
        }
        return []
    }

    private func identity(_ octets: Span<UInt8>) throws(HCIStatus) -> DeviceIdentity {
        guard octets[0] <= 1, let address = DeviceAddress(littleEndian: octets, at: 1) else {
            throw HCIStatus.invalidParameters
        }
        return DeviceIdentity(AddressType(rawValue: octets[0]), address)
    }

    /// Changes the filter accept list. Throws an error while advertising or scanning uses the list (7.8.15...7.8.17).
    private func changeAcceptList(_ change: (inout Set<DeviceIdentity>) -> Void) throws(HCIStatus) {
        let isAdvertising = state.sets.values.contains { $0.isEnabled && $0.filterPolicy != .all }
        let isScanning = state.scanner.map { $0.parameters.filterPolicy.rawValue & 1 != 0 } ?? false
        try HCIStatus.require(!isAdvertising && !isScanning, else: .commandDisallowed)
        change(&state.acceptList)
    }
}
