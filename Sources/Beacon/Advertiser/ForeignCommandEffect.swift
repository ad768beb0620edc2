internal import HCI

/// The effect of an HCI command on a watched advertisement.
struct ForeignCommandEffect: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case enabled
        case disabled
        case scanEnabled
        case scanDisabled
        case data
        case scanResponse
        case parameters
        case address
        case removed
        case reset

        /// The kind of disturbance if another program sends the command; `nil` if the command does no harm.
        var kind: ForeignActivity.Cause.Kind? {
            switch self {
            case .enabled, .scanEnabled, .scanDisabled: nil
            case .disabled: .advertisingDisabled
            case .data: .dataChanged
            case .scanResponse: .scanResponseChanged
            case .parameters: .parametersChanged
            case .address: .addressChanged
            case .removed: .advertisementRemoved
            case .reset: .controllerReset
            }
        }
    }

    /// A setting of the controller. Another program may set it to the same value without harm.
    struct Field: Hashable, Sendable {
        let effect: Effect
        /// The set's handle; 0 for legacy commands.
        let handle: UInt8
    }

    let opcode: HCIOpcode
    let effect: Effect
    let field: Field?
    let value: [UInt8]

    /// Finds the effect of a packet; `nil` if the packet is not a command, or has no effect on `watched`.
    init?(_ packet: HCIPacket, _ watched: ForeignActivity.Watched) {
        guard let header = packet.commandHeader else { return nil }
        let value = Array(packet.octets[header.parameters])
        opcode = header.opcode
        self.value = value
        if opcode == HCIReset.opcode {
            effect = .reset
            field = nil
            return
        }
        if opcode == LESetScanEnable.opcode || opcode == LESetExtendedScanEnable.opcode {
            effect = value.first == 0 ? .scanDisabled : .scanEnabled
            field = nil
            return
        }
        let handles: Set<UInt8>
        switch watched {
        case .legacy: handles = []
        case .sets(let ownHandles): handles = ownHandles
        // The kernel uses its instance numbers as handles.
        case .managed(let ownHandles): handles = ownHandles
        }
        if watched.hasLegacyFamily, let effect = Self.legacyEffect(opcode, value) {
            self.effect = effect
            field = effect.lacksValue ? nil : Field(effect: effect, handle: 0)
        } else if watched != .legacy, let effect = Self.extendedEffect(opcode, value, handles, watched) {
            self.effect = effect
            field = effect.lacksValue ? nil : Field(effect: effect, handle: value.first ?? 0)
        } else {
            return nil
        }
    }

    private static func legacyEffect(_ opcode: HCIOpcode, _ value: [UInt8]) -> Effect? {
        switch opcode {
        case LESetAdvertisingEnable.opcode: value.first == 0 ? .disabled : .enabled
        case LESetAdvertisingData.opcode: .data
        case LESetScanResponseData.opcode: .scanResponse
        case LESetAdvertisingParameters.opcode: .parameters
        case LESetRandomAddress.opcode: .address
        default: nil
        }
    }

    private static func extendedEffect(
        _ opcode: HCIOpcode, _ value: [UInt8], _ handles: Set<UInt8>, _ watched: ForeignActivity.Watched
    ) -> Effect? {
        let isOwnSet = value.first.map(handles.contains) ?? false
        switch opcode {
        case LESetExtendedAdvertisingEnable.opcode:
            guard value.count >= 2 else { return nil }
            // The parameters are Enable, the number of sets, and four bytes for each set. If the number is 0, the
            // command applies to all sets.
            let namedHandles = stride(from: 2, to: value.count, by: 4).map { value[$0] }
            if value[0] != 0, case .managed = watched {
                // The kernel turns all its instances on together, so the handles are not compared: an instance may have
                // been added again with another number.
                return .enabled
            }
            guard value[1] == 0 || !handles.isDisjoint(with: namedHandles) else { return nil }
            return value[0] == 0 ? .disabled : .enabled
        case LEClearAdvertisingSets.opcode: return .removed
        case LERemoveAdvertisingSet.opcode: return isOwnSet ? .removed : nil
        case LESetExtendedAdvertisingData.opcode: return isOwnSet ? .data : nil
        case LESetExtendedScanResponseData.opcode: return isOwnSet ? .scanResponse : nil
        case LESetExtendedAdvertisingParameters.opcode, LESetExtendedAdvertisingParametersV2.opcode:
            return isOwnSet ? .parameters : nil
        case LESetAdvertisingSetRandomAddress.opcode: return isOwnSet ? .address : nil
        default: return nil
        }
    }
}

extension ForeignCommandEffect.Effect {
    /// `true` if the command sets no value that can be compared with the program's own value.
    fileprivate var lacksValue: Bool {
        switch self {
        case .enabled, .disabled, .scanEnabled, .scanDisabled, .removed, .reset: true
        case .data, .scanResponse, .parameters, .address: false
        }
    }
}

extension ForeignActivity.Watched {
    /// `true` if legacy commands may affect the watched advertisements. The kernel's advertising manager uses legacy
    /// commands if the controller has no extended ones.
    fileprivate var hasLegacyFamily: Bool {
        if case .sets = self { return false }
        return true
    }
}
