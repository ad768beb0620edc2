internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import EddystoneSecurity

struct UIDOptions: FrameOptions {
    static let frameName = "uid"
    static let title = "an Eddystone-UID frame: namespace and instance"

    @Option(
        help: ArgumentHelp("Namespace, 20 hexadecimal digits.", valueName: "hex"), transform: OptionValue.namespace)
    var namespace: FixedOctets<10>?

    @Option(help: ArgumentHelp("Derive the namespace from a domain name (SHA-1).", valueName: "domain"))
    var namespaceFromDomain: String?

    @Option(
        help: ArgumentHelp("Derive the namespace from a UUID (without its bytes 5...10).", valueName: "uuid"),
        transform: OptionValue.uuid)
    var namespaceFromUuid: FixedOctets<16>?

    @Option(help: ArgumentHelp("Instance, 12 hexadecimal digits.", valueName: "hex"), transform: OptionValue.instance)
    var instance: FixedOctets<6>

    @OptionGroup var power: ZeroMeterPowerOptions

    func validate() throws {
        _ = try chosenNamespace()
    }

    private func chosenNamespace() throws -> FixedOctets<10> {
        switch (namespace, namespaceFromDomain, namespaceFromUuid) {
        case (let octets?, nil, nil): return octets
        case (nil, let domain?, nil):
            do { return try EddystoneUID.namespace(fromDomain: domain) } catch { throw ValidationError("\(error).") }
        case (nil, nil, let uuid?):
            do { return try EddystoneUID.namespace(fromUUID: uuid) } catch { throw ValidationError("\(error).") }
        case (nil, nil, nil):
            throw ValidationError(
                "Give the namespace: --namespace, --namespace-from-domain or --namespace-from-uuid.")
        default:
            throw ValidationError(
                "Give only one of --namespace, --namespace-from-domain and --namespace-from-uuid.")
        }
    }

    func content() throws -> Advertisement.Content {
        .eddystoneUID(namespace: try chosenNamespace(), instance: instance)
    }

    func measuredPowerRule() -> MeasuredPowerRule { power.rule }
    var hasTypicalPower: Bool { power.isTypical }
}

struct URLOptions: FrameOptions {
    static let frameName = "url"
    static let title = "an Eddystone-URL frame: a compressed web address"

    @Option(
        help: ArgumentHelp(
            "Web address. After compression, at most 17 bytes may follow its scheme.", valueName: "url"),
        transform: URLOptions.compress)
    var url: CompressedURL

    @OptionGroup var power: ZeroMeterPowerOptions

    private static func compress(_ text: String) throws -> CompressedURL {
        do { return try CompressedURL(text) } catch { throw Mistake("\(error)") }
    }

    func content() -> Advertisement.Content { .eddystoneURL(url) }
    func measuredPowerRule() -> MeasuredPowerRule { power.rule }
    var hasTypicalPower: Bool { power.isTypical }
}

/// The options for ephemeral ids (EID) and encrypted telemetry: identity key, rotation and time.
struct RotationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File with the identity key: 32 hexadecimal digits, readable by its owner only.", valueName: "file"),
        completion: .file())
    var identityKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "The identity key itself. Every user of this machine can see it while the command runs: prefer "
                + "--identity-key-file.",
            valueName: "hex"), transform: OptionValue.key)
    var identityKey: FixedOctets<16>?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("K, 0...15: the id changes every 2^K seconds.", valueName: "k"),
        transform: OptionValue.rotationExponent)
    var rotationExponent: UInt8?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds on the beacon's clock, which starts at 65280 in a new beacon.", valueName: "seconds"),
        transform: { UInt32(try OptionValue.seconds($0, in: 0...Int(UInt32.max))) })
    var timeS: UInt32?

    /// True if the command line has a key.
    var hasKey: Bool { identityKey != nil || identityKeyFile != nil }

    func validate() throws {
        if identityKey != nil && identityKeyFile != nil {
            throw ValidationError("Give --identity-key-file or --identity-key, not both.")
        }
    }

    /// The key, read from its file if necessary; `nil` if the command line has none.
    func key() throws -> IdentityKey? {
        if let identityKeyFile { return try KeyFile.read(identityKeyFile) }
        return identityKey.map { IdentityKey($0) }
    }

    var rotatingKey: Advertisement.RotatingKey? {
        rotationExponent.map {
            Advertisement.RotatingKey(identityKeyFile: identityKeyFile, rotationExponent: $0)
        }
    }
}

