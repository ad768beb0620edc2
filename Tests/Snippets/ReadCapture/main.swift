import BluetoothTypes
import HCI

// The bytes of a btsnoop, pcap or pcapng file; this example makes one with one advertising report.
let address = try DeviceAddress(FixedOctets(hexadecimal: "c01122334455"))
let report = AdvertisingReport(
    type: .legacy(3), addressType: .random, address: address, rssi: -60,
    data: AdvertisingData(octets: [0x02, 0x01, 0x06]))
let event = HCIEvent.advertisingReports([report])
let octets =
    BTSnoopWriter.header + BTSnoopWriter.record(event.packet, isFromController: true, unixMicroseconds: 0)

let capture = try Capture(octets)
for record in capture {
    guard case .hci(let packet) = record.content, packet.kind == .event else { continue }
    if case .advertisingReports(let reports) = try HCIEvent(octets: packet.octets.span) {
        for report in reports {
            let strength = report.rssi.map { "\($0) dBm" } ?? "strength unknown"
            print("record \(record.index): \(report.address), \(strength)")
        }
    }
}
if let fault = capture.fault { print("the capture ends here: \(fault)") }
