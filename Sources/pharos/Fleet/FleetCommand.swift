internal import ArgumentParser

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Make and check the profiles of many machines from one file.",
        discussion: """
            One JSON file, with a table where there is one, says what all boxes send. Try `pharos fleet init museum`, \
            then `pharos fleet check museum.json` and `pharos fleet generate museum.json --output museum`.
            """,
        subcommands: [
            FleetInit.self, FleetCheck.self, FleetList.self, FleetGenerate.self, FleetDiffCommand.self,
            FleetStatus.self,
            FleetLabels.self,
            FleetKeysCommand.self, FleetExport.self, FleetSchemaCommand.self,
        ])
}
