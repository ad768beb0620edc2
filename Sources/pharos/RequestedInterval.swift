internal import BluetoothTypes

/// An interval as somebody asked for it, and the nearest one that exists: controllers count in 0.625 ms.
struct RequestedInterval {
    let interval: AdvertisingInterval
    /// What was asked for.
    let microseconds: Int

    init(_ interval: AdvertisingInterval, microseconds: Int) {
        self.interval = interval
        self.microseconds = microseconds
    }

    init(_ interval: AdvertisingInterval) {
        self.init(interval, microseconds: interval.microseconds)
    }

    /// The digits of what was asked for, in milliseconds.
    var milliseconds: String { DecimalText.thousandths(microseconds) }
}
