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
/// Beacons whose profiles are not good are passed over: the fleet has been checked, or is while it is generated.
public final class FleetGenerator {
    private let fleet: Fleet
    private let allocation: FleetAllocation
    private let reader: BeaconReader
    private var shapes = ShapeTable()
    private let range: Range<Int>
    private var number: Int
    private var isFirst: Bool
    private var inspector: FleetInspector?
    /// What is the same for all beacons of a group: that of the last one.
    private var group = (number: -1, text: BeaconText.Group([]))
    private var epoch: (seconds: Int64, text: [UInt8]) = (FleetLock.noEpoch, [])
    private var address: [UInt8] = []
    private var shape: Shape?
    private var hash: [UInt8] = []

    /// The profile of the beacon that ``next()`` came to: the file `NAME.json`.
    public private(set) var profile: [UInt8] = []
    /// Its line in `manifest.json`, with what separates it from the line before it, without a line feed.
    public private(set) var manifestLine: [UInt8] = []
    /// Its lines in `manifest.csv`.
    public private(set) var tableLines: [UInt8] = []

    /// - Parameters:
    ///   - range: Which of the fleet's beacons; `nil` for all. Parts behind each other, made by several threads, are the
    ///     same as the whole.
    ///   - inspection: Inspects the same beacons on the way; see ``findings``.
    public init(
        _ fleet: Fleet, _ allocation: FleetAllocation, range: Range<Int>? = nil, inspection: FleetInspection? = nil
    ) {
        self.fleet = fleet
        self.allocation = allocation
        self.range = (range ?? fleet.beacons.indices).clamped(to: fleet.beacons.indices)
        number = self.range.lowerBound - 1
        isFirst = self.range.lowerBound == 0
        reader = BeaconReader(fleet)
        inspector = inspection.map { FleetInspector($0) }
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

    /// What the inspection has found in the beacons so far.
    public var findings: FleetFindings { inspector?.findings(shapes) ?? FleetFindings() }

    /// Goes on to the next beacon; `false` after the last one.
    public func next() -> Bool {
        while number + 1 < range.upperBound, allocation.entries.count == fleet.beacons.count {
            number += 1
            reader.fill(number, allocation)
            let found = reader.plan.faults.isEmpty ? shapes.find(reader) : nil
            inspector?.inspect(number, reader, found)
            guard let shape = found?.shape, shape.profile != nil else { continue }
            self.shape = shape
            // Taken out while they are written, so that nobody has to copy them.
            var text = profile
            profile = []
            text.removeAll(keepingCapacity: true)
            reader.appendProfile(to: &text)
            hash = Array(Fingerprint.text(of: text).utf8)
            profile = text
            write(beaconText(shape), shape)
            isFirst = false
            return true
        }
        number = range.upperBound
        return false
    }

    /// The beacon as the manifest has it.
    ///
    /// - Returns: `nil` before the first and after the last.
    public var beacon: FleetManifest.Beacon? {
        guard range.contains(number), let shape else { return nil }
        func text(_ octets: ArraySlice<UInt8>?) -> String? { octets.map { String(decoding: $0, as: UTF8.self) } }
        let entry = allocation.lock.entries[Int(allocation.entries[number])]
        return FleetManifest.Beacon(
            name: name, group: fleet.groups[Int(fleet.beacons[number].group)].path, host: text(reader.host(number)),
            serial: text(reader.serial(number)), controller: reader.controller(number)?.rawValue,
            adapter: shape.profile?.adapter,
            address: fleet.template.hasAddress ? DeviceAddress(number: entry.address) : shape.explicitAddress,
            position: position, profileHash: String(decoding: hash, as: UTF8.self),
            eidEpoch: fleet.template.hasEpoch ? RFC3339Time(secondsSince1970: Int(entry.epoch)) : nil,
            advertisements: shape.advertisements.map { $0.text.value(reader) })
    }

    private var position: FleetManifest.Position? {
        func coordinate(_ index: Int) -> JSONNumber? {
            reader.coordinate(number, index).flatMap { JSONNumber(String(decoding: $0, as: UTF8.self)) }
        }
        if let x = coordinate(0), let y = coordinate(1) { return .plan(x: x, y: y, z: coordinate(2)) }
        if let north = coordinate(3), let east = coordinate(4) { return .globe(latitude: north, longitude: east) }
        return nil
    }

    private func beaconText(_ shape: Shape) -> BeaconText {
        chooseGroup()
        chooseEpoch()
        chooseAddress(shape)
        var text = BeaconText(
            name: fleet.names.text[fleet.names.range(number)], group: group.text, profileHash: hash[...])
        text.host = reader.host(number)
        text.serial = reader.serial(number)
        text.controller = reader.controller(number).map { Array($0.rawValue.utf8)[...] }
        text.adapter = shape.adapter?[...]
        if !address.isEmpty { text.address = address[...] }
        if reader.hasPosition(number) {
            text.coordinates = TableColumns.coordinateNames.indices.map { reader.coordinate(number, $0) }
        }
        if !epoch.text.isEmpty { text.eidEpoch = epoch.text[...] }
        return text
    }

    /// Beacons of one group mostly follow each other.
    private func chooseGroup() {
        let next = Int(fleet.beacons[number].group)
        if next != group.number { group = (next, BeaconText.Group(fleet.groups[next].path)) }
    }

    /// Beacons that came together have the same epoch.
    private func chooseEpoch() {
        guard fleet.template.hasEpoch else { return }
        let seconds = allocation.lock.entries[Int(allocation.entries[number])].epoch
        guard seconds != epoch.seconds else { return }
        epoch = (seconds, Array(RFC3339Time(secondsSince1970: Int(seconds)).description.utf8))
    }

    /// Allocated, or one that stands in the file.
    private func chooseAddress(_ shape: Shape) {
        address.removeAll(keepingCapacity: true)
        if fleet.template.hasAddress {
            address.append(address: allocation.lock.entries[Int(allocation.entries[number])].address)
        } else if let explicit = shape.explicitAddress {
            address.append(contentsOf: explicit.description.utf8)
        }
    }

    private func write(_ text: BeaconText, _ shape: Shape) {
        var line = manifestLine
        manifestLine = []
        line.removeAll(keepingCapacity: true)
        if !isFirst { line.append(staticText: ",\n") }
        text.appendJSON(to: &line)
        ManifestSegment.append(shape.manifest, reader, to: &line)
        manifestLine = line
        var lines = tableLines
        tableLines = []
        lines.removeAll(keepingCapacity: true)
        text.appendCells(to: &lines)
        let start = lines.count
        for (index, row) in shape.rows.enumerated() {
            if index > 0 { lines.append(contentsOf: lines[..<start]) }
            ManifestSegment.append(row, reader, to: &lines)
        }
        tableLines = lines
    }
}

extension [UInt8] {
    /// As a JSON string.
    mutating func append(quoted text: ArraySlice<UInt8>) {
        let isPlain = !text.contains { octet in
            octet < 0x20 || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") || octet == 0x7F
        }
        if isPlain {
            append(UInt8(ascii: "\""))
            append(contentsOf: text)
            append(UInt8(ascii: "\""))
        } else {
            append(contentsOf: JSONValue.string(String(decoding: text, as: UTF8.self)).line.utf8)
        }
    }

