import BeaconService
import BluetoothTypes
import TestSupport
import Testing

@Suite("Devices that are paired with this machine")
struct PairedDeviceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes the file of a device as bluetoothd does.
    private func add(_ device: String, _ text: String) throws {
        try folder.file("00:11:22:33:44:55/\(device)/info", text: text)
    }

    @Test("each device with a key is listed by name, with its key most significant byte first")
    func listsKeys() throws {
        let key = "[IdentityResolvingKey]\nKey=9B7D390AA610103405ADC857A33402EC\n"
        try add("AA:BB:CC:DD:EE:02", "[General]\nName=Ben\nAddressType=public\n\n" + key)
        try add("AA:BB:CC:DD:EE:01", key + "\n[General]\nName=Anna = phone\n")
        try add("AA:BB:CC:DD:EE:03", "[General]\nName=Headphones\n[LinkKey]\nKey=00112233445566778899AABBCCDDEEFF\n")
        let devices = try PairedDevice.all(in: folder.place(""))
        #expect(devices.map(\.name) == ["Anna = phone", "Ben"])
        #expect(devices.map { "\($0.key)" } == Array(repeating: "ec0234a357c8ad05341010a60a397d9b", count: 2))
        #expect(devices.first?.adapter == DeviceAddress("00:11:22:33:44:55"))
    }

    @Test("a machine without bluetoothd has no paired devices")
    func acceptsAMissingStore() throws {
        #expect(try PairedDevice.all(in: folder.place("nothing")).isEmpty)
    }
}
