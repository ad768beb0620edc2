import BeaconFrames
import BluetoothTypes
import Testing

/// The octets, and all problems that are expected, with their offsets.
private struct Case: Sendable {
    let octets: String
    let problems: [(LintRule, Int)]

    init(_ octets: String, _ problems: (LintRule, Int)...) {
        self.octets = octets
        self.problems = problems
    }
}

private let list = "0303aafe"

private let cases: [Case] = [
    Case("020106" + "1dff4c00" + String(repeating: "00", count: 26), (.dataTooLong, 31)),
    Case("020106" + "05ff4c00", (.truncatedStructure, 3)),
    Case("020106" + "0000ff00", (.nonzeroAfterTermination, 5)),
    Case("020106" + "0000"),
    Case("0101", (.flagsLength, 0)),
    Case("03010600", (.flagsLength, 0)),
    Case("020106" + "020106", (.flagsDuplicated, 3)),
    Case("020126", (.flagsReservedBits, 2)),
    Case("020107", (.flagsBothDiscoverableModes, 2)),
    Case("03094e64" + "02084e", (.dataTypeDuplicated, 4)),
    Case("03190002" + "03190002", (.dataTypeDuplicated, 4)),
    Case("0403aafe00", (.uuidListLength, 0)),
    Case("0405aafe00", (.uuidListLength, 0)),
    Case("0407aafe00", (.uuidListLength, 0)),
    Case("0309c3a4" + "020aec"),
    Case("0309c3c3", (.localNameEncoding, 2)),
    Case("030a0400", (.txPowerLevelLength, 0)),
    Case("020a80", (.txPowerLevelRange, 2)),
    Case("021900", (.appearanceLength, 0)),
    Case("0216aa", (.serviceDataLength, 0)),
    Case("0420aafe00", (.serviceDataLength, 0)),
    Case("0421aafe00", (.serviceDataLength, 0)),
    Case("02ff4c", (.manufacturerDataLength, 0)),
    Case("04ff4c0002", (.iBeaconLength, 0)),
    Case("1aff4c000216f7826da64fa24e988024bc5b71e0893e00aa00bbb3", (.iBeaconLength, 5)),
    Case("19ff4c000215f7826da64fa24e988024bc5b71e0893e00aa00bb", (.iBeaconLength, 0)),
    Case("1aff4c000215f7826da64fa24e988024bc5b71e0893e00aa00bb05", (.measuredPowerRange, 26)),
    Case("06ff4c0010020b"),
    Case("05ff1801beac", (.altBeaconLength, 0)),
    Case("1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa6000100027f09", (.measuredPowerRange, 26)),
    Case("0d16aafe30eea9b76a71c5f89290", (.eddystoneUUIDListMissing, 0)),
    Case("03030f18" + "0d16aafe30eea9b76a71c5f89290", (.eddystoneUUIDListMissing, 4)),
    Case("0302aafe" + "0d16aafe30eea9b76a71c5f89290", (.eddystoneUUIDListIncomplete, 0)),
    Case("05030f18aafe" + "0d16aafe30eea9b76a71c5f89290"),
    Case(list + "0316aafe", (.eddystoneFrameEmpty, 4)),
    Case(list + "0416aafe50", (.eddystoneFrameType, 8)),
    Case(list + "0d16aafe33eea9b76a71c5f89290", (.eddystoneFrameTypeLowBits, 8)),
    Case(list + "1516aafe00e312345678901234678901000000000001", (.eddystoneUIDLength, 4)),
    Case(list + "1416aafe00e3123456789012346789010000000000", (.eddystoneUIDLength, 4)),
    Case(
        list + "1716aafe00e3123456789012346789010000000000010102", (.eddystoneUIDReserved, 26),
        (.eddystoneUIDReserved, 27)),
    Case(list + "1716aafe0015123456789012346789010000000000010000", (.measuredPowerRange, 9)),
    Case(list + "0516aafe10f8", (.eddystoneURLLength, 4)),
    Case(list + "0616aafe10f803", (.eddystoneURLEmpty, 11)),
    Case(list + "0716aafe10f80461", (.eddystoneURLScheme, 10)),
    Case(list + "0916aafe10f803610e7f", (.eddystoneURLReservedCode, 12), (.eddystoneURLReservedCode, 13)),
    Case(list + "1816aafe10ee036162636465666768696a6b6c6d6e6f707172", (.eddystoneURLLength, 28)),
    Case(list + "0416aafe20", (.eddystoneTLMLength, 4)),
    Case(list + "1116aafe20020c6f1e000002006d41db9ab6", (.eddystoneTLMVersion, 9)),
    Case(list + "1016aafe200c6f1e000002006d41db9ab600", (.eddystoneTLMVersion, 9)),
    Case(list + "1016aafe20000c6f1e000002006d41db9a", (.eddystoneTLMLength, 4)),
    Case(list + "1116aafe20010c6f1e000002006d41db9ab6", (.eddystoneTLMLength, 4)),
    Case(list + "0c16aafe30eea9b76a71c5f892", (.eddystoneEIDLength, 4)),
    Case(list + "0d16aafe30eba9b76a71c5f89290" + "0716aafe10f80361", (.eddystoneEIDMixed, 18)),
    Case("0a16d2fc4002c40903bf13"),
    Case("0a16d2fc4402c40903bf13"),
    Case("0316d2fc", (.btHomeLength, 0)),
    Case("0416d2fc40", (.btHomeLength, 0)),
    Case("0616d2fc200161", (.btHomeInformation, 4)),
    Case("0616d2fc4a0161", (.btHomeInformation, 4)),
    Case("0916d2fc410102030405", (.btHomeLength, 0)),
    Case("0c16d2fc410102030405060708", (.btHomeLength, 0)),
    Case("0d16d2fc41000102030405060708"),
    Case("0716d2fc40016102", (.btHomeLength, 7)),
    Case("0816d2fc40016102c4", (.btHomeLength, 7)),
    Case("0816d2fc40530541c3", (.btHomeLength, 5)),
    Case("0616d2fc405300", (.btHomeLength, 5)),
    Case("0a16d2fc40016130070800", (.btHomeObject, 7)),
    Case("0a16d2fc4003bf1302c409", (.btHomeOrder, 8)),
    Case("0816d2fc4009010902"),
    Case("0616d2fc400f02", (.btHomeValue, 6)),
    Case("0716d2fc405301c3", (.btHomeValue, 7)),
    Case(
        list + "0d16aafe30eba9b76a71c5f89290" + "1516aafe2001d5d89979ae79ebee4e385fa5f6830efb", (.dataTooLong, 31)),
]

