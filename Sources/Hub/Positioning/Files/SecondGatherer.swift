internal import BluetoothTypes
public import Listener
public import Sightings

/// One beacon in one second: who it is, and every packet's level.
public struct HeardBeacon: Hashable, Sendable {
    /// What a fleet calls it; `nil` for strangers.
    public let name: BeaconKey?
    /// Its identity; `nil` for ephemeral ids, which change.
    public let identity: BeaconKey?
    /// The same with the address behind it, where that lasts: public or static random.
    public let identityAtAddress: BeaconKey?
    /// Whether the identity comes from several such addresses at once.
    public let isShared: Bool
    /// In dBm, in the order in which the packets came.
    public internal(set) var levels: [Double]

    /// A beacon that was heard under one key, as surveys have it.
    public init(_ key: BeaconKey, levels: [Double]) {
        name = nil
        identity = key
        identityAtAddress = nil
        isShared = false
        self.levels = levels
    }

    init(
        name: BeaconKey?, identity: BeaconKey?, identityAtAddress: BeaconKey?, isShared: Bool, levels: [Double]
    ) {
        self.name = name
        self.identity = identity
        self.identityAtAddress = identityAtAddress
        self.isShared = isShared
        self.levels = levels
    }

    /// What a survey calls it; `nil` where several devices have its identity and nobody knows which one it was.
    public var recordedKey: BeaconKey? { isShared ? identityAtAddress : name ?? identity }

    /// What a map may call it, likeliest first.
    public var keys: [BeaconKey] {
        (isShared ? [identityAtAddress] : [name, identityAtAddress, identity]).compactMap(\.self)
    }
}

/// Gathers sightings into whole seconds.
///
/// Seconds in which nobody could hear are left out: that nothing was heard in them says nothing.
public final class SecondGatherer: SightingConsumer {
    /// Gets each second that has passed: its number from 0, and what was heard in it, by key.
    public var onSecond: (_ second: Int, _ heard: [HeardBeacon]) -> Void = { _, _ in }
    /// Gets sentences for whoever watches.
    public var onSentence: (_ sentence: String, _ isWarning: Bool) -> Void = { _, _ in }
    /// Whether nothing more is wanted.
    public var isEnough: () -> Bool = { false }

    private var table: SightingTable
    /// When the first second began; `nil` before that.
    private(set) var origin: HeardInstant?
    private var second = 0
    private var wasDeaf = false
    private var isDeaf = false
    /// Who sends: one that somebody has named, by its place in the table, or a stranger.
    private enum Source: Hashable {
        case known(Int)
        case stranger(BeaconIdentity)
    }

    /// What is remembered of somebody who sends.
    private struct Remembered {
        let source: Source
        var isShared: Bool
        /// What was heard in this second, by lasting address; `nil` for addresses that change.
        var heard: [(address: DeviceAddress?, levels: [Double])] = []
        /// When each lasting address was heard last, by the number of its packet.
        var addresses: [(address: DeviceAddress, packet: Int, second: Int)] = []
    }

    private var senders: [Remembered] = []
    private var numbers: [Source: Int] = [:]
    /// By the place in the table: the sender that was found there last. Nearly always it is the same again.
    private var numberAtPlace: [Int] = []
    /// Those that were heard in this second.
    private var heard: [Int] = []
    private var names: [Source: BeaconKey] = [:]
    private var packets = 0
    /// What a survey calls them, by address: texts cost more than all else of a packet.
    private var keys: [Source: [DeviceAddress?: BeaconKey]] = [:]
    private var shared: Set<Source> = []
    private let sharedBefore: Set<BeaconKey>
    private let acceptsZero: Bool

    /// An address that was silent for more seconds than this has been given up.
    static let memory = 60
    /// Whoever floods the air with addresses and identities gets no more memory than for so many.
    static let rememberedAddresses = 32
    static let rememberedSources = 20_000
    /// Of a longer silence in a recording the seconds are not told one by one.
    static let longestSilence = 600

