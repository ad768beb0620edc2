internal import Airtime
internal import ArgumentParser
internal import CommandSupport
internal import LinuxHost
internal import Planner
internal import Sites

struct PlanScanners: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scanners",
        abstract: "List the known scanners, with the sources of their numbers.",
        discussion: """
            Example: pharos plan scanners --scanner-file our-phones.json

            The format of files with scanners of your own: pharos plan scanners --schema, or the sample \
            scanners/our-visitors.
            """)

    @Option(
        help: ArgumentHelp("Check this file with scanners of your own, and list them first.", valueName: "file"),
        completion: .file())
    var scannerFile: String?

    @Flag(help: "Print the JSON Schema of such files, for editors.")
    var schema = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        if schema { return Terminal.write(ScannerFile.schema) }
        let ownScanners = try scannerFile.map { try ScannerFileReader.scanners(in: $0) } ?? []
        let list = ScannerList(ownScanners + ScannerPreset.all)
        Terminal.show(list.text, or: list.json, asJSON: json)
    }
}

/// Reads the files of --scanner-file.
enum ScannerFileReader {
    private static let sizeLimit = 1 << 20

    /// Returns the scanners of a file. Throws an error with all problems of the file.
    static func scanners(in file: String) throws -> [ScannerPreset] {
        let octets = try InputFile.read(file, limit: sizeLimit)
        let (scanners, faults) = ScannerFile.decode(octets)
        guard let scanners else { throw Failure(faults, of: file) }
        return scanners
    }
}
