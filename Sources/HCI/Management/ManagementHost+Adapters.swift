public import BluetoothTypes

/// Which adapters there are, and when one comes.
extension ManagementHost {
    /// The numbers and addresses of the adapters that the kernel manages now.
    public func adapters() throws(ManagementError) -> [(index: UInt16, address: DeviceAddress)] {
        var result: [(index: UInt16, address: DeviceAddress)] = []
        for index in try execute(ReadControllerIndexList()).indexes.sorted() {
            guard let address = try address(of: index) else { continue }
            result.append((index, address))
        }
        return result
    }

    /// The number of the adapter with this address, whatever it was before; `nil` when it is not there.
    public func index(of address: DeviceAddress) throws(ManagementError) -> UInt16? {
        try adapters().first { $0.address == address }?.index
    }

    /// Waits for an adapter to be plugged in, or given back by a program that held its user channel: the one with
    /// `address`, or any. Other events pass by meanwhile. `nil` when `deadline` came first.
    public func nextAdapter(
        _ address: DeviceAddress?, until deadline: HCIInstant
    ) throws(ManagementError) -> UInt16? {
        while let event = try nextEvent(until: deadline) {
            guard event.content == .indexAdded, let found = try self.address(of: event.index) else { continue }
            if address == nil || found == address { return event.index }
        }
        return nil
    }

    /// `nil` when the adapter has gone again meanwhile.
    private func address(of index: UInt16) throws(ManagementError) -> DeviceAddress? {
        do throws(ManagementError) {
            return try execute(ReadControllerInformation(), index: index).address
        } catch {
            guard error.status == .invalidIndex else { throw error }
            return nil
        }
    }
}
