import Airtime
import Glibc
import Positioning

// Prints results with which independent implementations of the same algorithms are compared, one JSON object per line.
// Surveys and tests are JSON Lines.
//
//     PositioningProgram scores SURVEY TEST ALGORITHM WINDOW  the answer for each second of the test, with all scores
//     PositioningProgram field SURVEY GRID                    the field's levels at every cell

func contents(_ path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { fatalError("\(path) cannot be read") }
    defer { unsafe fclose(file) }
    var octets: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        guard count > 0 else { return octets }
        octets += buffer[..<count]
    }
}

func survey(_ path: String) -> Survey {
    var reader = SurveyReader(file: path)
    reader.take(contents(path))
    reader.finish()
    for problem in reader.problems { print(problem) }
    return reader.survey
}

/// Returns a score as JSON: `null` for no candidate, and the string `"infinity"` for a score that is not finite.
func text(_ score: Double?) -> String {
    guard let score else { return "null" }
    return score.isFinite ? "\(score)" : "\"infinity\""
}

let arguments = CommandLine.arguments.dropFirst()
switch (arguments.first, arguments.count) {
case ("scores", 5):
    guard let algorithm = PositioningAlgorithm(rawValue: CommandLine.arguments[4]) else {
        fatalError("which algorithm")
    }
    var settings = LocatorSettings(algorithm)
    settings.window = Int(CommandLine.arguments[5])
    settings.fingerprints = .vectors
    let map = try SignalMap(survey(CommandLine.arguments[2]))
    let test = survey(CommandLine.arguments[3])
    let numbers = map.numbers(for: test)
    var locator = try Locator(map, settings: settings)
    locator.wantsScores = true
    for stay in test.stays {
        locator.begin()
        for index in stay.vectors {
            let answer = locator.locate(map.vector(index, of: test, numbers: numbers))
            let scores = answer.scores.map(text).joined(separator: ",")
            let place = answer.place.map { "\($0)" } ?? "null"
            let position = answer.position.map { "[\($0.x),\($0.y)]" } ?? "null"
            print("{\"place\":\(place),\"position\":\(position),\"scores\":[\(scores)]}")
        }
    }
case ("field", 3):
    let map = try SignalMap(survey(CommandLine.arguments[2]))
    let field = try FieldModel(map, gridMetres: Double(CommandLine.arguments[3]))
    for (cell, place) in field.grid.cells.enumerated() {
        let means = map.beacons.indices.map { "\(field.table.mean(beacon: $0, cell: cell))" }
        let deviations = map.beacons.indices.map { "\(field.table.deviation(beacon: $0, cell: cell))" }
        print(
            "{\"position\":[\(place.position.x),\(place.position.y)],\"means\":[\(means.joined(separator: ","))],"
                + "\"deviations\":[\(deviations.joined(separator: ","))]}")
    }
default:
    fatalError("scores SURVEY TEST ALGORITHM WINDOW, or field SURVEY GRID")
}
