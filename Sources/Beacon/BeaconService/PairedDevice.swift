public import BluetoothTypes
public import Configuration
internal import LinuxHost

/// A paired device, as bluetoothd stores it, with the identity resolving key from which its changing addresses are
/// derived.
public struct PairedDevice: Hashable, Sendable {
    /// The directory in which bluetoothd stores the devices of each adapter.
    public static let directory = "/var/lib/bluetooth"

    /// The address of the adapter.
    public let adapter: DeviceAddress
    /// The identity address of the device, which does not change.
    public let address: DeviceAddress
    /// The device's name; `nil` if it has none.
    public let name: String?
    /// The identity resolving key, most significant byte first.
    public let key: FixedOctets<16>

    /// Returns the devices of all adapters whose keys are stored in `directory`, sorted by name.
    ///
    /// - Throws: An error if a file cannot be read, for example because only root may read it.
    public static func all(in directory: String = directory) throws(BeaconServiceError) -> [PairedDevice] {
        guard Files.exists(directory) else { return [] }
        var devices: [PairedDevice] = []
        do throws(SystemError) {
            for adapterName in try Files.listing(directory) {
                guard let adapter = deviceAddress(adapterName) else { continue }
                for deviceName in try Files.listing("\(directory)/\(adapterName)") {
                    let path = "\(directory)/\(adapterName)/\(deviceName)/info"
                    guard let address = deviceAddress(deviceName), Files.exists(path) else { continue }
                    let text = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
                    if let device = PairedDevice(text, adapter: adapter, address: address) { devices.append(device) }
                }
            }
        } catch {
            guard error.errno == SystemError.accessDenied else { throw .system(error) }
            throw .refused(
                .notPermitted, "\(directory): only root may read the keys of paired devices; run the command with sudo")
        }
        return devices.sorted { ($0.name ?? "", $0.address.description) < ($1.name ?? "", $1.address.description) }
    }

    /// Reads an `info` file of bluetoothd: lines `Key=Value` in sections. `nil` if it contains no identity resolving
    /// key.
    init?(_ text: String, adapter: DeviceAddress, address: DeviceAddress) {
        var section = ""
        var name: String?
        var key: FixedOctets<16>?
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("["), line.hasSuffix("]") { section = String(line.dropFirst().dropLast()) }
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch (section, parts[0]) {
            case ("General", "Name"): name = parts[1]
            // bluetoothd stores the bytes as they are sent, least significant first.
            case ("IdentityResolvingKey", "Key"): key = (try? FixedOctets<16>(hexadecimal: parts[1]))?.reversed
            default: break
            }
        }
        guard let key else { return nil }
        self.adapter = adapter
        self.address = address
        self.name = name
        self.key = key
    }

    /// The device as an object of `pharos irk --json`.
    public var json: JSONValue {
        .record([
            ("name", .optional(name, JSONValue.string)), ("address", .string(address.description)),
            ("adapter", .string(adapter.description)), ("key", .hex(key.octets)),
        ])
    }

    private static func deviceAddress(_ name: String) -> DeviceAddress? {
        name.utf8.count == 17 ? DeviceAddress(name) : nil
    }
}