struct TLMOptions: FrameOptions {
    static let frameName = "tlm"
    static let title = "an Eddystone-TLM frame: telemetry, encrypted if an identity key is given"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Battery voltage, 1...65535; unknown when left out.", valueName: "mV"),
        transform: OptionValue.uint16)
    var batteryMv: UInt16?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Temperature; unknown when left out.", valueName: "celsius"),
        transform: TLMOptions.temperature)
    var temperatureC: FixedPointTemperature?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Advertising events since power-on (ADV_CNT).", valueName: "count"),
        transform: OptionValue.uint32)
    var advertisements: UInt32 = 0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds since power-on, to a tenth (SEC_CNT), such as 3600 or 1h.", valueName: "seconds"),
        transform: TLMOptions.deciseconds)
    var uptimeS: UInt32 = 0

    @OptionGroup var rotation: RotationOptions

    @Option(
        help: ArgumentHelp("Salt of the encrypted form, 4 hexadecimal digits.", valueName: "hex"),
        transform: OptionValue.salt)
    var salt: UInt16?

    private static func temperature(_ text: String) throws -> FixedPointTemperature {
        guard let value = Double(text) else {
            throw Mistake("it is not a temperature in °C" + OptionValue.plainNumberAdvice(text))
        }
        do { return try FixedPointTemperature(celsius: value) } catch { throw Mistake("\(error)") }
    }

    private static func deciseconds(_ text: String) throws -> UInt32 {
        let (number, unit) = OptionValue.timeSpan(text)
        guard let thousandths = DecimalText.thousandths(number) else {
            throw Mistake(
                "write a number of seconds such as 60, or with a unit: 60s, 1.5 min, 2 h"
                    + OptionValue.plainNumberAdvice(text))
        }
        let (microseconds, isTooLong) = thousandths.multipliedReportingOverflow(by: unit)
        guard !isTooLong, microseconds >= 0, let value = UInt32(exactly: (microseconds + 50_000) / 100_000) else {
            throw Mistake("it is out of range 0...429496729.5 s")
        }
        return value
    }

    func validate() throws {
        guard rotation.hasKey else {
            if rotation.rotationExponent != nil || rotation.timeS != nil || salt != nil {
                throw ValidationError("--rotation-exponent, --time-s and --salt go with --identity-key-file.")
            }
            return
        }
        if rotation.rotationExponent == nil {
            throw ValidationError("The encrypted form needs --rotation-exponent.")
        }
    }

    func validateForEncoding() throws {
        guard rotation.hasKey else { return }
        if rotation.timeS == nil || salt == nil {
            throw ValidationError("The encrypted form needs --time-s and --salt.")
        }
    }

    func content() -> Advertisement.Content {
        let source = Advertisement.TelemetrySource(
            battery: batteryMv.map { .fixed($0) } ?? .unknown, temperature: temperatureC.map { .fixed($0) } ?? .unknown)
        return .eddystoneTLM(source, encryption: rotation.hasKey ? rotation.rotatingKey : nil)
    }

    func measuredPowerRule() -> MeasuredPowerRule { .none }

    func liveOptions() throws -> LiveOptions {
        LiveOptions(
            identityKey: try rotation.key(), eidTime: rotation.timeS, salt: salt, advertisements: advertisements,
            uptimeDeciseconds: uptimeS)
    }
}

struct EIDOptions: FrameOptions {
    static let frameName = "eid"
    static let title = "an Eddystone-EID frame: an id that only owners of the key can resolve"

    @OptionGroup var rotation: RotationOptions
    @OptionGroup var power: ZeroMeterPowerOptions

    func validate() throws {
        if !rotation.hasKey { throw ValidationError("An ephemeral id needs --identity-key-file.") }
        if rotation.rotationExponent == nil { throw ValidationError("An ephemeral id needs --rotation-exponent.") }
    }

    func validateForEncoding() throws {
        if rotation.timeS == nil { throw ValidationError("An ephemeral id needs --time-s.") }
    }

    func content() throws -> Advertisement.Content {
        guard let key = rotation.rotatingKey else {
            throw ValidationError("An ephemeral id needs --rotation-exponent.")
        }
        return .eddystoneEID(key)
    }

    func measuredPowerRule() -> MeasuredPowerRule { power.rule }
    var hasTypicalPower: Bool { power.isTypical }

    func liveOptions() throws -> LiveOptions {
        LiveOptions(identityKey: try rotation.key(), eidTime: rotation.timeS)
    }
}
