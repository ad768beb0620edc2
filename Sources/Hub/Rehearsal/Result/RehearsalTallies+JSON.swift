internal import Configuration

/// The tallies in a report file: `--json` writes them, and `--add` reads them.
extension RehearsalTallies {
    /// The tallies as JSON: lists of whole numbers in a fixed order.
    var json: JSONValue {
        .record([
            ("subject", subject.json), ("seeds", .integers(seeds)),
            ("beacons", .array(beacons.map(\.json))), ("receivers", .array(receivers.map(\.json))),
            (
                "places",
                .array(
                    places.map {
                        .array([.string($0.name), .integers([$0.beacon, $0.expected, $0.visits, $0.detected])])
                    })
            ),
            (
                "paths",
                .array(
                    paths.map {
                        .array([
                            .string($0.name),
                            .integers([$0.expected, $0.expectedBeacons, $0.walks, $0.detected, $0.beacons]),
                        ])
                    })
            ),
            ("ratios", ratios.json), ("turnRatios", turnRatios.json), ("excluded", .integers(excluded)),
            ("phoneCollisions", .integers(phoneCopies.values)),
            (
                "faults",
                .array(
                    faults.map {
                        .array([.string($0.kind), .string($0.subject), .integer($0.at), .string($0.text)])
                    })
            ), ("notes", .array(notes.map { .string($0) })),
        ])
    }

    /// Reads the tallies from a report that `--json` has written.
    ///
    /// - Parameter file: The name of the file for messages.
    public init(report octets: [UInt8], file: String) throws(RehearsalError) {
        let (root, problems) = JSONDocument.parse(octets)
        guard let root else {
            throw RehearsalError(.malformed, problems.map { $0.text(file: file) })
        }
        guard let node = root["tallies"], let tallies = Self(node) else {
            guard let version = root["version"]?.string, let replay = root["replay"]?.string,
                let seeds = root["seeds"]?.elements
            else {
                throw RehearsalError(
                    .malformed, "\(file): this is not a report of a rehearsal: write one with `pharos rehearse --json`")
            }
            // The arguments of a sum of several reports contain only the first seed.
            let remedy =
                seeds.count == 1
                ? "rehearse again with this version: pharos \(TerminalText.line(replay)) --json"
                : "rehearse its \(seeds.count) seeds again with this version, and add their reports"
            throw RehearsalError(
                .malformed,
                "\(file): the counts in this report of Pharos \(TerminalText.line(version)) have another format; "
                    + remedy)
        }
        self = tallies
    }

    private init?(_ node: JSONNode) {
        guard let subject = node["subject"].flatMap({ Subject($0) }), let seeds = node["seeds"]?.integers,
            let beacons = node["beacons"]?.elements, let receivers = node["receivers"]?.elements,
            let places = node["places"]?.elements, let paths = node["paths"]?.elements,
            let ratios = node["ratios"].flatMap({ Ratios($0) }),
            let turnRatios = node["turnRatios"].flatMap({ Ratios($0) }), let excluded = node["excluded"]?.integers,
            excluded.count == Exclusion.allCases.count,
            let collisions = node["phoneCollisions"]?.integers, collisions.count == 4,
            let faults = node["faults"]?.elements
        else { return nil }
        self.subject = subject
        self.seeds = seeds
        self.beacons = beacons.compactMap { Beacon($0) }
        self.receivers = receivers.compactMap { Receiver($0, beacons: beacons.count) }
        self.places = places.compactMap { place in
            guard let name = place[0]?.string, let values = place[1]?.integers, values.count == 4 else { return nil }
            return Place(
                name: name, beacon: values[0], expected: values[1], visits: values[2], detected: values[3])
        }
        self.paths = paths.compactMap { path in
            guard let name = path[0]?.string, let values = path[1]?.integers, values.count == 5 else { return nil }
            return Path(
                name: name, expected: values[0], expectedBeacons: values[1], walks: values[2], detected: values[3],
                beacons: values[4])
        }
        self.ratios = ratios
        self.turnRatios = turnRatios
        self.excluded = excluded
        phoneCopies = Copies(values: collisions)
        self.faults = faults.compactMap { fault in
            guard let kind = fault[0]?.string, let subject = fault[1]?.string, let at = fault[2]?.integer,
                let text = fault[3]?.string
            else { return nil }
            return Fault(kind: kind, subject: subject, at: at, text: text)
        }
        notes = (node["notes"]?.elements ?? []).compactMap(\.string)
        guard self.beacons.count == beacons.count, self.receivers.count == receivers.count,
            self.places.count == places.count, self.paths.count == paths.count, self.faults.count == faults.count,
            self.places.allSatisfy({ beacons.indices.contains($0.beacon) })
        else { return nil }
    }
}

