internal import Configuration

/// A proposal of a fleet file for an existing table. It guesses the meanings of the columns, and writes the text of the
/// file.
public struct FleetProposal: Sendable {
    /// A meaning that a column may have.
    public enum Role: String, Sendable, CaseIterable {
        case name, title, site, floor, room, host, serial, x, y, z, latitude, longitude, uuid, major, minor
        case interval = "intervalMs"
        case radioPower = "radioPowerDbm"

        /// The meaning in words, for a question to the user.
        public var text: String {
            switch self {
            case .name: "the name of the beacon (letters, digits, \".\", \"_\", \"-\"; each once)"
            case .title: "the name to display"
            case .site: "the site"
            case .floor: "the floor"
            case .room: "the room"
            case .host: "the host name or address of the machine"
            case .serial: "the serial number of the machine"
            case .x: "metres to the east"
            case .y: "metres to the north"
            case .z: "the height in metres"
            case .latitude: "the latitude in degrees"
            case .longitude: "the longitude in degrees"
            case .uuid: "the UUID of the iBeacon"
            case .major: "the major number"
            case .minor: "the minor number"
            case .interval: "the advertising interval in ms"
            case .radioPower: "the radio power in dBm"
            }
        }

        /// The usual names of columns with this meaning, best first. They contain only lower-case letters and digits.
        fileprivate var words: [String] {
            switch self {
            case .name:
                ["name", "box", "beacon", "beaconname", "id", "kennung", "gerät", "geraet", "device", "nom", "nombre"]
            case .title: ["title", "titel", "label", "bezeichnung", "displayname", "anzeigename", "name"]
            case .site:
                [
                    "site", "building", "gebäude", "gebaeude", "standort", "haus", "store", "filiale", "carpark",
                    "campus",
                ]
            case .floor: ["floor", "level", "etage", "stockwerk", "geschoss", "ebene", "étage", "planta"]
            case .room: ["room", "raum", "zimmer", "office", "büro", "salle", "sala"]
            case .host: ["host", "hostname", "ip", "ipaddress", "ipadresse", "rechner", "server", "machine"]
            case .serial: ["serial", "serialnumber", "seriennummer", "sn"]
            case .x: ["x", "xm", "east"]
            case .y: ["y", "ym", "north"]
            case .z: ["z", "zm", "height", "höhe", "hoehe"]
            case .latitude: ["latitude", "lat", "breite", "breitengrad"]
            case .longitude: ["longitude", "lon", "lng", "long", "länge", "laenge", "längengrad"]
            case .uuid: ["uuid", "proximityuuid"]
            case .major: ["major"]
            case .minor: ["minor"]
            case .interval:
                [
                    "interval", "intervalms", "intervall", "intervallms", "advertisinginterval",
                    "advertisingintervalms", "sendeintervall", "sendeintervallms",
                ]
            // Not "TX power": it is the measured power in some tables, and the radio power in others.
            case .radioPower: ["radiopower", "radiopowerdbm", "sendeleistung", "sendeleistungdbm"]
            }
        }
    }

    /// The columns in the order of the table.
    public let columns: [String]
    /// The column with each meaning. Meanings without a column are missing.
    public private(set) var roles: [Role: String] = [:]
    /// The number of rows below the header.
    public let rows: Int
    private let table: CSVTable
    /// The columns whose cells can all be names of beacons, and differ from each other.
    private let nameColumns: Set<String>
    /// The columns that look like sites, floors or rooms, but contain names that groups cannot have. The value is the
    /// first such name in the column.
    public private(set) var unusable: [String: String] = [:]

    /// Returns a valid name for a group that is similar to `cell`; `nil` if there is no such name.
    public static func groupName(for cell: String) -> String? { NameRule.suggestion(for: cell) }

    /// The columns without a meaning, in the order of the table.
    public var unused: [String] {
        // The decoder of the fleet file reads columns with the names in `TableColumns.known` even if the fleet file
        // does not mention them.
        let usedColumns = Set(roles.values).union(TableColumns.known)
        return columns.filter { !$0.isEmpty && !usedColumns.contains($0) && unusable[$0] == nil }
    }

