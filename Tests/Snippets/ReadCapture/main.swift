import BluetoothTypes
import HCI

// The octets of a btsnoop file; this one is made here, and holds one advertising report.
let address = try DeviceAddress(FixedOctets(hexadecimal: "c01122334455"))
let report = AdvertisingReport(
    type: .legacy(3), addressType: .random, address: address, rssi: -60, data: [0x02, 0x01, 0x06])
let event = HCIEvent.advertisingReports([report])
let capture =
    BTSnoopWriter.header + BTSnoopWriter.record(event.packet, isFromController: true, unixMicroseconds: 0)

var records = try BTSnoopCursor(capture.span)
while let record = try records.next(in: capture.span) {
    guard let packet = record.packet(in: capture.span), packet.kind == .event else { continue }
    if case .advertisingReports(let reports) = try HCIEvent(octets: packet.octets.span) {
        for report in reports { print("record \(record.index): \(report.address), \(report.rssi) dBm") }
    }
}
