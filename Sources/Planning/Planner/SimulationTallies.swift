public import Airtime
internal import BluetoothTypes
internal import Configuration

/// The first line of a file with the counts of one part of a simulation.
///
/// The file is JSON Lines: this line, then a line for each batch in the order of their numbers.
public struct TallyHead: Equatable, Sendable {
    /// The version of the format.
    public static let version = 1

    /// The version of the program that simulates.
    public var program: String
    /// The arguments of the command line, without the arguments that may differ between parts.
    public var arguments: [String]
    /// A hash of the simulated scene. It differs if, for example, the fleet file has changed.
    public var scene: String
    public var shard: SimulationShard

    public init(program: String, arguments: [String], scene: String, shard: SimulationShard) {
        self.program = program
        self.arguments = arguments
        self.scene = scene
        self.shard = shard
    }

    /// The line without a line feed.
    public var line: String {
        let value: JSONValue = [
            "pharosTally": .integer(Self.version), "program": .string(program),
            "arguments": .array(arguments.map { .string($0) }), "scene": .string(scene),
            "shard": .integer(shard.index), "of": .integer(shard.count),
        ]
        return value.line
    }

    /// Parses a line; nil if it is not the first line of a file with counts, or if its format has another version.
    public init?(line: some Sequence<UInt8>) {
        guard let root = JSONDocument.parse(Array(line)).root, root["pharosTally"]?.integer == Self.version,
            case .string(let program)? = root["program"]?.value, case .string(let scene)? = root["scene"]?.value,
            case .array(let elements)? = root["arguments"]?.value, let index = root["shard"]?.integer,
            let count = root["of"]?.integer, let shard = try? SimulationShard(index, of: count)
        else { return nil }
        var arguments: [String] = []
        for element in elements {
            guard case .string(let text) = element.value else { return nil }
            arguments.append(text)
        }
        self.init(program: program, arguments: arguments, scene: scene, shard: shard)
    }

    /// Returns true if both parts belong to the same simulation.
    func isOfOneRun(with other: TallyHead) -> Bool {
        var same = other
        same.shard = shard
        return same == self && other.shard.count == shard.count
    }
}

extension AirTally {
    /// The line of one batch without a line feed.
    public func line(batch: Int) -> String {
        "{\"batch\":\(batch),\"counts\":[" + numbers.map { "\($0)" }.joined(separator: ",") + "]}"
    }

    /// Parses the line of one batch; nil if the line does not contain the batch with the number `batch`.
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

/// The merged parts of a simulation. The batches are added in the order of a single run, up to the batch that meets the
/// goal, so that the result equals the result of a single run.
public struct MergedTallies: Sendable {
    /// The first line of the first file.
    public let head: TallyHead
    /// The lines of the batches, for each part.
    private let parts: [[ArraySlice<UInt8>]]
    private let names: [String]

    /// - Parameters:
    ///   - files: The files with their names, in any order. Each part must occur once.
    ///   - program: The version of the program that merges the parts; nil to accept parts of any version.
    ///
    /// Throws for files without counts, parts of different runs, missing parts, and parts that occur twice.
    public init(files: [(name: String, octets: [UInt8])], program: String? = nil) throws(PlanError) {
        var head: TallyHead?
        var parts: [Int: (lines: [ArraySlice<UInt8>], name: String)] = [:]
        for (name, octets) in files {
            let lines = octets.split(separator: UInt8(ascii: "\n"))
            guard let first = lines.first, let partHead = TallyHead(line: first) else {
                throw PlanError(
                    .data,
                    "\(name): this file does not contain the counts of a part; pharos plan simulate --shard writes such files"
                )
            }
            if let head, !head.isOfOneRun(with: partHead) {
                throw PlanError(
                    .data,
                    "\(name): this part belongs to another simulation than \(files[0].name), or to another version")
            }
            head = head ?? partHead
            if let earlier = parts.updateValue((Array(lines.dropFirst()), name), forKey: partHead.shard.index) {
                throw PlanError(.data, "\(name): part \(partHead.shard.index) occurs twice, also in \(earlier.name)")
            }
        }
        guard let head else { throw PlanError(.question, "there is nothing to merge: give the files of all parts") }
        let missing = (1...head.shard.count).filter { parts[$0] == nil }
        guard missing.isEmpty else {
            let list = missing.prefix(8).map { "\($0)/\(head.shard.count)" }.joined(separator: ", ")
            throw PlanError(
                .data, "parts of the simulation are missing: \(list)\(missing.count > 8 ? " and more" : "")")
        }
        if let program, head.program != program {
            throw PlanError(
                .data,
                "these parts were simulated by version \(head.program), and this is \(program): merge them with that version"
            )
        }
        self.head = head
        self.parts = (1...head.shard.count).compactMap { parts[$0]?.lines }
        names = (1...head.shard.count).compactMap { parts[$0]?.name }
    }

    /// Returns the answer that a single run would give. If the parts have too few batches, a note states how many each
    /// part needs.
    public func answer(to question: some SimulationQuestion) throws(PlanError) -> PlanAnswer {
        let outcome = try outcome(of: question)
        var answer = try question.answer(outcome)
        if outcome.isInterrupted, let needed = question.batchesNeeded(outcome, of: head.shard) {
            answer.note("Simulate each part with --batches \(needed) or more.")
        }
        return answer
    }

    /// Returns the counts that a single run would have, up to the first batch that the parts do not contain.
    public func outcome(of question: some SimulationQuestion) throws(PlanError) -> SimulationOutcome {
        guard question.sceneHash == head.scene else {
            throw PlanError(
                .data,
                "the parts were simulated with other beacons than these arguments now give; has the fleet changed? "
                    + head.arguments.joined(separator: " "))
        }
        var sum = question.sum
        while !sum.isFinished {
            let batch = sum.batches
            let (index, position) = SimulationShard.owner(ofBatch: batch, among: parts.count)
            guard position < parts[index - 1].count else { break }
            guard let tally = AirTally(line: parts[index - 1][position], batch: batch) else {
                throw PlanError(
                    .data, "\(names[index - 1]):\(position + 2): these are not the counts of batch \(batch)")
            }
            sum.add(tally)
        }
        return SimulationOutcome(tally: sum.tally, batches: sum.batches, isInterrupted: !sum.isFinished)
    }
}

extension SimulationQuestion {
    /// A hash of everything that is simulated, as 16 hexadecimal digits.
    public var sceneHash: String {
        let scenery = "\(scene.receiver) \(scene.conditions) \(seed) \(goal)"
        let parts = scene.advertisers.map { "\($0)" } + [scenery] + scene.visitors.map { "\($0)" }
        return NumberFormat.padded(StableHash.of(parts.joined()), to: 16, radix: 16)
    }

    /// Returns an empty sum for one part. The caller adds the part's batches in the order of their numbers until the
    /// sum is finished.
    public func sum(of shard: SimulationShard, atLeast batches: Int = 0) -> BatchSum<AirTally> {
        BatchSum(goal, shard: shard, atLeast: batches) { Self.estimate($0) }
    }
}
