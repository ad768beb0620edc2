import BeaconFrames
internal import BluetoothTypes
import Configuration

/// What no schema can say.
extension ConfigurationDecoder {
    /// Whether the calibration will give this advertisement its measured power.
    mutating func checkCalibration(
        _ object: JSONNode, _ kind: AdvertisementKind, radioPower: RadioPower?, _ context: AdvertisementContext
    ) {
        guard let node = context.root["calibration"] else {
            let key = kind.isEddystone ? "measuredPower1mDbm" : "measuredPowerDbm"
            error(
                "the measured power is missing: with the radio at its power, average the signal strength that a "
                    + "receiver shows at 1 m, and give it here as \"\(key)\" or for all in \"calibration\"; "
                    + "\"measuredPowerDbm\": \"typical\" sends an unmeasured "
                    + "\(BeaconProfile.typicalMeasuredPower)", at: object)
            return
        }
        guard let calibration = context.calibration else { return }
        if kind.isEddystone { checkEddystoneSum(calibration, at: node) }
        guard let radioPower else { return }
        do throws(MeasuredPowerError) {
            _ = try calibration.measuredPower(for: radioPower)
        } catch {
            guard case .outsideCalibration = error else { return }
            let place = object["radioPowerDbm"] ?? context.root["radioPowerDbm"] ?? object
            // The default may still help where the controller does not tell its power.
            if calibration.fallback == nil {
                self.error(error.description, at: place)
            } else {
                warning(error.description, at: place)
            }
        }
    }

    /// Eddystone sends 41 dB more than stands in the calibration, and at most 20 dBm.
    private mutating func checkEddystoneSum(_ calibration: PowerCalibration, at node: JSONNode) {
        let limit = MeasuredPowerAtZeroMeters.range.upperBound - MeasuredPowerAtZeroMeters.stepToOneMeter
        guard !isFull, case .object(let members) = node.value else { return }
        for member in members {
            guard case .number(let number) = member.value.value, let dBm = number.integer, dBm > limit, dBm <= 0
            else { continue }
            // An advertisement before this one has said so, and of the others too.
            if problems.contains(where: { $0.path == member.value.path }) { return }
            error("\(dBm) dBm at 1 m is more than Eddystone can send, \(limit) dBm", at: member.value)
        }
    }

    /// What some controllers refuse is a warning here: nobody has asked the controller yet.
    mutating func checkInterval(_ interval: AdvertisingInterval, pdu: AdvertisingPDU, at node: JSONNode) {
        if pdu != .connectable, interval < .nonconnectableMinimumBefore5 {
            warning(
                "\(interval) is refused by controllers before Bluetooth 5.0, where \(pdu.rawValue) advertising "
                    + "needs \(AdvertisingInterval.nonconnectableMinimumBefore5) or more", at: node)
        }
        if interval > AdvertisingInterval.legacyRange.upperBound {
            warning(
                "\(interval) is refused by controllers without extended advertising, which end at "
                    + "\(AdvertisingInterval.legacyRange.upperBound)", at: node)
        }
    }

    /// What concerns several parts of a profile at once.
    mutating func checkTogether(
        _ advertisements: [ProfileAdvertisement?], in root: JSONNode, pdu: AdvertisingPDU
    ) {
        if let scanResponse = root["scanResponse"] {
            for (index, advertisement) in advertisements.enumerated() where advertisement?.kind == .eddystoneEID {
                error(
                    "a scan response never goes with the EID of advertisements[\(index)]: what stays the same would "
                        + "undo the id that changes; take one of the two out", at: scanResponse)
            }
            let asked = advertisements.allSatisfy { ($0?.pdu ?? pdu) == .nonconnectable }
            if asked, !advertisements.isEmpty, !advertisements.contains(nil) {
                error(
                    "nobody can ask for a scan response, since everything is nonconnectable; make \"pdu\" scannable or "
                        + "take the scan response out", at: root["pdu"] ?? scanResponse)
            }
        }
        if let epoch = root["eidEpoch"], !advertisements.contains(where: { $0 == nil || $0?.rotatingKey != nil }) {
            warning("there is neither an EID nor encrypted telemetry, so this has no effect", at: epoch)
        }
        if let node = root["calibration"], node["default"] == nil,
            advertisements.contains(where: { $0?.measuredPower == .calibrated })
        {
            warning(
                "there is no \"default\" for controllers that do not tell their radio power; with those, this profile "
                    + "cannot start", at: node)
        }
        for (index, advertisement) in advertisements.enumerated() {
            guard case .btHome(let source) = advertisement?.content, source.isEncrypted,
                let object = root["advertisements"]?[index], let address = object["address"] ?? root["address"],
                address.string == "public"
            else { continue }
            error(
                "encrypted BTHome is made with the device address, which is not known before the start where it is "
                    + "public: take random-static or an address that stays", at: address)
        }
        checkKeys(advertisements, in: root)
    }

    /// Advertisements with the same identity key turn over together, and those of an EID are sent from its address.
    private mutating func checkKeys(_ advertisements: [ProfileAdvertisement?], in root: JSONNode) {
        var exponents: [String?: (index: Int, exponent: UInt8)] = [:]
        var owners: Set<String?> = []
        for case let advertisement? in advertisements where advertisement.kind == .eddystoneEID {
            if let key = advertisement.rotatingKey { owners.insert(key.identityKeyFile) }
        }
        for (index, advertisement) in advertisements.enumerated() {
            guard let advertisement, let key = advertisement.rotatingKey,
                let object = root["advertisements"]?[index]
            else { continue }
            if let first = exponents[key.identityKeyFile] {
                if first.exponent != key.rotationExponent {
                    error(
                        "advertisements[\(first.index)] has the same identity key with the rotation exponent "
                            + "\(first.exponent); one key has one", at: object["rotationExponent"] ?? object)
                }
            } else {
                exponents[key.identityKeyFile] = (index, key.rotationExponent)
            }
            if advertisement.kind == .eddystoneTLM, let address = object["address"],
                owners.contains(key.identityKeyFile)
            {
                error("this telemetry is sent from the address of its EID, which turns over with the id", at: address)
            }
        }
    }
}
