internal import BeaconFrames
package import BluetoothTypes
public import Configuration

extension BeaconProfile {
    /// Reads a profile file.
    ///
    /// - Parameter expectedName: The file's own name: a profile with another one gets a warning, because state, status
    ///   and units are named after the profile. `nil` where the file has no such name.
    /// - Returns: the profile, `nil` when there is an error, and every problem in the order of the file.
    public static func decode(
        _ octets: [UInt8], expectedName: String? = nil
    ) -> (profile: BeaconProfile?, problems: [FileProblem]) {
        let (root, faults) = JSONDocument.parse(octets)
        let result = root.map { decode($0) }
        var problems = faults + (result?.problems ?? [])
        if let expectedName, let name = result?.profile?.name, name != expectedName, let node = root?["name"] {
            problems.append(
                FileProblem(
                    "the profile is called \(ProblemText.quoted(name)) and the file \(ProblemText.quoted(expectedName)): "
                        + "status, state and logs go by the profile's name; give both the same one",
                    at: node.position, path: node.path, severity: .warning))
        }
        let hasErrors = problems.contains { $0.severity == .error }
        return (hasErrors ? nil : result?.profile, problems.sorted { $0.position < $1.position })
    }

    /// Reads a profile that stands somewhere in a JSON tree.
    ///
    /// - Returns: the profile, `nil` when there is an error, and every problem in the order of the file.
    public static func decode(_ root: JSONNode) -> (profile: BeaconProfile?, problems: [FileProblem]) {
        var decoder = ConfigurationDecoder()
        let profile = decoder.profile(root)
        let hasErrors = decoder.problems.contains { $0.severity == .error }
        return (hasErrors ? nil : profile, decoder.problems.sorted { $0.position < $1.position })
    }

    /// Every key of a profile, in the order in which it is printed.
    static let keys = [
        "$schema", "version", "name", "adapter", "address", "radioPowerDbm", "channels", "pdu", "calibration",
        "eidEpoch", "advertisements", "scanResponse",
    ]
}

extension ConfigurationDecoder {
    fileprivate mutating func profile(_ node: JSONNode) -> BeaconProfile? {
        guard expect(.beaconProfile, node) else { return nil }
        guard let root = object(node, keys: BeaconProfile.keys, hint: { KeyHint.profile($0) }) else { return nil }
        let schema = text(root["$schema"])
        version(required("version", in: root, "\(BeaconProfile.version) for this format"))
        let name = name(required("name", in: root, "what this beacon is called, such as \"lobby-north\""))
        // As it is written: a profile is printed as it was read.
        let adapter = adapter(root["adapter"]).flatMap { _ in root["adapter"]?.string }
        let address = address(root["address"])
        let radioPower = radioPower(root["radioPowerDbm"])
        let channels = channels(root["channels"])
        let calibration = calibration(root["calibration"])
        let scanResponse = scanResponse(root["scanResponse"])
        let pdu = word(root["pdu"], of: AdvertisingPDU.self)
        let eidEpoch = time(root["eidEpoch"])
        let context = AdvertisementContext(
            root: root, radioPower: radioPower, calibration: calibration,
            pdu: pdu ?? (root["scanResponse"] == nil ? .nonconnectable : .scannable))
        let nodes = list(required("advertisements", in: root, "what to send"), of: "advertisements")
        let advertisements = nodes?.map { advertisement($0, context) } ?? []
        checkTogether(advertisements, in: root, pdu: context.pdu)
        guard let name else { return nil }
        return BeaconProfile(
            schema: schema, name: name, adapter: adapter, address: address ?? .randomStatic, radioPower: radioPower,
            calibration: calibration, channels: channels ?? .all, pdu: pdu, eidEpoch: eidEpoch,
            advertisements: advertisements.compactMap { $0 }, scanResponse: scanResponse)
    }

    /// The name of an adapter, such as `hci0`.
    package mutating func adapter(_ node: JSONNode?) -> AdapterName? {
        guard let node, let text = text(node) else { return nil }
        do throws(AdapterNameError) {
            return try AdapterName(text)
        } catch {
            self.error("\(ProblemText.quoted(text)) \(error.fault)", at: node)
            return nil
        }
    }

    mutating func address(_ node: JSONNode?) -> ProfileAddress? {
        guard let node, let text = text(node) else { return nil }
        if text == "public" { return .public }
        if text == "random-static" { return .randomStatic }
        guard text.utf8.count == 17, text.utf8.enumerated().allSatisfy({ ($0 % 3 == 2) == ($1 == UInt8(ascii: ":")) }),
            let address = DeviceAddress(text)
        else {
            error(
                "\(ProblemText.quoted(text)) is no address: public, random-static, or one such as "
                    + "\"F0:01:02:03:04:05\"",
                at: node)
            return nil
        }
        guard address.randomKind == .staticDevice else {
            error(
                "\(address) is no static random address: its two top bits must be 11, so the first byte is C0...FF",
                at: node)
            return nil
        }
        guard address.isValidStaticRandom else {
            error("\(address) is reserved: below the two top bits neither all bits may be 0 nor all 1", at: node)
            return nil
        }
        return .explicit(address)
    }

