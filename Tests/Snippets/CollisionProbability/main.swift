import Airtime

// 250 beacons with 31 octets at 100 ms: 376 µs on the air.
let airtime = try PacketTiming.airtimeMicroseconds(payloadOctets: 31)
let model = try CollisionModel(beacons: 250, intervalMicroseconds: 100_000, airtimeMicroseconds: airtime)
let percent = (model.collisionFreeProbability * 1000).rounded() / 10
print("\(percent) % of the packets arrive")
