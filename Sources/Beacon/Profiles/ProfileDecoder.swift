internal import BeaconFrames
package import BluetoothTypes
public import Configuration

extension BeaconProfile {
    /// Reads a profile file.
    ///
    /// - Parameter expectedName: The name of the file; `nil` if it has none. If the profile has another name, the
    ///   problems contain a warning, because state files, status files and units have the profile's name.
    /// - Returns: The profile (`nil` if the file has an error), and every problem in the order of the file.
    public static func decode(
        _ octets: [UInt8], expectedName: String? = nil
    ) -> (profile: BeaconProfile?, problems: [FileProblem]) {
        let (profile, problems) = ConfigurationDecoder.decode(octets) { decoder, node in
            let profile = decoder.profile(node)
            if let expectedName, let name = profile?.name, name != expectedName, let place = node["name"] {
                decoder.warning(
                    "the profile's name is \(ProblemText.quoted(name)) and the file's is "
                        + "\(ProblemText.quoted(expectedName)): status, state and logs use the profile's name; give "
                        + "both the same name", at: place)
            }
            return profile
        }
        return (profile, problems)
    }
}

/// The values of the whole profile, which apply to advertisements that have no values of their own.
private struct ProfileSettings {
    let root: JSONNode
    let radioPower: RadioPower?
    /// The calibration without its invalid entries.
    let calibration: PowerCalibration?
    let pdu: AdvertisingPDU
    let channels: AdvertisingChannels
}

extension ConfigurationDecoder {
    fileprivate mutating func profile(_ node: JSONNode) -> BeaconProfile? {
        guard expect(.beaconProfile, node), let root = open(ProfileFormat.section, node) else { return nil }
        let schema = read(FileHeader.schema, in: root)
        _ = read(FileHeader.version, in: root)
        let name = read(ProfileFormat.name, in: root)
        // The profile keeps the adapter's name as it is written in the file, so that it is printed unchanged.
        let adapter = read(ProfileFormat.adapter, in: root).flatMap { _ in root["adapter"]?.string }
        let address = read(ProfileFormat.address, in: root)
        let radioPower = read(ProfileFormat.radioPower, in: root)
        let channels = read(ProfileFormat.channels, in: root)
        let calibration = read(ProfileFormat.calibration, in: root)
        let scanResponse = root["scanResponse"].flatMap { self.scanResponse($0, radioPower: radioPower) }
        let pdu = read(ProfileFormat.pdu, in: root)
        let eidEpoch = read(ProfileFormat.eidEpoch, in: root)
        let settings = ProfileSettings(
            root: root, radioPower: radioPower, calibration: calibration,
            pdu: pdu ?? (root["scanResponse"] == nil ? .nonconnectable : .scannable),
            channels: channels ?? .all)
        let nodes = read(ProfileFormat.advertisements, in: root) ?? []
        let advertisements = nodes.map { advertisement($0, settings) }
        checkTogether(advertisements, settings)
        guard let name, let address, let channels else { return nil }
        return BeaconProfile(
            schema: schema, name: name, adapter: adapter, address: address, radioPower: radioPower,
            calibration: calibration, channels: channels, pdu: pdu, eidEpoch: eidEpoch,
            advertisements: advertisements.compactMap { $0 }, scanResponse: scanResponse)
    }

    /// Reads the name of an adapter, such as `hci0`.
    package mutating func adapter(_ node: JSONNode?) -> AdapterName? {
        node.flatMap { ValueType<AdapterName>.adapter.read(&self, $0) }
    }

