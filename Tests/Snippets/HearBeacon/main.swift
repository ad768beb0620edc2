import BluetoothTypes
import Sightings

let frame: [UInt8] = [0x02, 0x01, 0x06, 0x09, 0x16, 0xAA, 0xFE, 0x10, 0xE7, 0x03, 0x61, 0x62, 0x07]
var processor = SightingProcessor(table: SightingTable())
let sender = Sender(DeviceAddress(FixedOctets(repeating: 0xC1)), isRandom: true)
let sighting = Sighting(at: HeardInstant(nanoseconds: 0), from: sender, rssi: -71)
if let position = processor.receive(sighting, frame.span, frame.indices) {
    print(processor.table.tracks[position].identity?.description ?? "unknown")
}
