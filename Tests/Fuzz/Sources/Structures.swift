import BeaconFrames
import BluetoothTypes

/// Any octets can be split into structures, with one note for each octet and the problems inside them; nothing is lost.
func fuzzStructures(_ octets: [UInt8]) {
    let data = AdvertisingData(octets: octets)
    let structures = data.structures

    let notes = data.explained()
    check(notes.map(\.octet) == octets, "one note explains one octet")
    check(notes.map(\.offset) == Array(octets.indices), "notes stand in the order of the octets")
    check(notes.allSatisfy { !$0.field.isEmpty && !$0.meaning.isEmpty }, "no note is empty")

    let problems = data.lint()
    check(problems.map(\.offset) == problems.map(\.offset).sorted(), "problems stand in the order of the octets")
    check(problems.allSatisfy { (0...octets.count).contains($0.offset) }, "a problem lies inside the octets")
    check(problems.allSatisfy { !$0.message.isEmpty && !$0.source.isEmpty }, "no problem is empty")
    let others = problems.filter { $0.rule != .dataTooLong }
    let unlimited = data.lint(in: .extendedChain).filter { $0.rule != .dataTooLong }
    check(unlimited == others, "the limit has no influence on other rules")
    check((problems.count > others.count) == (octets.count > AdvertisingData.legacyLimit), "31 octets are the limit")

    do throws(AdvertisingDataError) {
        let again = try AdvertisingData(structures, limit: .max)
        check(again.octets + data.remainder == octets, "structures and remainder are all there is")
    } catch {
        check(false, "what was read can be written: \(error)")
    }
    if problems.isEmpty {
        check(data.remainder.allSatisfy { $0 == 0 }, "nothing but zeros is left of good octets")
        check((try? AdvertisingData(structures)) != nil, "good octets pass the strict door")
    }
}