    /// Reads the table.
    ///
    /// - Parameter file: The path of the table, as it will be written in the fleet file.
    /// - Throws: ``FleetProposalError`` with the problems of a file that is not a table.
    public init(_ octets: [UInt8], file: String) throws(FleetProposalError) {
        let (opened, problems) = CSVTable.open(octets, file: file)
        guard let table = opened, !problems.contains(where: \.isError) else {
            throw FleetProposalError(messages: problems.map { $0.text(file: file) })
        }
        self.table = table
        columns = table.header
        var count = 0
        var cellsOfColumns = [Set<String>](repeating: [], count: table.header.count)
        var isNameColumn = [Bool](repeating: true, count: table.header.count)
        var invalidGroupNames = [String?](repeating: nil, count: table.header.count)
        var scanner = table.rows
        var row = CSVRow()
        while scanner.next(&row) {
            count += 1
            for (index, cell) in row.cells.prefix(columns.count).enumerated() {
                let text = cell.string(in: octets)
                if isNameColumn[index] {
                    isNameColumn[index] =
                        NameRule.beaconFault(text) == nil && cellsOfColumns[index].insert(text).inserted
                }
                if invalidGroupNames[index] == nil, !text.isEmpty, NameRule.fault(text) != nil {
                    invalidGroupNames[index] = text
                }
            }
        }
        rows = count
        nameColumns = Set(zip(columns, isNameColumn).filter { $0.1 && count > 0 && !$0.0.isEmpty }.map(\.0))
        for role in Role.allCases {
            let usedColumns = Set(roles.values)
            let candidates = columns.filter { column in
                role.words.contains(Self.normalized(column)) && !usedColumns.contains(column)
                    && (role != .name || nameColumns.contains(column))
            }
            // The words are sorted: the best word for the meaning is the first.
            let column = role.words.lazy.compactMap { word in candidates.first { Self.normalized($0) == word } }.first
            if let column, [.site, .floor, .room].contains(role), let index = columns.firstIndex(of: column),
                let cell = invalidGroupNames[index]
            {
                unusable[column] = cell
                continue
            }
            roles[role] = column
        }
        if roles[.name] == nil {
            let usedColumns = Set(roles.values)
            roles[.name] = columns.first { nameColumns.contains($0) && !usedColumns.contains($0) }
        }
        // If no column for names was found, the column of the title, the serial number or the host is used for names,
        // if its cells can be names and differ from each other.
        for role in [Role.title, .serial, .host] where roles[.name] == nil {
            guard let column = roles[role], nameColumns.contains(column) else { continue }
            (roles[.name], roles[role]) = (column, nil)
        }
        // Only sites have floors, and only floors have rooms. If an outer level is missing, the next inner level is
        // used as the outer level.
        repairLevels()
    }

