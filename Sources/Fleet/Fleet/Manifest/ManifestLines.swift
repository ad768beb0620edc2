internal import BluetoothTypes
public import Configuration

extension FleetManifest {
    /// Reads `manifest.json`.
    ///
    /// - Returns: `nil` where there is an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (manifest: FleetManifest?, problems: [FileProblem]) {
        if let manifest = decodeLines(octets) { return (manifest, []) }
        let (root, faults) = JSONDocument.parse(octets)
        var problems = faults
        guard let root, faults.isEmpty else { return (nil, problems) }
        var decoder = ManifestDecoder()
        let manifest = decoder.manifest(root)
        problems += decoder.decoder.problems
        return (problems.isEmpty ? manifest : nil, problems.sorted { $0.position < $1.position })
    }

    /// Reads a manifest of one beacon a line; `nil` for another form, and where anything is wrong.
    private static func decodeLines(_ octets: [UInt8]) -> FleetManifest? {
        var manifest = FleetManifest(fleet: "")
        var names: Set<String> = []
        var isUnique = true
        let fleet = try? forEachBeacon(in: octets) { beacon in
            isUnique = names.insert(beacon.name).inserted && isUnique
            manifest.beacons.append(beacon)
        }
        guard let fleet, isUnique else { return nil }
        manifest.fleet = fleet
        return manifest
    }

    /// The name of the fleet whose `manifest.json` begins with these octets; `nil` for what is none.
    public static func fleet(ofManifest start: [UInt8]) -> String? {
        var cursor = TextCursor(start)
        guard cursor.take("{\"version\":"), cursor.takeNumber() == version, cursor.take(",\"fleet\":\"") else {
            return nil
        }
        return cursor.takeWord().map { String(decoding: start[$0], as: UTF8.self) }
    }

    /// The name of the beacon whose line of `manifest.json` this is; `nil` for other lines.
    public static func name(ofLine range: Range<Int>, in octets: [UInt8]) -> String? {
        ManifestLines.name(octets, range).map { String(decoding: octets[$0], as: UTF8.self) }
    }

    /// Reads `manifest.json` line by line, for fleets whose tree would fill the memory.
    ///
    /// - Parameter body: Gets each beacon as it is read.
    /// - Returns: The fleet's name.
    /// - Throws: The first problem; also for texts that are not one beacon a line, as `fleet generate` writes them.
    @discardableResult
    public static func forEachBeacon(
        in octets: [UInt8], _ body: (Beacon) -> Void
    ) throws(FileProblem) -> String {
        var lines = ManifestLines(octets)
        let fleet = try lines.start()
        while let (range, line) = try lines.next() {
            let (root, faults) = JSONDocument.parse(Array(octets[range]))
            var decoder = ManifestDecoder()
            let beacon = root.flatMap { decoder.beacon($0) }
            if var problem = faults.first ?? decoder.decoder.problems.min(by: { $0.position < $1.position }) {
                problem.position.line += line - 1
                throw problem
            }
            if let beacon { body(beacon) }
        }
        return fleet
    }
}

/// The lines of a manifest as `fleet generate` writes it.
struct ManifestLines {
    private var cursor: TextCursor
    private var line = 1

    init(_ octets: [UInt8]) {
        cursor = TextCursor(octets)
    }

    private var problem: FileProblem {
        FileProblem(
            "this is no manifest of one beacon a line, as `pharos fleet generate` writes it",
            at: .init(line: line, column: 1), path: .root)
    }

    /// Reads the first line; gives the fleet's name.
    mutating func start() throws(FileProblem) -> String {
        guard cursor.take("{\"version\":"), let version = cursor.takeNumber() else { throw problem }
        guard version == FleetManifest.version else {
            throw FileProblem(
                "the manifest is of version \(version), this Pharos knows \(FleetManifest.version)",
                at: .init(line: 1, column: 1), path: .root)
        }
        guard cursor.take(",\"fleet\":\""), let name = cursor.takeWord(), cursor.take("\",\"beacons\":[\n") else {
            throw problem
        }
        line = 2
        return String(decoding: cursor.octets[name], as: UTF8.self)
    }

    /// Where the next beacon is, without the comma behind it, and on which line; `nil` at the end.
    mutating func next() throws(FileProblem) -> (range: Range<Int>, line: Int)? {
        if cursor.take("]}\n") {
            guard cursor.isAtEnd else { throw problem }
            return nil
        }
        guard var range = cursor.takeLine(), cursor.take("\n") else { throw problem }
        if cursor.octets[range.upperBound - 1] == UInt8(ascii: ",") { range = range.lowerBound..<range.upperBound - 1 }
        line += 1
        return (range, line - 1)
    }

    /// Where the name of the beacon stands whose line this is; `nil` for a line that is none.
    static func name(_ octets: [UInt8], _ range: Range<Int>) -> Range<Int>? {
        var cursor = TextCursor(octets)
        cursor.offset = range.lowerBound
        guard cursor.take("{\"name\":\"") else { return nil }
        return cursor.takeWord()
    }
}
