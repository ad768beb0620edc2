public import BeaconFrames
public import BluetoothTypes

extension BeaconProfile {
    /// What is wanted on the air.
    ///
    /// An EID, and encrypted telemetry with the same identity key, begin at the static random address; whoever sends
    /// them turns it over with the id.
    ///
    /// - Parameter staticAddress: Gives the box's static random address for a profile's name: 46 bits of SHA-256 of
    ///   the machine's id and the name.
    /// - Throws: `AdvertisingDataError` for a scan response over 31 octets, which no decoded profile has.
    public func advertisements(
        staticAddress: (_ profileName: String) -> DeviceAddress
    ) throws(AdvertisingDataError) -> [Advertisement] {
        let response = try scanResponse?.data() ?? AdvertisingData(octets: [])
        let ownAddress = staticAddress(name)
        let keysOfEIDs = Set(advertisements.filter { $0.kind == .eddystoneEID }.compactMap(\.rotatingKey))
        return advertisements.map { advertisement in
            let turnsOver = advertisement.rotatingKey.map(keysOfEIDs.contains) ?? false
            let pdu = advertisement.pdu ?? pdu
            let answers = pdu != .nonconnectable && !turnsOver
            let address: Advertisement.AddressRule
            switch turnsOver ? .randomStatic : advertisement.address ?? self.address {
            case .public: address = .public
            case .randomStatic: address = .staticRandom(ownAddress)
            case .explicit(let explicit): address = .staticRandom(explicit)
            }
            return Advertisement(
                content: advertisement.content, interval: advertisement.interval,
                radioPower: advertisement.radioPower ?? radioPower, measuredPower: rule(for: advertisement),
                address: address, channels: advertisement.channels ?? channels, pdu: pdu,
                scanResponse: answers ? response : AdvertisingData(octets: []))
        }
    }

    private func rule(for advertisement: ProfileAdvertisement) -> MeasuredPowerRule {
        switch advertisement.measuredPower {
        case .none: .none
        case .typical: .atOneMeter(Self.typicalMeasuredPower)
        case .atOneMeter(let power): .atOneMeter(power)
        case .atZeroMeters(let power): .atZeroMeters(power)
        case .calibrated: .calibrated(calibration ?? PowerCalibration(points: [], fallback: nil))
        }
    }
}
