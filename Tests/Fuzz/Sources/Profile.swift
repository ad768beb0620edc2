import BeaconFrames
import BluetoothTypes
import Configuration
import Profiles

/// Any file gives a profile or the reason for its refusal. A profile can be printed, read again and advertised.
func fuzzProfile(_ octets: [UInt8]) {
    checkJSON(octets)
    let (profile, problems) = BeaconProfile.decode(octets)
    check(
        (profile != nil) == problems.allSatisfy { $0.severity == .warning }, "there is a profile, or the reason why not"
    )
    check(problems.allSatisfy { $0.line >= 1 && $0.column >= 1 }, "every problem has its place")
    check(problems.allSatisfy { !$0.message.isEmpty && !$0.description.isEmpty }, "every problem has its words")
    guard let profile else { return }
    for text in [profile.json.pretty, profile.json.line] {
        let again = BeaconProfile.decode(Array(text.utf8))
        check(again.profile == profile, "what is printed means the same: \(text) \(again.problems)")
    }
    checkPayloads(profile)
}

/// Every payload can be encoded, and is valid unless it has raw structures, which are the user's own.
private func checkPayloads(_ profile: BeaconProfile) {
    let address = DeviceAddress.staticRandom(from: FixedOctets(repeating: 0x12))
    let live = Advertisement.LiveValues(
        radioPower: profile.radioPower,
        telemetry: EddystoneTLM(batteryMillivolts: 3000, temperature: nil, advertisements: 1, uptimeDeciseconds: 1),
        encryptedTelemetry: EddystoneEncryptedTLM(encrypted: FixedOctets(), salt: 1, mic: 1),
        ephemeralID: FixedOctets())
    do throws(AdvertisingDataError) {
        for advertisement in try profile.advertisements(staticAddress: { _ in address }) {
            checkPayload(advertisement, live)
            check(advertisement.scanResponse.octets.count <= 31, "a scan response has at most 31 octets")
        }
    } catch {
        check(false, "a profile's scan response fits: \(error)")
    }
}

private func checkPayload(_ advertisement: Advertisement, _ live: Advertisement.LiveValues) {
    var live = live
    if let power = advertisement.radioPower { live.radioPower = power }
    if case .btHome(let source) = advertisement.content {
        do throws(BeaconFrameError) {
            live.btHome = try source.sample()
        } catch {
            check(false, "a profile's values fit in a packet of BTHome: \(error)")
        }
    }
    do throws(PayloadError) {
        let payload = try advertisement.payload(live)
        let limit = advertisement.phy == nil ? AdvertisingData.legacyLimit : AdvertisingData.extendedLimit
        check(payload.octets.count <= limit, "a payload fits in its PDUs")
        if case .raw = advertisement.content { return }
        let rules = payload.lint().map(\.rule)
        // The user chooses the value of the flags.
        check(
            rules.allSatisfy { $0 == .flagsReservedBits || $0 == .flagsBothDiscoverableModes },
            "a payload keeps to the rules: \(payload) \(rules)")
    } catch .measuredPower {
        check(live.radioPower == nil, "where the radio power is known, so is the measured power")
    } catch {
        check(false, "a profile's payload can be made: \(error)")
    }
}

/// JSON without a fault keeps its meaning when it is printed.
private func checkJSON(_ octets: [UInt8]) {
    let (root, problems) = JSONDocument.parse(octets)
    check(root != nil || !problems.isEmpty, "there is a value, or the reason why not")
    check(problems.map(\.position) == problems.map(\.position).sorted(), "problems stand in the order of the text")
    guard problems.isEmpty, let value = root.map({ JSONValue($0) }) else { return }
    for text in [value.pretty, value.line] {
        let again = JSONDocument.parse(Array(text.utf8))
        check(again.problems.isEmpty, "what is printed is good JSON: \(again.problems)")
        check(again.root.map { JSONValue($0) } == value, "what is printed means the same")
    }
}
