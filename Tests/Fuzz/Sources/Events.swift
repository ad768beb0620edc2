import BluetoothTypes
import HCI

/// An event is read and written again unchanged, or refused with the position of the fault.
func fuzzEvent(_ octets: [UInt8]) {
    let event: HCIEvent?
    do throws(HCIEventError) {
        let read = try HCIEvent(octets: octets.span)
        check(read.packet == HCIPacket(.event, octets), "an event is written as it was read: \(read)")
        if case .commandComplete(let answer) = read { checkReturnParameters(answer) }
        event = read
    } catch {
        check((0...octets.count).contains(error.offset), "the fault lies inside the event: \(error)")
        event = nil
    }
    let reports = Fuzz.reports(in: octets, octets.indices)
    switch event {
    case .advertisingReports(let all), .extendedAdvertisingReports(let all):
        check(reports == all, "the cursor finds the same reports")
    case .some: check(reports.isEmpty, "other events hold no reports")
    case nil: break
    }
    let shifted = [0x04, 0x3E] + octets + [0xFF]
    check(Fuzz.reports(in: shifted, 2..<2 + octets.count) == reports, "reports do not depend on their surroundings")
}

/// Returns the reports before the first fault, read by the code that copies nothing.
private func reports(in octets: [UInt8], _ range: Range<Int>) -> [AdvertisingReport] {
    let span = octets.span
    var reports: [AdvertisingReport] = []
    do throws(HCIEventError) {
        guard var cursor = try AdvertisingReportCursor(event: span, in: range) else { return [] }
        while let element = try cursor.next(in: span) {
            let report = AdvertisingReport(element, in: span)
            check(report.type.description != "", "every type has a name")
            reports.append(report)
        }
    } catch {
        check((range.lowerBound...range.upperBound).contains(error.offset), "the fault lies inside the event: \(error)")
    }
    return reports
}

/// Return parameters are written as they were read; octets after them are tolerated.
private func checkReturnParameters(_ answer: CommandComplete) {
    func check<C: HCICommand>(_ type: C.Type) {
        guard let value = C.ReturnParameters(octets: answer.returnOctets.span, at: 1) else { return }
        Fuzz.check(
            answer.returnOctets.dropFirst().starts(with: value.octets), "\(C.name) returns what it was given: \(value)")
    }
    if let type = HCICommands.type(answer.opcode) { check(type) }
}
