import BluetoothTypes
import HCI
import VirtualController

// Two controllers on one air, and a host for each.
let air = VirtualAir()
let beacon = HCIHost(channel: VirtualChannel(.raspberryPi, on: air))
let scanner = HCIHost(channel: VirtualChannel(.intel, on: air))

let interval = AdvertisingInterval(rawValue: 160)  // in units of 0.625 ms: 100 ms
_ = try beacon.execute(
    LESetAdvertisingParameters(
        intervalMinimum: interval, intervalMaximum: interval, type: .nonconnectable, ownAddressType: .publicDevice))
_ = try beacon.execute(LESetAdvertisingData([0x02, 0x01, 0x06]))
_ = try beacon.execute(LESetAdvertisingEnable(true))

_ = try scanner.execute(SetEventMask(.standardAndLE))
let always = ScanInterval(rawValue: 16)  // 10 ms of every 10 ms
_ = try scanner.execute(LESetScanParameters(type: .passive, interval: always, window: always))
_ = try scanner.execute(LESetScanEnable(true))

// Waiting moves the air's clock: ten seconds take no time.
let end = scanner.now.advanced(byMicroseconds: 10_000_000)
var reports = 0
while let event = try scanner.nextEvent(until: end) {
    if case .advertisingReports(let received) = event { reports += received.count }
}
print("\(beacon.now.microseconds(since: HCIInstant(nanoseconds: 0)) / 1_000_000) s on the air, \(reports) reports")