    private mutating func scanResponse(
        _ node: JSONNode, radioPower: RadioPower?
    ) -> BeaconProfile.ScanResponse? {
        guard let object = open(ScanResponseKeys.section, node) else { return nil }
        let localName = read(ScanResponseKeys.localName, in: object)
        let structures = read(ScanResponseKeys.structures, in: object)
        checkTransmitPower(structures ?? [], in: object, radioPower: radioPower)
        if let index = structures?.firstIndex(where: { $0.type == .flags }) {
            error(
                "flags are allowed only in the advertisement, not in its scan response",
                at: object["structures"]?[index] ?? object)
        }
        guard object["localName"] == nil || localName != nil, object["structures"] == nil || structures != nil else {
            return nil
        }
        let response = BeaconProfile.ScanResponse(localName: localName, structures: structures ?? [])
        do throws(AdvertisingDataError) {
            _ = try response.data()
            return response
        } catch {
            let index = error.structure - (localName == nil ? 0 : 1)
            let place = index < 0 ? object["localName"] : object["structures"]?[index]
            self.error(error.description, at: place ?? object)
            return nil
        }
    }
}

// MARK: Advertisements

extension ConfigurationDecoder {
    /// Reads an element of `advertisements`; returns `nil` if it has an error.
    private mutating func advertisement(_ node: JSONNode, _ settings: ProfileSettings) -> ProfileAdvertisement? {
        guard case .object = node.value else {
            wrongKind(node, expected: "an object")
            return nil
        }
        guard let kind = word(required("type", in: node, "the frame to send"), of: FrameKind.self) else {
            checkWithoutType(node, settings)
            return nil
        }
        return advertisement(node, of: kind, settings)
    }

    /// Reports the other problems of an advertisement whose type is missing or wrong. If the type looks like a
    /// misspelled one, the advertisement is checked as that type. Otherwise only the keys of all types are checked.
    private mutating func checkWithoutType(_ node: JSONNode, _ settings: ProfileSettings) {
        let probableName = node["type"]?.string.flatMap {
            NearestWord.find($0, among: FrameKind.allCases.map(\.rawValue))
        }
        if let kind = probableName.flatMap(FrameKind.init) {
            _ = advertisement(node, of: kind, settings)
        } else if let object = open(AdvertisementFormat.sectionOfAnyKind, node) {
            _ = read(AdvertisementFormat.interval, in: object)
            _ = read(AdvertisementFormat.pattern, in: object)
            _ = read(AdvertisementFormat.radioPower, in: object)
            _ = read(AdvertisementFormat.channels, in: object)
            _ = read(AdvertisementFormat.pdu, in: object)
            _ = read(AdvertisementFormat.phy, in: object)
            _ = read(AdvertisementFormat.address, in: object)
        }
    }

    private mutating func advertisement(
        _ node: JSONNode, of kind: FrameKind, _ settings: ProfileSettings
    ) -> ProfileAdvertisement? {
        guard let object = open(AdvertisementFormat.section(of: kind), node) else { return nil }
        let phy = read(AdvertisementFormat.phy, in: object)
        let content = content(object, kind, isExtended: object["phy"] != nil)
        let requested = read(AdvertisementFormat.interval, in: object)
        let pattern = read(AdvertisementFormat.pattern, in: object)
        let radioPower = read(AdvertisementFormat.radioPower, in: object)
        let channels = read(AdvertisementFormat.channels, in: object)
        let pdu = read(AdvertisementFormat.pdu, in: object)
        let address = read(AdvertisementFormat.address, in: object)
        let measuredPower = measuredPower(object, kind)
        if phy != nil, settings.root["scanResponse"] != nil, pdu == nil,
            settings.pdu == .scannable
        {
            error(
                "the profile's scan response makes this advertisement scannable, and a scannable extended advertisement has "
                    + "no data of its own: add \"pdu\": \"nonconnectable\" here, or remove the scan response",
                at: object["phy"] ?? object)
            return nil
        }
        if measuredPower == .calibrated {
            checkCalibration(object, kind, radioPower: radioPower ?? settings.radioPower, settings)
        }
        if case .raw(let data) = content {
            checkTransmitPower(data.structures, in: object, radioPower: radioPower ?? settings.radioPower)
        }
        if let pattern { checkPattern(pattern, pdu: pdu ?? settings.pdu, phy: phy, in: object["pattern"] ?? object) }
        let constant = requested.flatMap(AdvertisingInterval.init(microseconds:))
        if let constant, phy == nil {
            checkInterval(constant, pdu: pdu ?? settings.pdu, at: object["intervalMs"] ?? object)
        }
        guard let content, let interval = pattern?.meanInterval ?? constant else { return nil }
        let result = ProfileAdvertisement(
            content: content, interval: interval, requestedMicroseconds: requested, pattern: pattern,
            measuredPower: measuredPower ?? .none, radioPower: radioPower, address: address, channels: channels,
            pdu: pdu, phy: phy)
        return checkPHY(result, object, settings) ? result : nil
    }

