public import Sightings

/// Whoever takes what a ``SightingSource`` hears, in its order, on the thread that runs the source.
///
/// A recording is told as if it came live: at each packet first ``advance(to:)``, then what was heard.
public protocol SightingConsumer: AnyObject {
    /// When ``advance(to:)`` wants to be called although nothing is heard; `nil` for never. A live source looks four
    /// times a second.
    var nextWakeUp: HeardInstant? { get }
    /// Whether nothing more is wanted: the source ends.
    var isSatisfied: Bool { get }

    /// Somebody listens from now on.
    func begin(at now: HeardInstant)
    /// It is that late: nothing before `now` will be told any more.
    func advance(to now: HeardInstant)
    /// An advertisement, whose data is `range` of `octets`.
    func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>)
    /// How listening is from now on: silence counts only while `Listener/ListeningState/isHearing`.
    func change(_ state: ListeningState, at now: HeardInstant)
    /// Nothing more is there for the moment: time to show what was taken.
    func rest(at now: HeardInstant)
    /// A sentence for whoever watches, of what happens to the adapter or the recording.
    func say(_ sentence: String, isWarning: Bool)
    /// Nothing more comes.
    func finish(at now: HeardInstant)
}

extension SightingConsumer {
    /// Never.
    public var nextWakeUp: HeardInstant? { nil }
    /// Everything is wanted.
    public var isSatisfied: Bool { false }
    /// Nothing is to be done.
    public func begin(at now: HeardInstant) {}
    /// Nothing is to be done.
    public func change(_ state: ListeningState, at now: HeardInstant) {}
    /// Nothing is to be done.
    public func rest(at now: HeardInstant) {}
}