    /// As a cell of a table that spreadsheets take.
    mutating func append(cell text: ArraySlice<UInt8>) {
        // Most need no quotes, and begin with a letter or digit.
        if let first = text.first, NameRule.isLetterOrDigit(first),
            !text.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 < 0x20 })
        {
            append(contentsOf: text)
        } else {
            append(contentsOf: FleetManifest.cell(String(decoding: text, as: UTF8.self)).utf8)
        }
    }

    mutating func append(staticText: StaticString) {
        staticText.withUTF8Buffer { unsafe self.append(contentsOf: $0) }
    }

    mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = count
        repeat {
            append(UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0"))
            rest /= 10
        } while rest > 0
        var (low, high) = (start, count - 1)
        while low < high {
            swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// Lower-case digits of the lowest octets, the most significant first.
    mutating func append(hexadecimal value: UInt64, octets: Int) {
        for place in stride(from: 8 * octets - 4, through: 0, by: -4) {
            append(Self.digit(value >> UInt64(place) & 0xF, letters: UInt8(ascii: "a")))
        }
    }

    /// Upper-case digits with colons, as ``DeviceAddress`` prints itself.
    mutating func append(address: UInt64) {
        for octet in (0..<6).reversed() {
            let value = address >> UInt64(8 * octet)
            append(Self.digit(value >> 4 & 0xF, letters: UInt8(ascii: "A")))
            append(Self.digit(value & 0xF, letters: UInt8(ascii: "A")))
            if octet > 0 { append(UInt8(ascii: ":")) }
        }
    }

    private static func digit(_ value: UInt64, letters: UInt8) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return value < 10 ? value + UInt8(ascii: "0") : value - 10 + letters
    }
}