    /// - Parameters:
    ///   - known: Who has a name.
    ///   - clock: Of the source.
    ///   - isOnlyKnown: Whether strangers are left out.
    ///   - shared: Identities that are known to come from several devices.
    ///   - acceptsZero: Whether a level of 0 dBm is one. Many receivers mean "unknown" by it.
    public init(
        _ known: KnownBeacons, _ clock: HearingClock, isOnlyKnown: Bool = false, shared: Set<BeaconKey> = [],
        acceptsZero: Bool = false
    ) {
        table = known.table(
            clock, strangers: isOnlyKnown ? .counted : .kept(SightingTable.defaultStrangers))
        sharedBefore = shared
        self.acceptsZero = acceptsZero
    }

    public var isSatisfied: Bool { isEnough() }

    public var nextWakeUp: HeardInstant? {
        origin.map { $0.advanced(byMicroseconds: (second + 1) * 1_000_000) }
    }

    public func begin(at now: HeardInstant) { origin = origin ?? now }

    public func advance(to now: HeardInstant) {
        guard let origin else { return begin(at: now) }
        let current = now.microseconds(since: origin) / 1_000_000
        if current - second > Self.longestSilence {
            flush()
            second = current
        }
        while second < current, !isEnough() { flush() }
    }

    public func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        hear(report.sighting, octets, range)
    }

    /// Takes an advertisement, whose data is `range` of `octets`.
    ///
    /// - Parameter name: What somebody else has called its beacon already.
    func hear(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>, name: String? = nil) {
        begin(at: sighting.instant)
        guard let place = table.hear(sighting, octets, range), !sighting.isScanResponse else { return }
        guard
            let source = place < table.knownCount ? .known(place) : table.tracks[place].identity.map(Source.stranger)
        else { return }
        if let name, let key = BeaconKey(name) { names[source] = key }
        let number = number(of: source, at: place)
        let address = sighting.sender.flatMap { Self.lasts($0) ? $0.address : nil }
        if let address, !senders[number].isShared { note(number, address) }
        guard let rssi = sighting.rssi, let level = ReceivedLevel.level(Double(rssi), acceptsZero: acceptsZero)
        else { return }
        if senders[number].heard.isEmpty { heard.append(number) }
        if let index = senders[number].heard.firstIndex(where: { $0.address == address }) {
            senders[number].heard[index].levels.append(level)
        } else {
            senders[number].heard.append((address, [level]))
        }
    }

    private func number(of source: Source, at place: Int) -> Int {
        while numberAtPlace.count <= place { numberAtPlace.append(-1) }
        let last = numberAtPlace[place]
        if last >= 0, senders[last].source == source { return last }
        let number = numbers[source] ?? senders.count
        if number == senders.count {
            senders.append(Remembered(source: source, isShared: shared.contains(source)))
            numbers[source] = number
        }
        numberAtPlace[place] = number
        return number
    }

    private func identity(of source: Source) -> BeaconIdentity? {
        switch source {
        case .known(let place): table.tracks[place].known?.identity
        case .stranger(let identity): identity
        }
    }

    private static func lasts(_ sender: Sender) -> Bool {
        !sender.isRandom || sender.address.randomKind == .staticDevice
    }

    /// An identity is that of several devices where one address is heard, then another one, then the first again.
    private func note(_ number: Int, _ address: DeviceAddress) {
        guard let identity = identity(of: senders[number].source) else { return }
        packets += 1
        guard let index = senders[number].addresses.firstIndex(where: { $0.address == address }) else {
            if senders[number].addresses.count >= Self.rememberedAddresses { senders[number].addresses = [] }
            senders[number].addresses.append((address, packets, second))
            return
        }
        let last = senders[number].addresses[index]
        senders[number].addresses[index] = (address, packets, second)
        guard senders[number].addresses.count > 1, second - last.second <= Self.memory,
            senders[number].addresses.contains(where: { $0.address != address && $0.packet > last.packet })
        else { return }
        shared.insert(senders[number].source)
        senders[number].isShared = true
        senders[number].addresses = []
        onSentence("\(BeaconKey(identity)) is sent by several devices at once: they are told apart by address", true)
    }

    public func change(_ state: ListeningState, at now: HeardInstant) {
        // Another program's scan is heard too, perhaps with fewer packets.
        isDeaf = !state.isHearing && state != .foreign
        wasDeaf = wasDeaf || isDeaf
    }

    public func say(_ sentence: String, isWarning: Bool) { onSentence(sentence, isWarning) }

    public func finish(at now: HeardInstant) {
        advance(to: now)
        // Of the last second there is a part only.
        if !heard.isEmpty, !isEnough() { flush() }
    }

    private func flush() {
        defer {
            forget()
            second += 1
            wasDeaf = isDeaf
        }
        guard !wasDeaf else { return }
        onSecond(second, beacons())
    }

    private func forget() {
        for number in heard { senders[number].heard.removeAll(keepingCapacity: true) }
        heard.removeAll(keepingCapacity: true)
        guard senders.count >= Self.rememberedSources else { return }
        (senders, numbers, numberAtPlace) = ([], [:], [])
    }

    private func beacons() -> [HeardBeacon] {
        var found: [HeardBeacon] = []
        for number in heard {
            let (source, byAddress) = (senders[number].source, senders[number].heard)
            let identity = identity(of: source).flatMap { key(of: source, $0, byAddress.map(\.address)) }
            var name = names[source]
            if case .known(let place) = source { name = table.tracks[place].known.flatMap { BeaconKey($0.name) } }
            let isShared = senders[number].isShared || identity.map { sharedBefore.contains($0) } ?? false
            let several =
                byAddress.count == 1
                ? byAddress
                : byAddress.sorted { $0.address?.description ?? "" < $1.address?.description ?? "" }
            if !isShared, several.count > 1 {
                found.append(
                    HeardBeacon(
                        name: name, identity: identity, identityAtAddress: nil, isShared: false,
                        levels: several.flatMap(\.levels)))
                continue
            }
            for (address, levels) in several {
                let whole = identity == nil ? nil : address.flatMap { key(of: source, from: $0) }
                found.append(
                    HeardBeacon(
                        name: name, identity: identity, identityAtAddress: whole, isShared: isShared, levels: levels))
            }
        }
        return Self.merged(found.filter { !$0.keys.isEmpty })
    }

    /// What a survey may call it: no id and no address that changes.
    private func key(
        of source: Source, _ identity: BeaconIdentity, _ addresses: [DeviceAddress?]
    ) -> BeaconKey? {
        switch identity {
        case .eddystoneEID: nil
        case .address: addresses.contains(nil) ? nil : key(of: source, from: nil)
        default: key(of: source, from: nil)
        }
    }

    /// With the address behind the identity where there is one.
    private func key(of source: Source, from address: DeviceAddress?) -> BeaconKey? {
        if let known = keys[source]?[address] { return known }
        guard let identity = identity(of: source) else { return nil }
        if keys.count >= Self.rememberedSources { keys.removeAll() }
        if keys[source].map({ $0.count >= Self.rememberedAddresses }) ?? false { keys[source] = nil }
        let key = BeaconKey(identity, from: address)
        keys[source, default: [:]][address] = key
        return key
    }

    /// One box has one name, whatever it sends; in the order of the keys.
    private static func merged(_ found: [HeardBeacon]) -> [HeardBeacon] {
        var result: [HeardBeacon] = []
        let keys = found.map { $0.keys[0] }
        for index in found.indices.sorted(by: { keys[$0] < keys[$1] }) {
            let beacon = found[index]
            if let last = result.last, let name = beacon.name, last.name == name, !beacon.isShared, !last.isShared {
                result[result.count - 1].levels += beacon.levels
            } else {
                result.append(beacon)
            }
        }
        return result
    }
}
