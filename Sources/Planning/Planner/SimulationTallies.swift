public import Airtime
internal import Configuration

/// The head of a file with the tallies of one part of a simulation: what is simulated, and which part of it this is.
///
/// The file is JSON Lines: the head, then a line for each batch in the order of their numbers.
public struct TallyHead: Hashable, Sendable {
    /// The version of the format.
    public static let version = 1

    /// The version of the program that simulates: another may count otherwise.
    public var program: String
    /// The words of the command line that ask the question, without those that only this part has.
    public var arguments: [String]
    /// Tells one scene from another, as far as the program describes it: a fleet file may change behind its name.
    public var scene: String
    public var shard: SimulationShard

    /// `arguments` without those that only one part has, such as the number of threads.
    public init(program: String, arguments: [String], scene: String, shard: SimulationShard) {
        self.program = program
        self.arguments = arguments
        self.scene = scene
        self.shard = shard
    }

    /// The head's line, without a line feed.
    public var line: String {
        let value: JSONValue = [
            "pharosTally": .integer(Self.version), "program": .string(program),
            "arguments": .array(arguments.map { .string($0) }), "scene": .string(scene),
            "shard": .integer(shard.index), "of": .integer(shard.count),
        ]
        return value.line
    }

    /// `nil` for a line that is no head, or one of another version of the format.
    public init?(line: some Sequence<UInt8>) {
        guard let root = JSONDocument.parse(Array(line)).root, root["pharosTally"]?.integer == Self.version,
            case .string(let program)? = root["program"]?.value, case .string(let scene)? = root["scene"]?.value,
            case .array(let words)? = root["arguments"]?.value, let index = root["shard"]?.integer,
            let count = root["of"]?.integer, let shard = try? SimulationShard(index, of: count)
        else { return nil }
        var arguments: [String] = []
        for word in words {
            guard case .string(let text) = word.value else { return nil }
            arguments.append(text)
        }
        self.init(program: program, arguments: arguments, scene: scene, shard: shard)
    }

    /// Whether another part belongs to the same run.
    func isOfOneRun(with other: TallyHead) -> Bool {
        var same = other
        same.shard = shard
        return same == self && other.shard.count == shard.count
    }
}

extension BatchCounts {
    /// The line of one batch, without a line feed.
    public func line(batch: Int) -> String {
        "{\"batch\":\(batch),\"counts\":[" + numbers.map { "\($0)" }.joined(separator: ",") + "]}"
    }

    /// `nil` for a line that holds no batch of that number.
    init?(line: ArraySlice<UInt8>, batch: Int) {
        guard let root = JSONDocument.parse(Array(line)).root, root["batch"]?.integer == batch,
            case .array(let elements)? = root["counts"]?.value
        else { return nil }
        var numbers: [Int] = []
        numbers.reserveCapacity(elements.count)
        for element in elements {
            guard let number = element.integer else { return nil }
            numbers.append(number)
        }
        self.init(numbers: numbers, batch: batch)
    }
}

extension JSONNode {
    fileprivate var integer: Int? {
        guard case .number(let number) = value else { return nil }
        return Int(number.text)
    }
}

/// The parts of one simulation, put together again: the same batches in the same order as in one run, up to the one
/// that meets the goal, so that the result is that of the one run.
public struct MergedTallies: Sendable {
    /// What all parts simulate.
    public let head: TallyHead
    /// By part: its batches' lines.
    private let parts: [[ArraySlice<UInt8>]]
    private let names: [String]

    /// - Parameters:
    ///   - files: The files with their names, in any order; each part once.
    ///   - program: The version of the program that merges; `nil` takes parts of any one version.
    ///
    /// Throws for what is no tally, parts of different runs, a part that is missing, and one that is there twice.
    public init(files: [(name: String, octets: [UInt8])], program: String? = nil) throws(PlanError) {
        var head: TallyHead?
        var parts: [Int: (lines: [ArraySlice<UInt8>], name: String)] = [:]
        for (name, octets) in files {
            let lines = octets.split(separator: UInt8(ascii: "\n"))
            guard let first = lines.first, let own = TallyHead(line: first) else {
                throw PlanError(
                    .data, "\(name): this is no tally of a simulation; pharos plan simulate --shard writes one")
            }
            if let head, !head.isOfOneRun(with: own) {
                throw PlanError(
                    .data, "\(name): this is a part of another simulation than \(files[0].name), or by another version")
            }
            head = head ?? own
            if let twice = parts.updateValue((Array(lines.dropFirst()), name), forKey: own.shard.index) {
                throw PlanError(.data, "\(name): this is part \(own.shard.index), and so is \(twice.name)")
            }
        }
        guard let head else { throw PlanError(.question, "there is nothing to merge: name the files of all parts") }
        let missing = (1...head.shard.count).filter { parts[$0] == nil }
        guard missing.isEmpty else {
            let list = missing.prefix(8).map { "\($0)/\(head.shard.count)" }.joined(separator: ", ")
            throw PlanError(
                .data, "not all parts are here: \(list)\(missing.count > 8 ? " and more" : "") of the simulation")
        }
        if let program, head.program != program {
            throw PlanError(
                .data,
                "these parts were played by version \(head.program), and this is \(program): merge them with that version"
            )
        }
        self.head = head
        self.parts = (1...head.shard.count).compactMap { parts[$0]?.lines }
        names = (1...head.shard.count).compactMap { parts[$0]?.name }
    }

    /// The answer of the one run, as far as the parts have played; where that is not far enough, with how many batches each
    /// part has to play.
    public func answer(to question: some SimulationQuestion) throws(PlanError) -> PlanAnswer {
        let outcome = try outcome(of: question)
        var answer = try question.answer(outcome)
        if outcome.isInterrupted, let needed = question.batchesNeeded(outcome, of: head.shard) {
            answer.note("Play each part with --batches \(needed) or more.")
        }
        return answer
    }

    /// What one run would have found, as far as the parts have played.
    public func outcome(of question: some SimulationQuestion) throws(PlanError) -> SimulationOutcome {
        guard question.sceneName == head.scene else {
            throw PlanError(
                .data,
                "what was simulated is not what these words say by now; is the fleet another one? "
                    + head.arguments.joined(separator: " "))
        }
        var sum = question.sum
        while !sum.isFinished {
            let batch = sum.batches
            let (index, position) = SimulationShard.owner(ofBatch: batch, among: parts.count)
            guard position < parts[index - 1].count else { break }
            guard let counts = BatchCounts(line: parts[index - 1][position], batch: batch),
                let tally = counts.tally(batch: batch)
            else {
                throw PlanError(
                    .data, "\(names[index - 1]):\(position + 2): these are not the counts of batch \(batch)")
            }
            sum.add(tally)
        }
        return SimulationOutcome(tally: sum.tally, batches: sum.batches, isInterrupted: !sum.isFinished)
    }
}

extension SimulationQuestion {
    /// Tells scenes apart: a number made of everything that is simulated.
    public var sceneName: String {
        // FNV-1a.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ text: String) {
            for octet in text.utf8 { hash = (hash ^ UInt64(octet)) &* 0x100_0000_01b3 }
        }
        for advertiser in scene.advertisers { mix("\(advertiser)") }
        for receiver in scene.receivers { mix("\(receiver)") }
        mix("\(scene.conditions) \(seed) \(goal)")
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Takes the batches of one part in the order of their numbers, until the part has played enough.
    public func sum(of shard: SimulationShard, atLeast batches: Int = 0) -> ShardSum<AirTally> {
        ShardSum(goal, shard: shard, atLeast: batches) { Self.estimate($0) }
    }
}
