internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import EddystoneSecurity
internal import LinuxHost

struct IdentityResolvingKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "irk",
        abstract: "Show the keys of paired phones, or check the key of a phone.",
        discussion: """
            A phone changes its Bluetooth address every few minutes. With its identity
            resolving key (IRK), `pharos listen` and `pharos zones` recognise it.
            sudo pharos irk
            pharos irk --key-file anna.irk --device-address 70:81:94:0D:FB:AA
            """)

    @Option(
        help: ArgumentHelp(
            "File with a key to check, in hexadecimal digits or Base64. Without this option, the keys of paired phones are "
                + "shown.",
            valueName: "file"), completion: .file())
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "The address that the phone uses at present, with which the key and its byte order are checked.",
            valueName: "address"))
    var deviceAddress: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The directory in which bluetoothd stores devices.", valueName: "directory", visibility: .hidden))
    var store = PairedDevice.directory

    func validate() throws {
        if (keyFile == nil) != (deviceAddress == nil) {
            throw ValidationError("To check a key, give both --key-file and --device-address.")
        }
    }

    func run() throws {
        if let keyFile, let deviceAddress {
            try check(keyFile, deviceAddress)
        } else {
            try list()
        }
    }

    private func check(_ file: String, _ text: String) throws {
        guard let address = DeviceAddress(text) else {
            throw Failure(.usage, "--device-address: write six bytes, such as 70:81:94:0D:FB:AA")
        }
        guard address.randomKind == .resolvablePrivate else {
            throw Failure(
                .usage,
                "--device-address: \(address) is not made from a key: an address that is made from a key begins with the digit "
                    + "4, 5, 6 or 7")
        }
        let order = try KeyFile.readIdentityResolvingKey(file).byteOrder(provenBy: address)
        if json {
            Terminal.write(
                JSONValue.record([
                    ("address", .string(address.description)), ("isFromKey", .boolean(order != nil)),
                    ("byteOrder", .optional(order) { .string($0.rawValue) }),
                ]).line + "\n")
        } else {
            let sentence =
                switch order {
                case .mostSignificantFirst:
                    "This address was made with the key. The key begins with its most significant byte."
                case .leastSignificantFirst:
                    "This address was made with the key. The key begins with its least significant byte, which Pharos "
                        + "reads too."
                case nil: "This address was not made with the key, in either byte order."
                }
            Terminal.show(sentence + "\n")
        }
        if order == nil { throw Failure(.failure) }
    }

    private func list() throws {
        let devices = try PairedDevice.all(in: store)
        if json {
            Terminal.write(JSONValue.record([("devices", .array(devices.map(\.json)))]).line + "\n")
            return
        }
        guard !devices.isEmpty else {
            Terminal.show(Self.pairing)
            return
        }
        var text = ""
        for device in devices {
            let title = device.name ?? device.address.description
            let file = Self.fileName(title)
            text += """
                \(TerminalText.line(title)) (\(device.address)), paired with adapter \(device.adapter)
                  Write the key into a file:
                    (umask 077; echo \(Hexadecimal.text(device.key.octets)) > \(file))
                  Add this to "irks" of the listener file:
                    \(JSONValue.record([("name", .string(file.dropLast(4).description)), ("file", .string(file))]).line)

                """
        }
        Terminal.show(text)
    }

    /// Returns the name of the key file for a device: the ASCII letters and digits of its title, with hyphens for all
    /// other characters.
    private static func fileName(_ title: String) -> String {
        let name = title.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "-")
        return (name.isEmpty ? "phone" : String(name.prefix(48))) + ".irk"
    }

    private static let pairing = """
        No paired device has given this machine its key. To pair a phone:
          1. On this machine, run `bluetoothctl`, and there `power on`, `agent on`,
             `discoverable on` and `pairable on`.
          2. On the phone, open the Bluetooth settings and choose this machine.
          3. Confirm the number on both, and run `sudo pharos irk` again.
        If the phone does not show this machine, run `advertise on` in bluetoothctl, and pair with an app such as
        nRF Connect.

        """
}
