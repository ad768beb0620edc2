import BeaconFrames
import BluetoothTypes

let url = try EddystoneURL(
    url: CompressedURL("https://example.org/n2"), measuredPower: MeasuredPowerAtZeroMeters(dBm: -18))
let payload = try url.advertisingData()
for note in payload.explained() { print(note) }
