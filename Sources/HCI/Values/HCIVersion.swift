import BluetoothTypes

/// The version of the Core Specification that a controller follows (Assigned Numbers 2.1).
public struct HCIVersion: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let core40 = Self(rawValue: 6)
    public static let core41 = Self(rawValue: 7)
    public static let core42 = Self(rawValue: 8)
    public static let core50 = Self(rawValue: 9)
    public static let core51 = Self(rawValue: 10)
    public static let core52 = Self(rawValue: 11)
    public static let core53 = Self(rawValue: 12)
    public static let core54 = Self(rawValue: 13)

    /// `5.4`; `nil` for numbers not yet assigned.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    public var description: String {
        name.map { "Core \($0)" } ?? "unknown version \(Hexadecimal.number(rawValue, width: 2))"
    }

    /// Older versions have lower numbers.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    private static let names = [
        "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
    ]
}

/// Who made something, as numbered by the Bluetooth SIG (Assigned Numbers 7.1).
public struct CompanyIdentifier: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// Any company identifier, assigned or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public static let intel = Self(rawValue: 2)
    public static let cambridgeSiliconRadio = Self(rawValue: 10)
    public static let texasInstruments = Self(rawValue: 13)
    public static let broadcom = Self(rawValue: 15)
    public static let qualcomm = Self(rawValue: 29)
    public static let mediaTek = Self(rawValue: 70)
    public static let nordic = Self(rawValue: 89)
    public static let realtek = Self(rawValue: 93)
    public static let cypress = Self(rawValue: 305)
    public static let espressif = Self(rawValue: 741)
    public static let siliconLabs = Self(rawValue: 767)
    /// The Linux Foundation: what Zephyr's own controller reports.
    public static let linuxFoundation = Self(rawValue: 1521)

    /// The makers of controllers that Pharos has met; `nil` for all others.
    public var name: String? {
        switch self {
        case .intel: "Intel"
        case .cambridgeSiliconRadio: "Cambridge Silicon Radio"
        case .texasInstruments: "Texas Instruments"
        case .broadcom: "Broadcom"
        case .qualcomm: "Qualcomm"
        case .mediaTek: "MediaTek"
        case .nordic: "Nordic Semiconductor"
        case .realtek: "Realtek"
        case .cypress: "Cypress"
        case .espressif: "Espressif"
        case .siliconLabs: "Silicon Labs"
        case .linuxFoundation: "The Linux Foundation"
        default: nil
        }
    }

    public var description: String {
        let number = Hexadecimal.number(rawValue, width: 4)
        return name.map { "\($0) (\(number))" } ?? "company \(number)"
    }
}
