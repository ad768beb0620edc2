internal import BluetoothTypes

/// The few assigned names that a reader of beacon payloads meets (Bluetooth SIG, Assigned Numbers 3.4, 3.8 and 7.1).
enum AssignedNames {
    /// A company identifier as `0x004C Apple`; the number alone where Pharos knows no name.
    static func company(_ identifier: UInt16) -> String {
        named(identifier, companies[identifier])
    }

    /// A 16-bit service UUID as `0xFEAA Eddystone`; the number alone where Pharos knows no name.
    static func service(_ uuid: UInt16) -> String {
        named(uuid, services[uuid])
    }

    private static func named(_ number: UInt16, _ name: String?) -> String {
        Hexadecimal.number(number, width: 4) + (name.map { " " + $0 } ?? "")
    }

    private static let companies: [UInt16: String] = [
        0x0000: "Ericsson", 0x0002: "Intel", 0x0006: "Microsoft", 0x000D: "Texas Instruments", 0x000F: "Broadcom",
        0x004C: "Apple", 0x0059: "Nordic Semiconductor", 0x0075: "Samsung", 0x00E0: "Google",
        0x0118: "Radius Networks", 0x015D: "Estimote", 0x02E5: "Espressif", 0x02FF: "Silicon Laboratories",
        0x0499: "Ruuvi", 0x05F1: "The Linux Foundation", 0xFFFF: "for tests only",
    ]

    private static let services: [UInt16: String] = [
        0x1800: "Generic Access", 0x1801: "Generic Attribute", 0x180A: "Device Information", 0x180F: "Battery",
        0x181A: "Environmental Sensing", 0xFD6F: "Exposure Notification", 0xFEAA: "Eddystone",
    ]
}
