import BeaconFrames
import BluetoothTypes
import Glibc
import HCI
import LinuxHost
import Listener
import Sightings
import Synchronization
import TestSupport
import Testing

@testable import Inventory

/// Counts with recordings, as `pharos inventory start --replay` does.
@Suite struct CountRunTests {
    private let folder: TemporaryFolder
    private let store: InventoryStore

    init() throws {
        folder = try TemporaryFolder()
        store = InventoryStore(folder.place("tools.json"))
        try store.create(World.inventory(items: 3))
    }

    /// The events of a run, which come from several threads.
    private final class Output: Sendable {
        private let events = Mutex<[CountRun.FoundItem]>([])
        var found: [CountRun.FoundItem] { events.withLock { $0 } }

        func take(_ event: CountRun.Event) {
            if case .found(let item) = event { events.withLock { $0.append(item) } }
        }
    }

    /// A recording in which beacons send once a second.
    private func recording(_ name: String, _ beacons: [Int], seconds: Int, rssi: Int8 = -55) throws -> String {
        var octets = BTSnoopWriter.header
        for second in 0..<seconds {
            for beacon in beacons {
                let report = AdvertisingReport(
                    type: .legacy(3), addressType: .random,
                    address: DeviceAddress(FixedOctets(repeating: 0xC0 + UInt8(beacon))), rssi: rssi,
                    data: AdvertisingData(octets: World.data(beacon)))
                octets += BTSnoopWriter.record(
                    HCIEvent.advertisingReports([report]).packet, isFromController: true,
                    unixMicroseconds: 1_790_000_000_000_000 + Int64(second) * 1_000_000 + Int64(beacon) * 1000)
            }
        }
        return try folder.file(name, octets)
    }

    private func run(_ files: [String], by: String = "ana") throws -> (run: CountRun, output: Output) {
        let inventory = try store.read()
        let output = Output()
        let run = CountRun(store, inventory, others: [], rule: inventory.rule, by: by, receiver: InventoryReceiver()) {
            output.take($0)
        }
        for file in files { try run.replay(file, countName: nil) }
        return (run, output)
    }