@Test(arguments: cases.indices)
func brokenRuleIsReportedWithItsOffset(index: Int) {
    let problems = AdvertisingData(octets: octetRow(cases[index].octets)).lint()
    #expect(problems.map(\.rule) == cases[index].problems.map(\.0), "\(cases[index].octets)")
    #expect(problems.map(\.offset) == cases[index].problems.map(\.1), "\(cases[index].octets)")
}

@Test func everyRuleHasATestCaseAndASource() {
    let covered = Set(cases.flatMap { $0.problems.map(\.0) })
    // The bytes of the data cannot break a rule about their command.
    #expect(LintRule.allCases.filter { !covered.contains($0) } == [.hciCommandLength])
    for rule in LintRule.allCases { #expect(!rule.source.isEmpty) }
}

@Test func extendedAdvertisementsHaveALargerLimit() {
    let data = AdvertisingData(octets: [UInt8](repeating: 0, count: 40))
    #expect(data.lint().map(\.rule) == [.dataTooLong])
    #expect(data.lint(in: .extendedPDU) == [])
}

@Test func aProblemIsOneSentenceWithItsSource() {
    let problem = AdvertisingData(octets: octetRow("020107")).lint().first
    #expect(
        problem?.description
            == "byte 2: limited and general discoverable mode are both set, but only one is allowed "
            + "(Core Specification 5.4, Vol 3 Part C 9.2)")
}
