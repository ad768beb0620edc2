internal import Advertiser
internal import ArgumentParser
internal import BeaconFrames
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import EddystoneSecurity
internal import LinuxHost

/// The options for sending a frame: interval, power, PDU, address and channels.
struct RadioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Advertising interval: 100, 152.5, 100ms or 1.28s (default: 100).", valueName: "ms"),
        transform: OptionValue.interval)
    var intervalMs = RequestedInterval(.nonconnectableMinimumBefore5)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Requested radio power, -127...20.", valueName: "dBm"),
        transform: OptionValue.radioPower)
    var radioPowerDbm: RadioPower?

    @Option(
        help: ArgumentHelp("PDU type: nonconnectable, scannable or connectable.", valueName: "type"),
        completion: .list(["nonconnectable", "scannable", "connectable"]), transform: OptionValue.named)
    var pdu: AdvertisingPDU?

    @Option(
        help: ArgumentHelp(
            "Send extended PDUs on this PHY, with up to 1650 bytes: \(OptionValue.phyNames.joined(separator: ", ")) (default: "
                + "legacy PDUs, which every phone receives).", valueName: "phy"),
        completion: .list(OptionValue.phyNames), transform: OptionValue.phy)
    var phy: ExtendedPHY?

    @Option(help: ArgumentHelp("Local name for the scan response.", valueName: "name"))
    var localName: String?

    @Option(
        help: ArgumentHelp(
            "public, random-static (the default) or a static random address (first byte C0...FF).",
            valueName: "address"),
        completion: .list(["public", "random-static"]), transform: AddressChoice.parse)
    var address: AddressChoice?

    @Option(
        help: ArgumentHelp("Advertising channels, such as 37,38,39.", valueName: "list"),
        completion: .list(["37,38,39", "37", "38", "39"]), transform: OptionValue.channels)
    var channels: AdvertisingChannels = .all

    enum AddressChoice {
        case `public`
        case randomStatic
        case explicit(DeviceAddress)

        static func parse(_ text: String) throws -> AddressChoice {
            switch text {
            case "public": return .public
            case "random-static": return .randomStatic
            default:
                guard let address = DeviceAddress(text), address.isValidStaticRandom else {
                    throw Mistake("use public, random-static, or six bytes whose first byte is C0...FF")
                }
                return .explicit(address)
            }
        }
    }

    func advertisement(_ frame: some FrameOptions, name: String) throws -> Advertisement {
        let content = try frame.content()
        if case .eddystoneEID = content, address != nil {
            throw ValidationError(
                "--address cannot be combined with an ephemeral id: the address changes with the id.")
        }
        var response = AdvertisingData(octets: [])
        if let localName {
            if case .eddystoneEID = content {
                throw ValidationError(
                    "--local-name cannot be combined with an ephemeral id: the name would identify the beacon.")
            }
            let (size, limit) = (localName.utf8.count, AdvertisingData.legacyLimit - 2)
            guard size <= limit else {
                throw ValidationError("--local-name: the name has \(size) bytes, at most \(limit) fit.")
            }
            do {
                response = try AdvertisingData([.completeLocalName(localName)])
            } catch {
                throw ValidationError("--local-name: \(error).")
            }
        }
        let chosenPDU = pdu ?? (response.octets.isEmpty ? .nonconnectable : .scannable)
        if chosenPDU == .nonconnectable && localName != nil {
            throw ValidationError("--local-name needs --pdu scannable or connectable.")
        }
        let advertisement = Advertisement(
            content: content, interval: intervalMs.interval, radioPower: radioPowerDbm,
            measuredPower: try frame.measuredPowerRule(), address: addressRule(name: name), channels: channels,
            pdu: chosenPDU,
            phy: phy, scanResponse: response)
        try check(advertisement)
        return advertisement
    }

    /// Throws an error if the PDU cannot hold the data, or if the specification forbids the extended advertisement.
    private func check(_ advertisement: Advertisement) throws {
        guard let octets = try? advertisement.payloadOctetCount() else { return }
        if let fault = advertisement.extendedFault(octets: octets) { throw ValidationError("--phy: \(fault).") }
        if phy == nil { try AdvertisingData.checkLegacy(octets) }
    }

    private func addressRule(name: String) -> Advertisement.AddressRule {
        switch address {
        case .public: .public
        case nil, .randomStatic: .staticRandom(StaticAddress.make(name: name))
        case .explicit(let address): .staticRandom(address)
        }
    }
}

extension AdvertisingData {
    /// Throws an error if a legacy PDU cannot hold this number of bytes.
    static func checkLegacy(_ octets: Int) throws {
        guard octets > legacyLimit else { return }
        throw ValidationError(
            "\(octets) bytes are \(octets - legacyLimit) more than the \(legacyLimit) of a legacy advertisement: shorten them, or "
                + "use extended PDUs: --phy 1M.")
    }
}