    private mutating func content(
        _ object: JSONNode, _ kind: FrameKind, isExtended: Bool
    ) -> Advertisement.Content? {
        switch kind {
        case .iBeacon:
            let uuid = read(IBeaconKeys.uuid, in: object)
            let (major, minor) = (read(IBeaconKeys.major, in: object), read(IBeaconKeys.minor, in: object))
            let flags = read(IBeaconKeys.flags, in: object)
            guard let uuid, let major, let minor, let flags else { return nil }
            return .iBeacon(uuid: uuid, major: major, minor: minor, flags: flags)
        case .altBeacon:
            let (company, id) = (read(AltBeaconKeys.companyID, in: object), read(AltBeaconKeys.id, in: object))
            let (reserved, flags) = (read(AltBeaconKeys.reserved, in: object), read(IBeaconKeys.flags, in: object))
            guard let company, let id, let reserved, let flags else { return nil }
            return .altBeacon(companyID: company, beaconID: id, reserved: reserved, flags: flags)
        case .eddystoneUID:
            let namespace = read(EddystoneKeys.namespace, in: object)
            let instance = read(EddystoneKeys.instance, in: object)
            guard let namespace, let instance else { return nil }
            return .eddystoneUID(namespace: namespace, instance: instance)
        case .eddystoneURL: return read(EddystoneKeys.url, in: object).map { .eddystoneURL($0) }
        case .eddystoneTLM: return telemetry(object)
        case .eddystoneEID: return rotatingKey(object).map { .eddystoneEID($0) }
        case .btHome: return btHome(object)
        case .raw: return raw(object, isExtended: isExtended)
        }
    }

    private mutating func telemetry(_ object: JSONNode) -> Advertisement.Content? {
        let battery = read(TelemetryKeys.battery, in: object) ?? nil
        let temperature = read(TelemetryKeys.temperature, in: object) ?? nil
        let source = Advertisement.TelemetrySource(
            battery: battery.map { .sensor($0) } ?? .unknown,
            temperature: temperature.map { .sensor($0) } ?? .unknown)
        guard let isEncrypted = read(TelemetryKeys.encrypted, in: object) else { return nil }
        guard isEncrypted else { return .eddystoneTLM(source, encryption: nil) }
        return rotatingKey(object).map { .eddystoneTLM(source, encryption: $0) }
    }

    private mutating func rotatingKey(_ object: JSONNode) -> Advertisement.RotatingKey? {
        let file = read(EddystoneKeys.identityKeyFile, in: object)
        let exponent = read(EddystoneKeys.rotationExponent, in: object)
        guard let file, let exponent else { return nil }
        return .init(identityKeyFile: file, rotationExponent: UInt8(truncatingIfNeeded: exponent))
    }

