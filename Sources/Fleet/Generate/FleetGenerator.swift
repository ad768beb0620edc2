internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity
internal import Profiles

/// Makes a fleet's files, beacon by beacon: the same fleet and the same lock give the same octets.
///
/// ```swift
/// let generator = FleetGenerator(fleet, allocation)
/// write(generator.manifestStart, generator.tableStart)
/// while generator.next() { write(generator.profile, generator.manifestLine, generator.tableLines) }
/// write(generator.manifestEnd)
/// ```
///
/// The fleet has been checked; beacons whose profiles are not good are passed over.
public final class FleetGenerator {
    private let fleet: Fleet
    private let allocation: FleetAllocation
    private let reader: BeaconReader
    private var shapes = ShapeTable()
    private let range: Range<Int>
    private var number: Int
    private var isFirst: Bool
    /// What is the same for all beacons of a group: that of the last one.
    private var group = (number: -1, member: [UInt8](), cells: [UInt8]())
    private var epoch: (seconds: Int64, text: [UInt8]) = (FleetLock.noEpoch, [])

    /// The profile of the beacon that ``next()`` came to: the file `NAME.json`.
    public private(set) var profile: [UInt8] = []
    /// Its line in `manifest.json`, with what separates it from the line before it, without a line feed.
    public private(set) var manifestLine: [UInt8] = []
    /// Its lines in `manifest.csv`.
    public private(set) var tableLines: [UInt8] = []

    /// - Parameter range: Which of the fleet's beacons; `nil` for all. Parts behind each other, made by several threads,
    ///   are the same as the whole.
    public init(_ fleet: Fleet, _ allocation: FleetAllocation, range: Range<Int>? = nil) {
        self.fleet = fleet
        self.allocation = allocation
        self.range = (range ?? fleet.beacons.indices).clamped(to: fleet.beacons.indices)
        number = self.range.lowerBound - 1
        isFirst = self.range.lowerBound == 0
        reader = BeaconReader(fleet)
    }

    public var fleetName: String { fleet.name }
    /// How many beacons there are.
    public var count: Int { range.count }
    /// How many of them are done.
    public var done: Int { min(number + 1, range.upperBound) - range.lowerBound }

    /// What stands before the first line of `manifest.json`.
    public var manifestStart: [UInt8] { Array(FleetManifest.jsonStart(fleet.name).utf8) }
    /// What stands behind the last one.
    public var manifestEnd: [UInt8] { Array(((isFirst ? "" : "\n") + FleetManifest.jsonEnd).utf8) }
    /// The header of `manifest.csv`.
    public var tableStart: [UInt8] { Array((FleetManifest.columns.joined(separator: ",") + "\r\n").utf8) }

    /// The beacon's name.
    public var name: String { range.contains(number) ? fleet.names.string(number) : "" }

    /// Goes on to the next beacon; `false` after the last one.
    public func next() -> Bool {
        while number + 1 < range.upperBound, allocation.entries.count == fleet.beacons.count {
            number += 1
            reader.fill(number, allocation)
            guard reader.plan.faults.isEmpty else { continue }
            let (shape, _) = shapes.find(reader)
            guard shape.profile != nil else { continue }
            // Taken out while they are written, so that nobody has to copy them.
            var text = profile
            profile = []
            text.removeAll(keepingCapacity: true)
            reader.appendProfile(to: &text)
            let hash = Array(Fingerprint.text(of: text).utf8)
            profile = text
            chooseEpoch()
            chooseGroup()
            writeManifest(shape, hash)
            writeTable(shape, hash)
            isFirst = false
            return true
        }
        number = range.upperBound
        return false
    }

    /// The group as both manifests have it; beacons of one group mostly follow each other.
    private func chooseGroup() {
        let next = Int(fleet.beacons[number].group)
        guard next != group.number else { return }
        let path = fleet.groups[next].path
        let cells = (0..<Fleet.depthLimit).map { $0 < path.count ? path[$0] : "" }
        group.number = next
        group.member = path.isEmpty ? [] : Array(",\"group\":\"\(path.joined(separator: "/"))\"".utf8)
        group.cells = Array((cells.joined(separator: ",") + ",").utf8)
    }

