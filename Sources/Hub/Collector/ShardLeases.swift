internal import Configuration
public import Messaging

/// Who of several collectors of a site tells of which part of its beacons: the one with the lowest lease.
///
/// A lease is a retained message of its owner that is renewed each ten seconds; one that is not renewed for thirty is over.
/// Its number is the moment at which the owner began, or came back too late, so that whoever tells goes on telling; of two
/// equal ones the name decides. It has no clock: moments are in milliseconds of a clock that is never set.
public struct ShardLeases: Sendable {
    /// In milliseconds.
    public static let renewal = 10_000
    public static let life = 30_000
    /// So long after connecting all that the broker holds has come.
    public static let patience = 2000
    /// Larger messages are no leases, in octets.
    static let limit = 1024
    /// A lease that the broker held says when it was renewed; the clocks of two machines differ by less than this, in s.
    static let clockSeconds = 60
    /// Owners of one shard that are told from each other.
    static let rivals = 100

    private struct Lease: Sendable {
        var number: Int
        /// When it was renewed last.
        var renewed: Int
        /// By the wall clock.
        var unixMilliseconds: Int
    }

    /// The shards that are wanted.
    public let shards: Set<Int>
    /// Of the leases' topics.
    public let filter: String
    private let root: String
    private let owner: String
    private var number: Int
    /// Of others, by shard and owner.
    private var others: [Int: [String: Lease]] = [:]
    /// When there was somebody else last who told, by the wall clock.
    private var lastSigns: [Int: Int] = [:]
    private var connected: Int?
    private var lost: Int?
    /// When the broker has passed on a lease of ours last: others have seen it then.
    private var echoed: Int?
    private var heldBefore: Set<Int> = []
    private var nextRenewal = 0

    /// - Parameters:
    ///   - site: As the collector file is called.
    ///   - owner: A name that no other collector has.
    ///   - number: When this one began, in milliseconds since 1970.
    public init(site: String, owner: String, number: Int, shards: Set<Int>) {
        root = "pharos/\(TopicLevel(site))/leases"
        filter = "\(root)/+/+"
        self.owner = TopicLevel(owner).description
        self.number = number
        self.shards = shards
    }

    // MARK: What happens

    /// The broker is there: whatever it holds comes now.
    public mutating func connect(at now: Int, unixMilliseconds: Int) {
        // Another one tells by now, and goes on.
        if let last = echoed ?? lost, now - last >= Self.life { number = max(number + 1, unixMilliseconds) }
        echoed = nil
        (connected, lost, nextRenewal) = (now, nil, now)
    }

    /// The broker is away.
    public mutating func disconnect(at now: Int) {
        guard connected != nil else { return }
        heldBefore = held(at: now)
        (connected, lost) = (nil, now)
    }

