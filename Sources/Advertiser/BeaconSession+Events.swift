internal import BluetoothTypes
public import HCI

/// What the controller says of itself.
extension BeaconSession {
    /// Takes an event that is no answer to a command.
    ///
    /// - Throws: `ended` where it says that nothing, or not everything, is on the air any more.
    public func handle(_ event: HCIEvent) throws(AdvertisingError) {
        guard stoppedAt == nil, onAirSince != nil else { return }
        switch event {
        case .hardwareError(let code):
            silence(since: host.now)
            throw .hardwareError(code)
        case .advertisingSetTerminated(let terminated):
            guard let index = sets.firstIndex(where: { $0.plan.family == .extended(handle: terminated.handle) })
            else { return }
            guard terminated.status == .success else {
                sets[index].end(at: host.now)
                throw .ended(.silent, "the controller ended the advertising set: \(terminated.status)")
            }
            try enableAgain(index)
        case .unknown(let code, let parameters):
            guard Self.isConnection(code, parameters) || code == Self.disconnectionComplete else { return }
            for index in sets.indices where sets[index].plan.pdu == .connectable { try enableAgain(index) }
        default:
            return
        }
    }

    /// Connection Complete, Enhanced Connection Complete (LE subevents 0x01 and 0x0A), with status success.
    private static func isConnection(_ code: UInt8, _ parameters: [UInt8]) -> Bool {
        code == HCIEventCode.leMeta && parameters.count > 1 && [0x01, 0x0A].contains(parameters[0])
            && parameters[1] == 0
    }

    private static let disconnectionComplete: UInt8 = 0x05

    /// Somebody connected, which ends connectable advertising; it goes on for the next one. A controller that cannot
    /// while the connection lasts can again when it is over.
    private func enableAgain(_ index: Int) throws(AdvertisingError) {
        do throws(AdvertisingError) {
            try sets[index].commands.enable(host)
        } catch {
            let passing: [HCIStatus] = [.commandDisallowed, HCIStatus(rawValue: 0x09), HCIStatus(rawValue: 0x0D)]
            guard case .command(let refusal, _) = error, let status = refusal.status, passing.contains(status)
            else { throw error }
        }
    }
}
