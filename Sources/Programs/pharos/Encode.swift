internal import ArgumentParser
internal import BeaconFrames
internal import BluetoothTypes
internal import CommandSupport
internal import EddystoneSecurity
internal import LinuxHost
internal import Listener

struct Encode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode", abstract: "Build a payload and print its bytes.",
        subcommands: [
            EncodeFrame<IBeaconOptions>.self, EncodeFrame<AltBeaconOptions>.self, EncodeFrame<UIDOptions>.self,
            EncodeFrame<URLOptions>.self, EncodeFrame<TLMOptions>.self, EncodeFrame<EIDOptions>.self,
            EncodeFrame<BTHomeOptions>.self, EncodeFrame<RawOptions>.self,
        ])
}

struct EncodeFrame<Frame: FrameOptions>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: Frame.frameName, abstract: "Encode \(Frame.title).")
    }

    @OptionGroup var frame: Frame

    @Option(help: "Output format: hex, json, hcitool, c or swift.")
    var format: PayloadFormat = .hex

    @Flag(help: "Explain each byte.")
    var explain = false

    func validate() throws {
        try frame.validateForEncoding()
        if explain && format != .hex {
            throw ValidationError("--explain needs --format hex: its table is not meant for programs.")
        }
    }

    func run() throws {
        let data = try frame.payload()
        let text: String
        do {
            text = try format.text(data)
        } catch {
            throw Failure(.usage, "\(error)")
        }
        Terminal.write(text + "\n" + (explain ? "\n" + PayloadDescription.table(of: data) : ""))
    }
}

extension FrameOptions {
    /// The octets that the options describe.
    func payload() throws -> AdvertisingData {
        let content = try content()
        do {
            return try content.payload(measuredPower: measuredPowerRule(), liveOptions().values(for: content))
        } catch let error as PayloadError {
            throw Failure(.usage, "\(error)")
        } catch let error as EddystoneSecurityError {
            throw Failure(.usage, "\(error)")
        }
    }
}

extension LiveOptions {
    /// What the payload of one moment needs beside its content.
    fileprivate func values(for content: Advertisement.Content) throws -> Advertisement.LiveValues {
        switch content {
        case .eddystoneTLM(let source, let encryption):
            let telemetry = source.telemetry(
                sensorBattery: nil, sensorTemperature: nil, advertisements: advertisements,
                uptimeDeciseconds: uptimeDeciseconds)
            guard let encryption else { return .init(telemetry: telemetry) }
            guard let salt, let (key, exponent, time) = rotation(encryption) else { return .init() }
            return .init(
                encryptedTelemetry: try key.seal(telemetry, at: time, exponent: exponent, salt: salt))
        case .eddystoneEID(let rotating):
            guard let (key, exponent, time) = rotation(rotating) else { return .init() }
            return .init(ephemeralID: try key.ephemeralID(at: time, exponent: exponent))
        case .btHome(let source):
            let packet: BTHome
            do throws(BeaconFrameError) { packet = try BTHome(source.objects) } catch {
                throw PayloadError.frame(error)
            }
            guard source.isEncrypted else { return .init(btHome: packet) }
            guard let identityKey, let deviceAddress, let counter else { return .init() }
            return .init(btHome: try identityKey.seal(packet, from: deviceAddress, counter: counter))
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw: return .init()
        }
    }

    /// `nil` where the options do not give all of it, which is an error of its own for the payload.
    private func rotation(_ key: Advertisement.RotatingKey) -> (IdentityKey, RotationExponent, UInt32)? {
        guard let identityKey, let eidTime, let exponent = RotationExponent(rawValue: key.rotationExponent) else {
            return nil
        }
        return (identityKey, exponent, eidTime)
    }
}