    package mutating func radioPower(_ node: JSONNode?) -> RadioPower? {
        integer(node, in: RadioPower.range, unit: "dBm").flatMap { try? RadioPower(dBm: $0) }
    }

    mutating func channels(_ node: JSONNode?) -> AdvertisingChannels? {
        guard let elements = list(node, of: "channels") else { return nil }
        var numbers: [Int] = []
        for element in elements {
            guard let number = integer(element, in: 37...39) else { continue }
            if numbers.contains(number) { error("channel \(number) stands in the list twice", at: element) }
            numbers.append(number)
        }
        return AdvertisingChannels(numbers: numbers)
    }

    /// One key for each radio power, the default, and the receiver.
    private static let calibrationLimit = RadioPower.range.count + 2

    private mutating func calibration(_ node: JSONNode?) -> PowerCalibration? {
        guard let node else { return nil }
        guard case .object(let members) = node.value else {
            wrongKind(node, expected: "an object from radio powers to measured powers, such as { \"0\": -59 },")
            return nil
        }
        guard !members.isEmpty else {
            error("the calibration is empty; give the signal strength at 1 m, such as { \"0\": -59 }", at: node)
            return nil
        }
        guard members.count <= Self.calibrationLimit else {
            error(
                "\(members.count) keys are more than there are radio powers, "
                    + "\(RadioPower.range.lowerBound)...\(RadioPower.range.upperBound) dBm", at: node)
            return nil
        }
        var points: [PowerCalibration.Point] = []
        var fallback: MeasuredPowerAtOneMeter?
        var receiver: String?
        for member in members {
            if member.key == "receiver" {
                receiver = text(member.value)
                continue
            }
            let measured = integer(member.value, in: MeasuredPowerAtOneMeter.range, unit: "dBm at 1 m")
                .flatMap { try? MeasuredPowerAtOneMeter(dBm: $0) }
            if member.key == "default" {
                fallback = measured
            } else if let dBm = Int(member.key), String(dBm) == member.key, let power = try? RadioPower(dBm: dBm) {
                if let measured { points.append(.init(radioPower: power, measuredPower: measured)) }
            } else {
                error(
                    "the key \(ProblemText.quoted(member.key)) is neither \"default\", \"receiver\" nor a radio power of "
                        + "\(RadioPower.range.lowerBound)...\(RadioPower.range.upperBound) dBm", at: member)
            }
        }
        return PowerCalibration(points: points, fallback: fallback, receiver: receiver)
    }

    private mutating func time(_ node: JSONNode?) -> RFC3339Time? {
        guard let node, let text = text(node) else { return nil }
        if let time = RFC3339Time(text) { return time }
        error("\(ProblemText.quoted(text)) is no time such as \"2026-03-01T12:00:00Z\" (RFC 3339)", at: node)
        return nil
    }
}

/// What to say about keys that other tools have, or that belong elsewhere.
enum KeyHint {
    static func profile(_ key: String) -> String? {
        if let hint = common(key) { return hint }
        if key != "type", AdvertisementKind.allCases.contains(where: { $0.keys.contains(key) }) {
            return "it belongs in one of the advertisements"
        }
        return nil
    }

    static func advertisement(_ key: String, in kind: AdvertisementKind) -> String? {
        if let hint = common(key) { return hint }
        if kind == .eddystoneEID, key == "address" {
            return "an EID has its own address, which turns over with the id"
        }
        if kind == .eddystoneTLM || kind == .btHome, key.hasPrefix("measuredPower") {
            return "\(kind == .btHome ? "BTHome" : "telemetry") carries no measured power"
        }
        if kind == .raw, key.hasPrefix("measuredPower") {
            return "raw structures carry their bytes themselves"
        }
        if key == "eidEpoch" { return "it belongs to the profile itself, since all ids are made from one counter" }
        let others = AdvertisementKind.allCases.filter { $0.keys.contains(key) }
        if others.isEmpty { return BeaconProfile.keys.contains(key) ? "it belongs to the profile itself" : nil }
        return "it belongs to \(others.map(\.rawValue).joined(separator: ", ")), not to \(kind.rawValue)"
    }

    private static func common(_ key: String) -> String? {
        switch key.lowercased().filter({ $0 != "-" && $0 != "_" }) {
        case "txpower", "txpowerdbm", "power", "powerdbm":
            "\"radioPowerDbm\" is what the radio sends with, \"measuredPowerDbm\" what the frame says of it"
        case "rssi", "rssi1m", "rssiat1m": "the signal strength at 1 m is \"measuredPower1mDbm\""
        default: nil
        }
    }
}