    private static func normalized(_ column: String) -> String {
        column.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    private mutating func repairLevels() {
        let levels: [Role] = [.site, .floor, .room]
        let levelColumns = levels.compactMap { roles[$0] }
        for (index, level) in levels.enumerated() {
            roles[level] = index < levelColumns.count ? levelColumns[index] : nil
        }
    }

    /// Sets the column with a meaning; `nil` if no column has the meaning.
    ///
    /// - Throws: ``FleetProposalError`` for a column that the table does not have, and for names that beacons cannot
    ///   have.
    public mutating func set(_ role: Role, to column: String?) throws(FleetProposalError) {
        guard let column else {
            roles[role] = nil
            repairLevels()
            return
        }
        guard columns.contains(column) else {
            let nearest = NearestWord.find(column, among: columns).map { "did you mean \"\($0)\"?" }
            throw FleetProposalError(messages: [
                "the table has no column \(ProblemText.quoted(column)); "
                    + (nearest ?? "it has " + columns.joined(separator: ", "))
            ])
        }
        if role == .name {
            let faults = nameFaults(in: column)
            guard faults.isEmpty else { throw FleetProposalError(messages: Array(faults.prefix(20))) }
        }
        roles[role] = column
    }

    /// Returns the reasons why a column cannot contain the names of the beacons, each with its row.
    private func nameFaults(in column: String) -> [String] {
        guard let index = columns.firstIndex(of: column) else { return [] }
        var faults: [String] = []
        var linesOfNames: [String: Int] = [:]
        var scanner = table.rows
        var row = CSVRow()
        while scanner.next(&row) {
            let text = index < row.cells.count ? row.cells[index].string(in: table.octets) : ""
            if let fault = NameRule.beaconFault(text) {
                faults.append("row \(row.line): \(fault)")
            } else if let firstLine = linesOfNames[text] {
                faults.append("row \(row.line): \(ProblemText.quoted(text)) is also in row \(firstLine)")
            } else {
                linesOfNames[text] = row.line
            }
        }
        return faults
    }

    /// The reason why no fleet file can be written for the table; `nil` if it can be written.
    public var fault: String? {
        guard rows > 0 else { return "\(table.file): the table has no rows below its header" }
        if let (column, cell) = unusable.min(by: { $0.key < $1.key }), Fleet.levelNames.contains(column) {
            return
                "\(table.file): the column \(ProblemText.quoted(column)) contains \(ProblemText.quoted(cell)), which cannot name "
                + "a \(column): write short names of letters, digits, '.', '_' and '-', or rename the column"
        }
        guard roles[.name] == nil else { return nil }
        // The columns of groups cannot be the column of names.
        let groups = [Role.site, .floor, .room].compactMap { roles[$0] }
        let faults = columns.filter { !groups.contains($0) }.map { (column: $0, faults: nameFaults(in: $0)) }
        // If at most a tenth of the cells of a column cannot be names, the column is assumed to contain the names.
        if let best = faults.min(by: { $0.faults.count < $1.faults.count }), best.faults.count * 10 <= rows {
            let omitted = best.faults.count > 5 ? "; and \(best.faults.count - 5) more rows" : ""
            return
                "\(table.file): \(ProblemText.quoted(best.column)) can name the beacons, except in some rows. Correct these rows: "
                + best.faults.prefix(5).joined(separator: "; ") + omitted
        }
        let reasons = faults.compactMap { column, faults in faults.first.map { "\"\(column)\": \($0)" } }
        return
            "\(table.file): no column can name the beacons. Add a column \"name\" with a short name for each beacon. "
            + (reasons.first ?? "")
    }

    /// The text of the fleet file.
    ///
    /// - Parameters:
    ///   - name: The name of the fleet.
    ///   - uuid: A new UUID for iBeacons. It is used if the table has no column with UUIDs.
    public func text(name: String, uuid: String) -> String {
        func variable(_ role: Role) -> JSONValue { .string("${\(role.rawValue)}") }
        let hasMajor = roles[.major] != nil
        let hasMinor = roles[.minor] != nil
        var advertisement: [(String, JSONValue)] = [
            ("type", "ibeacon"), ("uuid", variable(.uuid)), ("major", variable(.major)), ("minor", variable(.minor)),
            ("intervalMs", variable(.interval)), ("measuredPowerDbm", .integer(-59)),
        ]
        var variables: [(String, JSONValue)] = []
        if roles[.uuid] == nil { variables.append(("uuid", .string(uuid))) }
        // The default interval also applies to empty cells of a column with intervals, and so does the default power.
        variables.append(("intervalMs", .integer(300)))
        if roles[.radioPower] != nil {
            advertisement.append(("radioPowerDbm", variable(.radioPower)))
            variables.append(("radioPowerDbm", .integer(0)))
        }
        let innerLevel: JSONValue? = roles[.floor] != nil ? "floor" : roles[.site] != nil ? "site" : nil
        var identities: [(String, JSONValue)] = []
        if !hasMajor {
            if let innerLevel {
                identities.append(("major", .record([("per", innerLevel)])))
            } else {
                variables.append(("major", .integer(1)))
            }
        }
        if !hasMinor { identities.append(("minor", .record([("within", innerLevel ?? "fleet")]))) }
        var members: [(String, JSONValue)] = [
            ("version", .integer(1)), ("name", .string(name)),
            ("template", .record([("advertisements", .array([.record(advertisement)]))])),
            ("defaults", .record([("variables", .record(variables))])),
        ]
        if !identities.isEmpty { members.append(("identities", .record(identities))) }
        // A column needs no entry if its name is the name of its meaning.
        let columnNames = Role.allCases.compactMap { role in
            roles[role].flatMap { $0 == role.rawValue ? nil : (role.rawValue, JSONValue.string($0)) }
        }
        let file = table.file.split(separator: "/").last.map(String.init) ?? table.file
        members.append(
            (
                "beacons",
                .record(
                    [("csv", .string(file))] + (columnNames.isEmpty ? [] : [("columns", .record(columnNames))]))
            ))
        return JSONValue.record(members).pretty + "\n"
    }
}

/// The problems of a table for which no fleet file can be written.
public struct FleetProposalError: Error, Hashable, Sendable {
    /// One sentence for each problem.
    public let messages: [String]
}