extension JSONValue {
    fileprivate static func integers(_ values: [Int]) -> JSONValue { .array(values.map { .integer($0) }) }
}

extension JSONNode {
    /// The elements of a list of whole numbers; nil for other values.
    fileprivate var integers: [Int]? {
        guard let elements else { return nil }
        let values = elements.compactMap(\.integer)
        return values.count == elements.count ? values : nil
    }

    /// The value of a key, which is a list with one number for each part of the time; nil for other values.
    fileprivate func parts(_ key: String) -> [Int]? {
        guard let values = self[key]?.integers, values.count == RehearsalTallies.parts else { return nil }
        return values
    }
}

extension RehearsalTallies.Subject {
    fileprivate var json: JSONValue {
        .record([
            ("fleet", .string(fleet)), ("arguments", .string(arguments)), ("file", .string(file)),
            ("scanners", .string(scanners)),
            (
                "values",
                .integers([
                    milliseconds, phones, targetTime, targetShare, hasFloor ? 1 : 0, hasRooms ? 1 : 0, shadowing,
                ])
            ),
        ])
    }

    fileprivate init?(_ node: JSONNode) {
        guard let fleet = node["fleet"]?.string, let arguments = node["arguments"]?.string,
            let file = node["file"]?.string, let scanners = node["scanners"]?.string,
            let values = node["values"]?.integers, values.count == 7, values[0] > 0
        else { return nil }
        self.init(
            fleet: fleet, arguments: arguments, file: file, milliseconds: values[0], phones: values[1],
            scanners: scanners, targetTime: values[2], targetShare: values[3], hasFloor: values[4] == 1,
            hasRooms: values[5] == 1, shadowing: values[6])
    }
}

extension RehearsalTallies.Beacon {
    fileprivate var json: JSONValue {
        .record([
            ("name", .string(name)), ("position", .integers(position)), ("room", .string(room)),
            ("refusal", .string(refusal)),
            (
                "values",
                .integers([
                    unexpectedEvents, foreignPackets, duePerDay, plannedLife, rehearsedLife, falseExits, roomSeconds,
                    wrongRoomSeconds, expectedWrongMilliseconds,
                ])
            ), ("advertisements", .array(advertisements.map(\.json))),
        ])
    }

    fileprivate init?(_ node: JSONNode) {
        guard let name = node["name"]?.string, let position = node["position"]?.integers, position.count != 1,
            let room = node["room"]?.string, let refusal = node["refusal"]?.string,
            let values = node["values"]?.integers, values.count == 9,
            let nodes = node["advertisements"]?.elements
        else { return nil }
        let advertisements = nodes.compactMap { RehearsalTallies.Advertisement($0) }
        guard advertisements.count == nodes.count else { return nil }
        self.init(
            name: name, position: position, room: room, advertisements: advertisements, unexpectedEvents: values[0],
            foreignPackets: values[1], refusal: refusal, duePerDay: values[2], plannedLife: values[3],
            rehearsedLife: values[4], falseExits: values[5], roomSeconds: values[6], wrongRoomSeconds: values[7],
            expectedWrongMilliseconds: values[8])
    }
}