    private mutating func btHome(_ object: JSONNode) -> Advertisement.Content? {
        var source = Advertisement.BTHomeSource()
        source.hasPacketID = true
        if object[BTHomeKeys.values.name] != nil {
            guard let values = read(BTHomeKeys.values, in: object) else { return nil }
            source.objects = values.objects
            source.measurements = values.measurements
        }
        let kindsInValues = source.objects.map(\.kind) + source.measurements.map(\.kind)
        /// Returns true if an object in `values` replaces the default of `key`. If the profile contains the key itself,
        /// the result is false, and both values are sent.
        func isReplaced(_ key: String, by name: String, unit: String) -> Bool {
            object[key] == nil && kindsInValues.contains { $0.name == name && $0.unit == unit }
        }
        let temperature = read(BTHomeKeys.temperature, in: object) ?? nil
        source.temperature = isReplaced("temperature", by: "temperature", unit: "°C") ? nil : temperature
        let battery = read(BTHomeKeys.battery, in: object) ?? nil
        source.battery = isReplaced("battery", by: "battery", unit: "%") ? nil : battery
        let voltage = read(BTHomeKeys.voltage, in: object) ?? nil
        source.voltage = isReplaced("voltage", by: "voltage", unit: "V") ? nil : voltage
        let countsAdvertisements = read(BTHomeKeys.advertisements, in: object) ?? true
        source.countsAdvertisements = countsAdvertisements && !isReplaced("advertisements", by: "count", unit: "")
        source.countsUptime = read(BTHomeKeys.uptime, in: object) ?? false
        source.keyFile = read(BTHomeKeys.encryptionKeyFile, in: object)
        source.isEncrypted = object["encryptionKeyFile"] != nil
        if source.isEncrypted, source.keyFile == nil { return nil }
        let content = Advertisement.Content.btHome(source)
        do throws(PayloadError) {
            _ = try content.payload(measuredPower: .none, content.sampleValues(0))
        } catch {
            self.error("with all values, \(error); omit a value, such as \"advertisements\": false", at: object)
            return nil
        }
        guard source.hasValues || !source.objects.isEmpty else {
            self.error("there is no value to send: remove a key that is null or false", at: object)
            return nil
        }
        return content
    }

    private mutating func raw(_ object: JSONNode, isExtended: Bool) -> Advertisement.Content? {
        guard let structures = read(StructureFormat.requiredStructures, in: object) else { return nil }
        do throws(AdvertisingDataError) {
            return .raw(
                try AdvertisingData(
                    structures, limit: isExtended ? AdvertisingData.extendedLimit : AdvertisingData.legacyLimit))
        } catch {
            var advice = ""
            if !isExtended, case .tooLong = error.reason {
                advice = ", or send it as an extended advertisement: \"phy\": \"1M\""
            }
            self.error(error.description + advice, at: object["structures"]?[error.structure] ?? object)
            return nil
        }
    }

    private mutating func measuredPower(
        _ object: JSONNode, _ kind: FrameKind
    ) -> ProfileAdvertisement.MeasuredPower? {
        guard let keys = MeasuredPowerKeys.of(kind) else { return ProfileAdvertisement.MeasuredPower.none }
        if object[keys.sentByte.name] != nil { return read(keys.sentByte, in: object) }
        if object[keys.atOneMeter.name] != nil { return read(keys.atOneMeter, in: object) }
        return .calibrated
    }
}

// MARK: Checks that no schema can state

extension ConfigurationDecoder {
    /// Reports an error if the calibration gives no measured power for the advertisement.
    private mutating func checkCalibration(
        _ object: JSONNode, _ kind: FrameKind, radioPower: RadioPower?, _ settings: ProfileSettings
    ) {
        guard let node = settings.root["calibration"] else {
            let key = kind.isEddystone ? "measuredPower1mDbm" : "measuredPowerDbm"
            let typical = MeasuredPowerKeys.typical(atOneMeter: !kind.isEddystone)
            error(
                "the measured power is missing: measure the mean signal strength of this beacon at 1 m, and give it "
                    + "here as \"\(key)\" or for all advertisements in \"calibration\"; without a measurement, "
                    + "\"measuredPowerDbm\": \"typical\" sends the usual value, \(typical)", at: object)
            return
        }
        guard let calibration = settings.calibration else { return }
        if kind.isEddystone { checkEddystoneSum(calibration, at: node) }
        guard let radioPower else { return }
        do throws(MeasuredPowerError) {
            _ = try calibration.measuredPower(for: radioPower)
        } catch {
            guard case .outsideCalibration = error else { return }
            let place = object["radioPowerDbm"] ?? settings.root["radioPowerDbm"] ?? object
            // If the calibration has a default, the profile works on a controller that does not report its power, so a
            // warning is enough.
            if calibration.fallback == nil {
                self.error(error.description, at: place)
            } else {
                warning(error.description, at: place)
            }
        }
    }