    /// Takes a message of the broker.
    ///
    /// - Returns: whether its topic is that of a lease; garbage there is not one, and changes nothing.
    public mutating func take(
        topic: String, payload: [UInt8], isRetained: Bool, at now: Int, unixMilliseconds: Int
    ) -> Bool {
        guard topic.hasPrefix(root + "/") else { return false }
        let levels = topic.dropFirst(root.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 2, let shard = Int(levels[0]), "\(shard)" == levels[0], shards.contains(shard),
            !levels[1].isEmpty
        else { return true }
        if levels[1] == owner {
            if !isRetained { echoed = now }
            return true
        }
        let name = String(levels[1])
        if payload.isEmpty {
            // Its owner has taken leave.
            if others[shard]?.removeValue(forKey: name) != nil { lastSigns[shard] = unixMilliseconds }
            return true
        }
        guard payload.count <= Self.limit, let node = JSONDocument.parse(payload).root, node["v"]?.integer == 1,
            let number = node["lease"]?.integer, number > 0,
            let time = node["at"]?.string.flatMap({ RFC3339Time($0) })
        else { return true }
        // Of one that ended long ago.
        let age = abs(unixMilliseconds / 1000 - time.secondsSince1970)
        guard !isRetained || age <= Self.clockSeconds else { return true }
        if (others[shard]?.count ?? 0) >= Self.rivals {
            others[shard] = others[shard]?.filter { now - $0.value.renewed < Self.life }
        }
        guard others[shard]?[name] != nil || (others[shard]?.count ?? 0) < Self.rivals else { return true }
        // It was started anew: what it has told until then is told.
        if let old = others[shard]?[name], old.number <= self.number, number > self.number {
            lastSigns[shard] = max(lastSigns[shard] ?? 0, old.unixMilliseconds)
        }
        others[shard, default: [:]][name] = Lease(number: number, renewed: now, unixMilliseconds: unixMilliseconds)
        return true
    }

    /// What is to be told now: our leases, where it is time.
    public mutating func renewals(at now: Int, unixMilliseconds: Int) -> [Publication] {
        guard connected != nil, now >= nextRenewal else { return [] }
        nextRenewal = now + Self.renewal
        let time = RFC3339Time(secondsSince1970: unixMilliseconds / 1000)
        let lease = JSONValue.record([("v", 1), ("lease", .integer(number)), ("at", .string("\(time)"))])
        return shards.sorted().map { Publication(topic($0), lease, isRetained: true) }
    }

    /// The last words: somebody else may tell at once.
    public var farewell: [Publication] {
        shards.sorted().map { Publication(topic($0), [UInt8](), isRetained: true) }
    }

    private func topic(_ shard: Int) -> String { "\(root)/\(shard)/\(owner)" }

    // MARK: Answers

    /// The shards of which we tell.
    public func held(at now: Int) -> Set<Int> {
        guard let connected else {
            // The others wait as long.
            return (echoed ?? lost).map { now - $0 < Self.life - Self.renewal } ?? false ? heldBefore : []
        }
        guard now - connected >= Self.patience else { return [] }
        // The broker is away, and nobody has noticed yet.
        if let echoed, now - echoed >= Self.life - Self.renewal { return [] }
        return shards.filter { shard in rival(shard, at: now) == nil }
    }

    /// Who tells of a shard in our place; `nil` for nobody.
    public func rival(_ shard: Int, at now: Int) -> String? {
        others[shard]?.filter { name, lease in
            now - lease.renewed < Self.life && (lease.number, name) < (number, owner)
        }.min { ($0.value.number, $0.key) < ($1.value.number, $1.key) }?.key
    }

    /// When another one of a shard was last known to be there, by the wall clock in milliseconds; `nil` for never.
    public func lastSign(_ shard: Int) -> Int? {
        let leases = others[shard]?.values.filter { $0.number <= number }.map(\.unixMilliseconds) ?? []
        return (leases + [lastSigns[shard]].compactMap(\.self)).max()
    }
}

/// What belongs to shards that another collector tells: kept until it is clear that the other one lives.
public struct ShardBuffer<Item: Sendable>: Sendable {
    /// As long as a dead collector is believed to live, and a little more: in milliseconds.
    public static var patience: Int { ShardLeases.life + 15_000 }
    /// More do not wait: the oldest go.
    public static var limit: Int { 100_000 }

    private var waiting: [(shard: Int, time: Int, item: Item)] = []

    /// Nothing waits.
    public init() {}

    /// Takes what has happened, and hands over what this collector tells.
    ///
    /// - Parameters:
    ///   - items: With their shards and their times in milliseconds since 1970.
    ///   - held: The shards of which we tell.
    ///   - lastSign: Until when somebody else has told of a shard.
    ///   - now: In milliseconds since 1970.
    public mutating func pass(
        _ items: [(shard: Int, time: Int, item: Item)], held: Set<Int>, lastSign: (Int) -> Int?, now: Int
    ) -> [Item] {
        if waiting.isEmpty, items.allSatisfy({ held.contains($0.shard) }) { return items.map(\.item) }
        var told: [Item] = []
        var rest: [(shard: Int, time: Int, item: Item)] = []
        for each in waiting where held.contains(each.shard) {
            if lastSign(each.shard).map({ each.time > $0 }) ?? true { told.append(each.item) }
        }
        for each in waiting where !held.contains(each.shard) && now - each.time < Self.patience { rest.append(each) }
        for each in items { if held.contains(each.shard) { told.append(each.item) } else { rest.append(each) } }
        waiting = rest.count > Self.limit ? Array(rest.suffix(Self.limit)) : rest
        return told
    }
}
