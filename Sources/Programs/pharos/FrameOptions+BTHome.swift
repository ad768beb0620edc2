internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import EddystoneSecurity

/// The options for encrypted BTHome: the key, and the address of the sender, which is used in the encryption.
struct EncryptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "BTHome: file with the encryption key: 32 hexadecimal digits, readable by its owner only.",
            valueName: "file"),
        completion: .file())
    var encryptionKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "BTHome: the encryption key itself. Every user of this machine can see it while the command runs.",
            valueName: "hex"), transform: OptionValue.key)
    var encryptionKey: FixedOctets<16>?

    @Option(
        help: ArgumentHelp(
            "BTHome: the sender's device address, which is used in the encryption.", valueName: "address"),
        transform: EncryptionOptions.address)
    var deviceAddress: DeviceAddress?

    /// True if the command line has a key.
    var hasKey: Bool { encryptionKey != nil || encryptionKeyFile != nil }

    func validate() throws {
        if encryptionKey != nil && encryptionKeyFile != nil {
            throw ValidationError("Give --encryption-key-file or --encryption-key, not both.")
        }
        if !hasKey && deviceAddress != nil {
            throw ValidationError("--device-address goes with --encryption-key-file.")
        }
    }

    /// The key, read from its file if necessary; `nil` if the command line has none.
    func key() throws -> IdentityKey? {
        if let encryptionKeyFile { return try KeyFile.read(encryptionKeyFile, "encryption key") }
        return encryptionKey.map { IdentityKey($0) }
    }

    /// Returns the address of the sender, which the command line must give for a payload without a packet; `nil` if it
    /// is not needed.
    func sender() throws -> DeviceAddress? {
        if hasKey && deviceAddress == nil { throw Failure(.usage, "decrypting BTHome needs --device-address as well") }
        return deviceAddress
    }

    private static func address(_ text: String) throws -> DeviceAddress {
        guard let address = DeviceAddress(text) else { throw Mistake("write six bytes, such as F0:01:02:03:04:05") }
        return address
    }
}

struct BTHomeOptions: FrameOptions {
    static let frameName = "bthome"
    static let title = "a BTHome v2 packet: values that Home Assistant reads, encrypted if a key is given"

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Value to send, such as temperature=21.5, door=true or button=press; 0x15=1 names an object by its number.",
            valueName: "name=value"),
        transform: BTHomeOptions.parse)
    var value: [BTHomeObject] = []

    @OptionGroup var encryption: EncryptionOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Counter of the encryption. Use no value twice with one key.", valueName: "number"),
        transform: OptionValue.uint32)
    var counter: UInt32?

    private static func parse(_ text: String) throws -> BTHomeObject {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw Mistake("write NAME=VALUE, such as temperature=21.5") }
        let id = parts[0].hasPrefix("0x") ? UInt8(parts[0].dropFirst(2), radix: 16) : nil
        let kinds = BTHomeKind.all.filter { id == nil ? $0.name == parts[0] : $0.id == id }
        guard let firstKind = kinds.first else {
            let names = Set(BTHomeKind.all.map(\.name)).sorted()
            let advice = NearestWord.find(parts[0], among: names).map { "did you mean \($0)?" }
            throw Mistake(
                "BTHome has no object \(ProblemText.quoted(parts[0])); "
                    + (advice ?? "there are " + names.joined(separator: ", ")))
        }
        for kind in kinds {
            if let object = BTHomeObject(kind, text: parts[1]) { return object }
        }
        let forms = kinds.map(\.valueForms).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        // If several kinds of values have this name, the message shows the widest limits.
        let limits = kinds.compactMap(\.limits).max { largest($0) < largest($1) }.map { ", \($0)" } ?? ""
        throw Mistake(
            "\(firstKind.name) takes \(forms.joined(separator: ", or "))\(limits)"
                + OptionValue.plainNumberAdvice(parts[1])
        )
    }

    /// Returns the upper bound of limits such as `-327.68...327.67`.
    private static func largest(_ limits: String) -> Double {
        limits.firstRange(of: "...").flatMap { Double(limits[$0.upperBound...]) } ?? 0
    }

    func validate() throws {
        if value.isEmpty { throw ValidationError("Give at least one --value NAME=VALUE.") }
        if counter != nil && !encryption.hasKey { throw ValidationError("--counter goes with --encryption-key-file.") }
    }

    func validateForEncoding() throws {
        guard encryption.hasKey else { return }
        if encryption.deviceAddress == nil || counter == nil {
            throw ValidationError("The encrypted form needs --device-address and --counter.")
        }
    }

    func content() -> Advertisement.Content {
        var source = Advertisement.BTHomeSource(objects: value)
        source.isEncrypted = encryption.hasKey
        return .btHome(source)
    }

    func measuredPowerRule() -> MeasuredPowerRule { .none }

    func liveOptions() throws -> LiveOptions {
        LiveOptions(
            identityKey: try encryption.key(), counter: counter, deviceAddress: encryption.deviceAddress)
    }
}