    /// Reports an extended advertisement that the specification does not allow. Returns true if it is allowed.
    private mutating func checkPHY(
        _ advertisement: ProfileAdvertisement, _ object: JSONNode, _ settings: ProfileSettings
    ) -> Bool {
        guard advertisement.phy != nil else { return true }
        let completeAdvertisement = Advertisement(
            content: advertisement.content, interval: advertisement.interval, pattern: advertisement.pattern,
            measuredPower: .atOneMeter(BeaconProfile.typicalMeasuredPower), address: .public,
            channels: advertisement.channels ?? settings.channels, pdu: advertisement.pdu ?? settings.pdu,
            phy: advertisement.phy)
        // If the frame cannot be built at all, the problem has already been reported.
        guard let octets = try? completeAdvertisement.payloadOctetCount(),
            let fault = completeAdvertisement.extendedFault(octets: octets)
        else { return true }
        error(fault, at: object["phy"] ?? object)
        return false
    }

    /// Reports measured powers that are too high for Eddystone. Eddystone sends the value for 0 m, which is 41 dB more
    /// than the value for 1 m in the calibration, and at most 20 dBm.
    private mutating func checkEddystoneSum(_ calibration: PowerCalibration, at node: JSONNode) {
        let limit = MeasuredPowerAtZeroMeters.range.upperBound - MeasuredPowerAtZeroMeters.stepToOneMeter
        guard !isFull, let members = node.members else { return }
        for member in members {
            guard let dBm = member.value.integer, dBm > limit, dBm <= 0 else { continue }
            // The calibration was already checked for an earlier advertisement, and the problems are reported only
            // once.
            if problems.contains(where: { $0.path == member.value.path }) { return }
            error("\(dBm) dBm at 1 m is more than the \(limit) dBm that Eddystone can send", at: member.value)
        }
    }

    /// Warns of a TX Power Level structure that differs from the radio power. The structure does not change the radio
    /// power, but receivers use it to compute the path loss.
    private mutating func checkTransmitPower(
        _ structures: [ADStructure], in object: JSONNode, radioPower: RadioPower?
    ) {
        for (index, structure) in structures.enumerated() {
            let data = AdvertisingData(octets: [2, structure.type.rawValue] + structure.data)
            guard structure.data.count == 1, let power = data.transmitPowers.first,
                power != radioPower.map({ Int($0.dBm) })
            else { continue }
            let difference =
                radioPower.map { "the radio power is \($0); give both the same value" }
                ?? "no radio power is set; add \"radioPowerDbm\": \(power), or remove this structure"
            warning("the TX Power field is \(power) dBm, and \(difference)", at: object["structures"]?[index] ?? object)
        }
    }

    /// Warns of intervals that controllers before Bluetooth 5.0 refuse.
    mutating func checkInterval(_ interval: AdvertisingInterval, pdu: AdvertisingPDU, at node: JSONNode) {
        if pdu != .connectable, interval < .nonconnectableMinimumBefore5 {
            warning(
                "\(interval) is refused by controllers before Bluetooth 5.0, where \(pdu.rawValue) advertising "
                    + "needs \(AdvertisingInterval.nonconnectableMinimumBefore5) or more", at: node)
        }
    }

    /// Warns of intervals that are too long for controllers without extended advertising. With such a controller, all
    /// advertisements are sent in turn at one shorter interval, so only the sum of the events per second counts.
    private mutating func checkLongIntervals(_ advertisements: [ProfileAdvertisement?], in root: JSONNode) {
        let limit = AdvertisingInterval.legacyRange.upperBound
        let validAdvertisements = advertisements.compactMap(\.self)
        guard validAdvertisements.count == advertisements.count,
            validAdvertisements.allSatisfy({ $0.interval > limit && $0.pattern == nil && $0.phy == nil }),
            let node = root["advertisements"]?[0]
        else { return }
        let eventsPerSecond = validAdvertisements.reduce(0.0) {
            $0 + 1_000_000 / Double($1.interval.meanPeriodMicroseconds)
        }
        guard eventsPerSecond * Double(limit.meanPeriodMicroseconds) < 1_000_000 else { return }
        let count = validAdvertisements.count
        let subject = count == 1 ? "\(validAdvertisements[0].interval) is" : "these \(count) intervals together are"
        warning(
            "\(subject) refused by controllers without extended advertising, whose longest interval is \(limit)",
            at: node["intervalMs"] ?? node)
    }

