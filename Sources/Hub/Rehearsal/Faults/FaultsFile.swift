internal import BluetoothTypes
public import Configuration
internal import Sites

/// Reads the file with the faults to plant in a rehearsal.
public enum FaultsFile {
    /// Reads the file and checks its names against a fleet.
    ///
    /// - Returns: The faults, and every problem in the order of the file. The faults are `nil` if the file has an
    ///   error.
    public static func decode(
        _ octets: [UInt8], for fleet: RehearsedFleet, hours: Double
    ) -> (faults: [RehearsalFault]?, problems: [FileProblem]) {
        let (faults, problems) = ConfigurationDecoder.decode(octets) { $0.faults($1, fleet, hours: hours) }
        return (problems.contains(where: \.isError) ? nil : faults, problems)
    }

    /// The text of `profiles/schema/faults.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String { FaultsFormat.section.schemaFile(title: "Pharos faults") }
}

/// The declaration of a faults file.
enum FaultsFormat {
    static let kind = Key(
        "kind", ValueType<RehearsalFault.Kind>.word,
        "What goes wrong: stops, interval, identity, clone, weak, deaf, broker-away or clock-jump.", isRequired: true)
    static let beacon = Key("beacon", .text, "Name of the beacon, for all kinds except deaf and broker-away.")
    static let receiver = Key("receiver", .text, "Name of the receiver, for the kind deaf.")
    static let at = Key(
        "atS", .real(0...864_000, unit: "s"), "Time from the beginning of the rehearsal to the beginning of the fault.",
        isRequired: true)
    static let duration = Key(
        "forS", .real(1...864_000, unit: "s"), "Duration of the fault, for the kind broker-away.", default: 300)
    static let factor = Key(
        "factor", .real(0.1...100), "New interval as a multiple of the old interval, for the kind interval.", default: 2
    )
    static let decibels = Key("byDb", .real(1...60, unit: "dB"), "Loss of radio power, for the kind weak.", default: 10)
    static let leap = Key(
        "byS", .real(1...8_640_000, unit: "s"), "Time by which the clock leaps ahead, for the kind clock-jump.",
        default: 7200)
    static let fault = Section(
        "A fault.", [kind, beacon, receiver, at, duration, factor, decibels, leap],
        rules: [
            Rule(schema: ["not": ["required": ["beacon", "receiver"]]]) { decoder, object in
                if object["beacon"] != nil, object["receiver"] != nil {
                    decoder.error("give \"beacon\" or \"receiver\", not both", at: object["receiver"] ?? object)
                }
            }
        ])
    static let faults = Key(
        "faults", .list("faults", 1...10_000, of: .section(fault).defined(as: "fault")), "The faults.",
        isRequired: true)
    static let section = Section(
        "Faults that are planted in a rehearsal of a fleet.", [FileHeader.schema, FileHeader.version, faults])
}

extension ConfigurationDecoder {
    fileprivate mutating func faults(
        _ node: JSONNode, _ fleet: RehearsedFleet, hours: Double
    ) -> [RehearsalFault]? {
        guard let root = open(FaultsFormat.section, node) else { return nil }
        _ = read(FileHeader.schema, in: root)
        _ = read(FileHeader.version, in: root)
        let list = read(FaultsFormat.faults, in: root) ?? []
        return list.compactMap { fault($0, fleet, hours: hours) }
    }

    private mutating func fault(
        _ object: JSONNode, _ fleet: RehearsedFleet, hours: Double
    ) -> RehearsalFault? {
        let kind = read(FaultsFormat.kind, in: object)
        let beacon = read(FaultsFormat.beacon, in: object)
        let receiver = read(FaultsFormat.receiver, in: object)
        let at = read(FaultsFormat.at, in: object)
        let duration = read(FaultsFormat.duration, in: object)
        let factor = read(FaultsFormat.factor, in: object)
        let decibels = read(FaultsFormat.decibels, in: object)
        let leap = read(FaultsFormat.leap, in: object)
        guard let kind, let at else { return nil }
        let key = kind == .deaf ? "receiver" : "beacon"
        let name = kind == .deaf ? receiver : beacon
        let receivers = fleet.site?.receivers.map(\.name) ?? []
        let names = kind == .deaf ? receivers : fleet.beacons.map(\.name)
        if kind == .brokerAway {
            if let node = object["beacon"] ?? object["receiver"] {
                error("broker-away concerns all receivers: leave this key out", at: node)
            }
            if receivers.isEmpty { error("the site has no receivers, so no broker is needed", at: object) }
        } else if let name {
            if !names.contains(name) {
                let nearest = NearestWord.find(name, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
                error(
                    "there is no \(key) \(ProblemText.quoted(name)) in this rehearsal\(nearest)",
                    at: object[key] ?? object)
            } else if kind == .clockJump, fleet.beacons.contains(where: { $0.name == name && $0.epoch == nil }) {
                error(
                    "\(ProblemText.quoted(name)) has no ephemeral ids, so nothing that it sends depends on its clock",
                    at: object[key] ?? object)
            }
        } else {
            error("\(kind.rawValue) needs \"\(key)\"", at: object)
        }
        if at >= hours * 3600 {
            error(
                "the rehearsal ends before this time, after \(NumberFormat.significant(hours * 3600, 6)) s",
                at: object["atS"] ?? object)
        }
        var fault = RehearsalFault(kind, name ?? "", atS: at)
        if let duration { fault.forS = duration }
        if let factor { fault.factor = factor }
        if let decibels { fault.byDb = decibels }
        if let leap { fault.byS = leap }
        return fault
    }
}
