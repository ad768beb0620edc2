internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import LinuxHost
internal import Positioning

struct MapExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write surveys or a map as a table.",
        discussion: """
            pharos map export survey.jsonl --output survey.csv
            pharos map export survey.jsonl --format wide --output survey.csv
            pharos map export survey.jsonl --format medians --output medians.tsv
            pharos map export map.json --output statistics.csv

            csv has one row per reading, wide has one column per beacon. dump and medians are the tab-separated files of \
            the signal-mapping tool of the thesis of 2013: every reading, or the median of each beacon in each measurement. \
            For a map, csv has the statistics of each beacon at each place. Dropped stays are left out.
            """)

    /// The format of the table.
    enum Format: String, CaseIterable {
        case csv
        case wide
        case dump
        case medians
        case jsonl
    }

    @Argument(help: "Surveys as JSON Lines or CSV, or one map; - for a survey on standard input.", completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "\(Format.allCases.map(\.rawValue).joined(separator: ", ")) (default: csv).", valueName: "name"),
        completion: .list(Format.allCases.map(\.rawValue)), transform: OptionValue.named)
    var format: Format = .csv

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file of the table (default: standard output).", valueName: "file"),
        completion: .file())
    var output: String = "-"

    @OptionGroup var levels: SurveyReadingOptions

    func validate() throws {
        if files.isEmpty { throw ValidationError("Give at least one survey, or a map.") }
        try OutputFiles.refuseOverwriting([("--output", output)], read: files)
    }

    func run() throws {
        try MapFile.write(try text(), to: output)
        if output != "-" { Terminal.writeLine("wrote \(output)") }
    }

    private func text() throws -> String {
        if files.count == 1, try MapFile.isMap(files[0]) {
            let map = try MapFile.read(files[0])
            switch format {
            case .csv: return SurveyTable.statistics(map)
            case .medians: return SurveyTable.nodeMedians(map)
            case .wide, .dump, .jsonl:
                throw Failure(
                    .usage, "\(files[0]): a map has no single readings: use csv or medians, or export the survey")
            }
        }
        let survey = try levels.read(files).survey
        return switch format {
        case .csv: SurveyTable.long(survey)
        case .wide: SurveyTable.wide(survey)
        case .dump: SurveyTable.dump(survey)
        case .medians: SurveyTable.nodeMedians(survey)
        case .jsonl: SurveyWriter.text(survey)
        }
    }
}

struct MapImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Append tables to a survey.",
        discussion: """
            pharos map import readings.csv --output survey.jsonl
            pharos map import TrainingData.csv --absent 100 --output survey.jsonl
            pharos map import medians.tsv --output survey.jsonl

            It reads all formats that `pharos map export` writes, recognized by their content, and other surveys. If a \
            number means "not received" in a table, give it with --absent. Measurements of the signal-mapping tool have no \
            position: `pharos map record --move` adds it.

            Tables of other programs need the columns beacon (or mac, address, bssid) and rssi, or one column per \
            beacon. They also need the column place, or x and y in metres. The column time (or timestamp) has seconds, \
            milliseconds since 1970, or dates such as 2026-05-01T09:00:00Z. Names of columns may have any case. \
            Commas, semicolons or tabs separate the cells; a first line such as sep=; names the separator. Numbers may \
            have decimal commas if commas do not separate the cells. If one row cannot be read, the whole table is \
            refused.
            """)

    @Argument(help: "Tables or surveys, or - for standard input.", completion: .file())
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The survey, which is created if it does not exist (default: standard output).", valueName: "survey"),
        completion: .file())
    var output: String = "-"

    @OptionGroup var levels: SurveyReadingOptions

    func validate() throws {
        if files.isEmpty { throw ValidationError("Give at least one table.") }
        try OutputFiles.refuseOverwriting([("--output", output)], read: files)
    }

    func run() throws {
        let survey = try levels.read(files).survey
        let file = try GrowingSurvey(output)
        file.append(SurveyWriter.text(survey, numberingFrom: file.nextStay))
        try file.finish()
        guard output != "-" else { return }
        let stays = survey.stays.count { !$0.isCancelled }
        Terminal.writeLine(
            "\(NumberFormat.count(stays, "stay")) of \(NumberFormat.count(survey.countedVectors, "second")), "
                + "\(NumberFormat.count(survey.beacons.count, "beacon")) to \(output)")
    }
}
