internal import ArgumentParser
internal import Fleet
internal import LinuxHost

struct FleetInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a fleet file to start from.")

    @Argument(
        help: "museum (rooms and iBeacon), shop (sites and Eddystone) or car-park (a table).",
        transform: FleetInit.sample)
    var sample: FleetSample = .museum

    @Option(name: .shortAndLong, help: ArgumentHelp("The fleet file to make.", valueName: "file"), completion: .file())
    var output: String?

    func run() throws {
        let path = output ?? sample.rawValue + ".json"
        var files = [(path, sample.text)]
        if let table = sample.table { files.append((InputFile.directory(of: path) + table.name, table.text)) }
        for (path, _) in files where Files.exists(path) {
            throw Failure(.usage, "\(path): this file is there already; name another with --output")
        }
        for (path, text) in files {
            do throws(SystemError) {
                try Files.replace(path, with: Array(text.utf8))
            } catch {
                throw Failure(error.errno == SystemError.noEntry ? .noInput : .osError, "\(path): \(error.text)")
            }
        }
        let made = files.map(\.0).joined(separator: " and ")
        Terminal.write("Made \(made). Next: pharos fleet check \(path)\n")
    }

    private static func sample(_ text: String) throws -> FleetSample {
        if let sample = FleetSample(rawValue: text) { return sample }
        let known = FleetSample.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("There is no sample \"\(text)\"; there are \(known).")
    }
}
