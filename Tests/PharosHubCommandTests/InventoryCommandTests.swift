import Configuration
import LinuxHost
import TestSupport
import Testing

@testable import pharos_hub

/// An inventory from its first item to the report of a count.
@Suite struct InventoryCommandTests {
    private static let identity = "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-7"
    private let files: HubFolder
    private let tools: String

    init() throws {
        files = try HubFolder()
        tools = files.path("tools.json")
        #expect(try HubProgram.run("inventory", "new", tools, "--title", "Tools").code == 0)
    }

    private func add() throws -> HubProgram.Result {
        try HubProgram.run(
            "inventory", "add", tools, "drill-7", "--name", "Cordless drill", "--beacon", Self.identity, "--place",
            "shelf", "--json")
    }

    @Test func anItemIsAddedOnce() throws {
        let added = try add()
        #expect(added.code == 0 && added.lines.first?["beacon"]?.string == Self.identity)
        let again = try add()
        #expect(again.code == 64 && again.errors.contains("drill-7"), "\(again.errors)")
        let other = try HubProgram.run("inventory", "new", tools)
        #expect(other.code == 64 && other.errors.contains("exists already"))
    }

    @Test func anItemIsChangedAndRemoved() throws {
        _ = try add()
        #expect(try HubProgram.run("inventory", "edit", tools, "drill-7", "--place", "wall").code == 0)
        let shown = try HubProgram.run("inventory", "show", tools, "drill-7", "--json")
        #expect(shown.code == 0 && shown.lines.first?["place"]?.string == "wall", "\(shown.output)")
        let wrong = try HubProgram.run("inventory", "show", tools, "drill-8")
        #expect(wrong.code == 64 && wrong.errors.contains("drill-7"), "\(wrong.errors)")
        #expect(try HubProgram.run("inventory", "remove", tools, "drill-7").code == 0)
        let list = try HubProgram.run("inventory", "list", tools, "--json")
        #expect(list.code == 0 && list.lines.first?["items"]?.elements?.isEmpty == true, "\(list.output)")
    }

    @Test func aCountIsStartedFinishedAndReported() throws {
        _ = try add()
        let none = try HubProgram.run("inventory", "finish", tools)
        #expect(none.code == 66 && none.errors.contains("no count is open"))
        let recording = try files.recording(seconds: 8)
        let start = try HubProgram.run(
            "inventory", "start", tools, "--replay", recording, "--by", "ana", "--json")
        #expect(start.code == 0)
        let found = start.lines.first { $0["event"]?.string == "found" }
        #expect(found?["id"]?.string == "drill-7" && found?["by"]?.string == "ana", "\(start.output)")
        let finish = try HubProgram.run("inventory", "finish", tools, "--by", "ana", "--json")
        #expect(finish.code == 0 && finish.lines.count == 1)
        let report = try HubProgram.run("inventory", "report", tools, "--json")
        #expect(report == finish)
        let page = files.path("report.html")
        #expect(try HubProgram.run("inventory", "report", tools, "--html", page).code == 0)
        #expect(Files.exists(page))
        let map = try HubProgram.run("inventory", "map", tools)
        #expect(map.code == 0 && map.output.contains("<html"))
    }

    @Test func anInventoryIsChecked() throws {
        _ = try add()
        let check = try HubProgram.run("inventory", "check", tools, "--json")
        #expect(check.lines.count == 1, "\(check.output) \(check.errors)")
        let empty = files.path("empty.json")
        _ = try HubProgram.run("inventory", "new", empty)
        let start = try HubProgram.run("inventory", "start", empty, "--replay", try files.recording(seconds: 1))
        #expect(start.code == 78 && start.errors.contains("the inventory has no items"))
    }
}
