/// Names of the companies that send manufacturer data.
public enum CompanyName {
    static let apple: UInt16 = 0x004C

    /// Returns the short name of a company; `company 0x1234` if this list has no name for it.
    ///
    /// - Parameter id: The company identifier that the Bluetooth SIG assigned.
    public static func text(_ id: UInt16) -> String {
        if let name = names[id] { return name }
        let digits = String(id, radix: 16, uppercase: true)
        return "company 0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// The makers of common chips, phones, beacons and accessories, from the SIG's Assigned Numbers.
    private static let names: [UInt16: String] = [
        0x0002: "Intel",
        0x0006: "Microsoft",
        0x000D: "Texas Instruments",
        0x000F: "Broadcom",
        0x001D: "Qualcomm",
        0x0030: "STMicroelectronics",
        0x004C: "Apple",
        0x0057: "Harman",
        0x0059: "Nordic Semiconductor",
        0x006B: "Polar",
        0x0075: "Samsung",
        0x0087: "Garmin",
        0x0089: "GN Hearing",
        0x009E: "Bose",
        0x00C4: "LG Electronics",
        0x00E0: "Google",
        0x0103: "Bang & Olufsen",
        0x0118: "Radius Networks",
        0x012D: "Sony",
        0x0133: "Blue Maestro",
        0x0157: "Huami",
        0x015D: "Estimote",
        0x0171: "Amazon",
        0x01A9: "Canon",
        0x01AB: "Meta",
        0x01DA: "Logitech",
        0x01FD: "Kontakt.io",
        0x027D: "Huawei",
        0x02E5: "Espressif",
        0x02FF: "Silicon Labs",
        0x038F: "Xiaomi",
        0x0397: "LEGO",
        0x0494: "Sennheiser",
        0x0499: "Ruuvi",
        0x05A7: "Sonos",
        0x05F1: "Linux Foundation",
        0x060F: "Signify",
        0x0639: "Minew",
        0x067C: "Tile",
    ]
}
