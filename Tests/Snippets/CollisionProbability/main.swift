import Airtime
import BluetoothTypes

// 250 beacons with 31 octets at 100 ms: 376 µs on the air.
let airtime = try PacketTiming.airtimeMicroseconds(payloadOctets: 31)
let interval = AdvertisingInterval(rawValue: 160)  // of 0.625 ms
let model = try CollisionModel(beacons: 250, interval: interval, airtimeMicroseconds: airtime)
let percent = (model.collisionFreeProbability * 1000).rounded() / 10
print("\(percent) % of the packets arrive")