    /// The epoch as text; beacons that came together have the same one.
    private func chooseEpoch() {
        guard fleet.template.hasEpoch else { return }
        let seconds = allocation.lock.entries[Int(allocation.entries[number])].epoch
        guard seconds != epoch.seconds else { return }
        epoch = (seconds, Array(RFC3339Time(secondsSince1970: Int(seconds)).description.utf8))
    }

    /// The address of the profile, as text: allocated, or one that the template has.
    private func appendAddress(_ shape: Shape, before: StaticString, after: StaticString, to text: inout [UInt8]) {
        if fleet.template.hasAddress {
            text.append(staticText: before)
            text.append(address: allocation.lock.entries[Int(allocation.entries[number])].address)
            text.append(staticText: after)
        } else if case .explicit(let address) = shape.profile?.address {
            text.append(staticText: before)
            text.append(contentsOf: address.description.utf8)
            text.append(staticText: after)
        }
    }

    private func writeManifest(_ shape: Shape, _ hash: [UInt8]) {
        var line = manifestLine
        manifestLine = []
        line.removeAll(keepingCapacity: true)
        if !isFirst { line.append(staticText: ",\n") }
        line.append(staticText: "{\"name\":\"")
        fleet.names.append(number, to: &line)
        line.append(UInt8(ascii: "\""))
        line.append(contentsOf: group.member)
        line.append(member: ",\"host\":\"", reader.host(number))
        line.append(member: ",\"serial\":\"", reader.serial(number))
        if let controller = reader.controller(number) {
            line.append(staticText: ",\"controller\":\"")
            line.append(contentsOf: controller.rawValue.utf8)
            line.append(UInt8(ascii: "\""))
        }
        line.append(contentsOf: shape.adapterMember)
        appendAddress(shape, before: ",\"address\":\"", after: "\"", to: &line)
        if reader.hasPosition(number) { writePosition(to: &line) }
        line.append(member: ",\"profileHash\":\"", hash[...])
        if !epoch.text.isEmpty { line.append(member: ",\"eidEpoch\":\"", epoch.text[...]) }
        ManifestSegment.append(shape.manifest, reader, to: &line)
        manifestLine = line
    }

    private static let coordinateMembers: [StaticString] = [
        "\"x\":", "\"y\":", "\"z\":", "\"latitude\":", "\"longitude\":",
    ]

    private func writePosition(to line: inout [UInt8]) {
        var separator: StaticString = ",\"position\":{"
        for (index, name) in Self.coordinateMembers.enumerated() {
            guard let value = reader.coordinate(number, index) else { continue }
            line.append(staticText: separator)
            line.append(staticText: name)
            line.append(contentsOf: value)
            separator = ","
        }
        line.append(UInt8(ascii: "}"))
    }

    private func writeTable(_ shape: Shape, _ hash: [UInt8]) {
        var lines = tableLines
        tableLines = []
        lines.removeAll(keepingCapacity: true)
        let comma = UInt8(ascii: ",")
        fleet.names.append(number, to: &lines)
        lines.append(comma)
        lines.append(contentsOf: group.cells)
        if let host = reader.host(number) { lines.append(contentsOf: host) }
        lines.append(comma)
        if let serial = reader.serial(number) { lines.append(contentsOf: serial) }
        lines.append(comma)
        if let controller = reader.controller(number) { lines.append(contentsOf: controller.rawValue.utf8) }
        lines.append(comma)
        lines.append(contentsOf: shape.adapterCell)
        lines.append(comma)
        appendAddress(shape, before: "", after: "", to: &lines)
        lines.append(comma)
        let hasPosition = reader.hasPosition(number)
        for index in 0..<5 {
            if hasPosition, let value = reader.coordinate(number, index) { lines.append(contentsOf: value) }
            lines.append(comma)
        }
        lines.append(contentsOf: hash)
        lines.append(comma)
        lines.append(contentsOf: epoch.text)
        lines.append(comma)
        let start = lines.count
        for (index, row) in shape.rows.enumerated() {
            if index > 0 { lines.append(contentsOf: lines[..<start]) }
            ManifestSegment.append(row, reader, to: &lines)
        }
        tableLines = lines
    }
}

extension [UInt8] {
    /// A text without anything that would have to be escaped, behind `start` and before a quote.
    fileprivate mutating func append(member start: StaticString, _ value: ArraySlice<UInt8>?) {
        guard let value else { return }
        append(staticText: start)
        append(contentsOf: value)
        append(UInt8(ascii: "\""))
    }
}