    @Test("counting a recording gives a log and a report of found and missing items")
    func replay() throws {
        let (run, output) = try run([recording("walk.btsnoop", [0, 1], seconds: 8)])
        #expect(output.found.map(\.item.id) == ["item-1", "item-2"])
        #expect(output.found.map(\.found) == [1, 2])
        #expect(output.found[0].text == "found item-1  Thing 1  after 4 s, 0.63 m, 1 of 3")
        let report = try #require(try run.report())
        #expect(report.outcomes.map(\.state) == [.found, .found, .missing])
        #expect(report.receivers.map(\.header.receiver) == ["walk.btsnoop"])
        #expect(report.receivers.map(\.isEnded) == [true])
        #expect(
            report.summaryText(of: "tools.json").hasSuffix("2 of 3 found, 1 missing.\n  item-3  Thing 3  missing\n"))
    }

    @Test("an item already found by another person is not reported again")
    func secondPart() throws {
        _ = try run([recording("first.btsnoop", [0], seconds: 6)])
        let (run, output) = try run([recording("second.btsnoop", [0, 2], seconds: 6)], by: "ben")
        #expect(output.found.map(\.item.id) == ["item-3"])
        #expect(output.found.map(\.found) == [2])
        #expect(try run.report()?.by == ["ana", "ben"])
    }

    @Test("a finished count keeps its report, and the next count starts empty")
    func finish() throws {
        _ = try run([recording("walk.btsnoop", [0], seconds: 6)])
        let name = try store.finish(try store.read(), by: "ana", name: nil)
        #expect(throws: InventoryError.self) { try store.finish(try store.read(), by: "ana", name: nil) }
        _ = try store.change { inventory throws(InventoryError) in try inventory.remove("item-1") }
        #expect(try store.lastReport(try store.read(), of: name).outcomes.count == 3)
        _ = try run([recording("again.btsnoop", [1], seconds: 6)])
        #expect(store.countNames == [name, name + "-2"])
        let report = try store.lastReport(try store.read())
        #expect(report.outcomes.map(\.state) == [.found, .missing])
        #expect(report.changes.map(\.kind) == [.foundAgain, .stillMissing, .removed])
    }

    @Test("finish ends the last open count, and lists counts that are not open")
    func finishesOpenCounts() throws {
        let inventory = try store.read()
        for name in ["eins", "zwei"] { _ = try store.begin(inventory, by: "ana", name: name) }
        #expect(try store.finish(inventory, by: "ana", name: nil) == "zwei")
        let again = #expect(throws: InventoryError.self) { try store.finish(inventory, by: "ana", name: "zwei") }
        #expect(again?.messages == ["--count \"zwei\": this count is finished already"])
        let unknown = #expect(throws: InventoryError.self) { try store.finish(inventory, by: "ana", name: "drei") }
        #expect(unknown?.messages.first?.hasSuffix("there are eins, zwei") == true)
        #expect(try store.finish(inventory, by: "ana", name: nil) == "eins")
        let none = #expect(throws: InventoryError.self) { try store.finish(inventory, by: "ana", name: nil) }
        #expect(none?.messages.first?.contains("no count is open") == true)
    }

    @Test("the listing has the item states of the last count")
    func listing() throws {
        let (run, _) = try run([recording("walk.btsnoop", [0], seconds: 6)])
        let report = try run.report()
        let all = InventoryListing(try store.read(), report, onlyMissing: false).text
        #expect(all.contains("item-1"))
        let missing = InventoryListing(try store.read(), report, onlyMissing: true).text
        #expect(!missing.contains("item-1 "))
        #expect(missing.contains("item-2"))
        #expect(InventoryListing(Inventory(name: "empty"), nil, onlyMissing: false).text == "empty has no items yet.\n")
    }

    @Test("the beacon next to the receiver is chosen, unless it belongs to another item")
    func nearest() throws {
        func pick(_ inventory: Inventory, rssi: Int8) throws -> NearestPick.Answer {
            let listener = NearestListener(
                inventory, known: [], distances: DistanceEstimate.Rule(), onProgress: { _ in }, onWarning: { _ in })
            return try listener.run(
                try InventoryReceiver().recording(try recording("held.btsnoop", [2], seconds: 8, rssi: rssi)))
        }
        #expect(try pick(Inventory(name: "empty"), rssi: -50).identity == World.identity(2))
        let far = #expect(throws: InventoryError.self) { try pick(Inventory(name: "empty"), rssi: -70) }
        #expect(far?.kind == .busy)
        let taken = #expect(throws: InventoryError.self) { try pick(try store.read(), rssi: -50) }
        #expect(taken?.kind == .request)
    }

    @Test("a forged journal writes nothing outside its count, and a damaged one does not stop others")
    func forgedJournals() throws {
        _ = try run([try recording("walk.btsnoop", [0], seconds: 5)])
        _ = try store.finish(try store.read(), by: "ana", name: nil)
        let good = try #require(store.countNames.last)
        // Written by another person who shares the directory.
        for (name, count) in [("2999-01-01", "../../elsewhere"), ("2999-01-02", "/tmp/elsewhere")] {
            let line =
                #"{"event":"count","v":1,"count":"\#(count)","inventory":"tools","at":"2999-01-01T00:00:00Z","by":"eve"}"#
            try folder.file("tools.counts/\(name)/count.jsonl", text: line + "\n")
        }
        try folder.file("tools.counts/2999-01-03/count.jsonl", text: "no journal\n")
        let report = try store.lastReport(try store.read())
        #expect(report.countName == good)
        for name in ["2999-01-01", "2999-01-02", "2999-01-03"] {
            #expect(report.warnings.contains("\(name)/count.jsonl: this is not a log of a count; it was ignored"))
        }
        #expect(throws: InventoryError.self) { try store.report(try store.read(), of: "2999-01-01") }
        // A new count begins in a directory of its own.
        _ = try run([try recording("walk.btsnoop", [1], seconds: 5)])
        #expect(!Files.exists(folder.place("elsewhere")) && !Files.exists(folder.path + "/../elsewhere"))
        #expect(store.countNames.count == 5)
    }

    @Test("a named pipe among the logs of a count is reported as a damaged log")
    func pipeAmongLogs() throws {
        _ = try run([try recording("walk.btsnoop", [0], seconds: 5)])
        let name = try #require(store.countNames.last)
        try #require(unsafe mkfifo(folder.place("tools.counts/\(name)/other.jsonl"), 0o600) == 0)
        let report = try store.lastReport(try store.read())
        #expect(report.warnings == ["other.jsonl: this is not a log of a count; it was ignored"])
    }
}
