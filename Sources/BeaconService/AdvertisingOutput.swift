public import Advertiser
public import BluetoothTypes

/// Where a foreground job tells what it does.
public protocol AdvertisingOutput {
    /// What was asked for: the lines of a dry run, each with its end.
    func write(_ text: String)
    /// Something that is not as it was asked for, or that others did, in one sentence.
    func warn(_ sentence: String)
    /// Somebody who is told what happens on the air.
    func view(_ facts: OnAirFacts) -> any AdvertisingView
}

/// What does not change while the beacon is on the air.
public struct OnAirFacts {
    /// The beacon's name.
    public let name: String
    /// The adapter as it was named.
    public let adapter: String
    /// The intervals as somebody asked for them, one for each advertisement.
    public let asked: [RequestedInterval]
}

/// Somebody who is told what happens on the air, by whatever way it is sent.
public protocol AdvertisingView {
    /// How often something is drawn anew, in microseconds; `nil` for never.
    var microsecondsBetweenUpdates: Int? { get }
    /// All advertisements are on the air.
    func onAir(_ session: some KeptSession)
    /// Time has passed.
    ///
    /// - Parameter heard: What a second virtual controller hears of it; `nil` on real adapters.
    func update(_ session: some KeptSession, _ heard: HeardOnAir?)
    /// Nothing is on the air any more, as it was asked for.
    ///
    /// - Parameter heard: What a second virtual controller has heard of it; `nil` on real adapters.
    func offAir(_ session: some KeptSession, _ heard: HeardOnAir?)
}

extension AdvertisingView {
    public var microsecondsBetweenUpdates: Int? { nil }
    public func update(_ session: some KeptSession, _ heard: HeardOnAir?) {}
}