    /// Checks the rules that concern several parts of a profile.
    private mutating func checkTogether(_ advertisements: [ProfileAdvertisement?], _ settings: ProfileSettings) {
        let root = settings.root
        if let scanResponse = root["scanResponse"] {
            for (index, advertisement) in advertisements.enumerated() where advertisement?.kind == .eddystoneEID {
                error(
                    "a scan response may not be combined with the EID of advertisements[\(index)], because its "
                        + "constant data would identify the beacon; remove the scan response or the EID",
                    at: scanResponse)
            }
            let isScanResponseSent = advertisements.contains {
                $0 == nil || $0?.pdu ?? settings.pdu != .nonconnectable && $0?.phy == nil
            }
            if !isScanResponseSent, !advertisements.isEmpty {
                error(
                    "the scan response is never sent, because all advertisements are nonconnectable or extended; make "
                        + "\"pdu\" scannable or remove the scan response", at: root["pdu"] ?? scanResponse)
            }
        }
        if let epoch = root["eidEpoch"], !advertisements.contains(where: { $0 == nil || $0?.rotatingKey != nil }) {
            warning("this has no effect, because there is no EID and no encrypted telemetry", at: epoch)
        }
        if let node = root["calibration"], node["default"] == nil,
            advertisements.contains(where: { $0?.measuredPower == .calibrated })
        {
            warning(
                "there is no \"default\" for controllers that do not report their radio power; with such a "
                    + "controller, a beacon with this profile cannot start", at: node)
        }
        for (index, advertisement) in advertisements.enumerated() {
            guard case .btHome(let source) = advertisement?.content, source.isEncrypted,
                let object = root["advertisements"]?[index], let address = object["address"] ?? root["address"],
                address.string == "public"
            else { continue }
            error(
                "encrypted BTHome needs the device address before the start, but the public address is not known then: "
                    + "use random-static or a static random address", at: address)
        }
        checkKeys(advertisements, in: root)
        checkLongIntervals(advertisements, in: root)
        checkSets(advertisements, in: root)
    }

    /// Checks that all advertisements with one identity key have the same rotation exponent. Also checks that telemetry
    /// with the key of an EID has no address of its own, because it is sent from the address of the EID.
    private mutating func checkKeys(_ advertisements: [ProfileAdvertisement?], in root: JSONNode) {
        var exponents: [String?: (index: Int, exponent: UInt8)] = [:]
        let keysOfEIDs = Set(
            advertisements.compactMap { $0?.kind == .eddystoneEID ? $0?.rotatingKey?.identityKeyFile : nil })
        for (index, advertisement) in advertisements.enumerated() {
            guard let advertisement, let key = advertisement.rotatingKey, let file = key.identityKeyFile,
                let object = root["advertisements"]?[index]
            else { continue }
            if let firstUse = exponents[file] {
                if firstUse.exponent != key.rotationExponent {
                    error(
                        "advertisements[\(firstUse.index)] uses this identity key with the rotation exponent "
                            + "\(firstUse.exponent); all advertisements with one key need the same exponent",
                        at: object["rotationExponent"] ?? object)
                }
            } else {
                exponents[file] = (index, key.rotationExponent)
            }
            if advertisement.kind == .eddystoneTLM, let address = object["address"], keysOfEIDs.contains(file) {
                error(
                    "this telemetry is sent from the address of its EID, which changes with the id: remove the address",
                    at: address)
            }
        }
    }
}