extension RehearsalTallies.Advertisement {
    fileprivate var json: JSONValue {
        .record([
            ("type", .string(type)),
            (
                "values",
                .integers([
                    period, longestPeriod, hasPattern ? 1 : 0, isShared ? 1 : 0, longestSilence, silenceFrom,
                    oldestTelemetry, rightIDs, wrongIDs, sentIDs, dueIDs,
                ])
            ), ("events", .integers(events)), ("gaps", .integers(gaps)), ("gapSum", .integers(gapSum)),
        ])
    }

    fileprivate init?(_ node: JSONNode) {
        guard let type = node["type"]?.string, let values = node["values"]?.integers, values.count == 11,
            let events = node.parts("events"), let gaps = node.parts("gaps"), let gapSum = node.parts("gapSum")
        else { return nil }
        self.init(
            type: type, period: values[0], longestPeriod: values[1], hasPattern: values[2] == 1,
            isShared: values[3] == 1, events: events, gaps: gaps, gapSum: gapSum, longestSilence: values[4],
            silenceFrom: values[5], oldestTelemetry: values[6], rightIDs: values[7], wrongIDs: values[8],
            sentIDs: values[9], dueIDs: values[10])
    }
}

extension RehearsalTallies.Receiver {
    fileprivate var json: JSONValue {
        .record([
            ("name", .string(name)),
            ("values", .integers([longestDeafness, deafFrom, longestAbsence, absentFrom, meanGap])),
            ("links", .array(links.map(\.json))),
        ])
    }

    fileprivate init?(_ node: JSONNode, beacons: Int) {
        guard let name = node["name"]?.string, let values = node["values"]?.integers, values.count == 5,
            let nodes = node["links"]?.elements
        else { return nil }
        let links = nodes.compactMap { RehearsalTallies.Link($0) }
        guard links.count == nodes.count, links.allSatisfy({ (0..<beacons).contains($0.beacon) }) else { return nil }
        self.init(
            name: name, links: links, longestDeafness: values[0], deafFrom: values[1], longestAbsence: values[2],
            absentFrom: values[3], meanGap: values[4])
    }
}

extension RehearsalTallies.Link {
    fileprivate var json: JSONValue {
        .record([
            ("values", .integers([beacon, expectedLevel] + copies.values)), ("count", .integers(count)),
            ("levelSum", .integers(levelSum)),
        ])
    }

    fileprivate init?(_ node: JSONNode) {
        guard let values = node["values"]?.integers, values.count == 6, let count = node.parts("count"),
            let levelSum = node.parts("levelSum")
        else { return nil }
        self.init(
            beacon: values[0], expectedLevel: values[1], copies: .init(values: Array(values[2...])), count: count,
            levelSum: levelSum)
    }
}

extension RehearsalTallies.Ratios {
    fileprivate var json: JSONValue {
        .record([
            ("counts", .integers(counts)), ("beacons", .integers(beacons.values)), ("times", .integers(times.values)),
        ])
    }

    fileprivate init?(_ node: JSONNode) {
        guard let counts = node["counts"]?.integers, counts.count == Self().counts.count,
            let beacons = node["beacons"]?.integers, beacons.count == 4, let times = node["times"]?.integers,
            times.count == 4
        else { return nil }
        self.init(counts: counts, beacons: .init(values: beacons), times: .init(values: times))
    }
}

extension RehearsalTallies.Clusters {
    fileprivate var values: [Int] { [count, squares, lateSquares, products] }

    /// - Parameter values: Four numbers in the order of ``values``.
    fileprivate init(values: [Int]) {
        self.init(count: values[0], squares: values[1], lateSquares: values[2], products: values[3])
    }
}

extension RehearsalTallies.Copies {
    fileprivate var values: [Int] { [offered, clear, received, expectedClear] }

    /// - Parameter values: Four numbers in the order of ``values``.
    fileprivate init(values: [Int]) {
        self.init(offered: values[0], clear: values[1], received: values[2], expectedClear: values[3])
    }
}
