import Configuration
import Listener
import Messaging
import Zones

/// Any file gives a listener or the reason for its refusal. Its zones and its broker, which have separate decoders, do
/// too.
func fuzzListener(_ octets: [UInt8]) {
    let (listener, problems) = ListenerFile.decode(octets)
    check((listener != nil) == !problems.contains(where: \.isError), "there is a listener, or the reason why not")
    checkWords(problems)
    if let listener {
        check(!listener.name.isEmpty, "a listener has a name")
        check(ListenerFile.levelOffsets.contains(listener.levelOffset), "levels are corrected within limits")
        check(listener.settings.window <= listener.settings.interval, "a window fits into its interval")
    }
    // A fault of the JSON text is reported once, by the decoder that reads it first.
    let (root, faults) = JSONDocument.parse(octets)
    guard let root, faults.isEmpty else { return }
    let beacons = [ZoneBeacon(name: "key", tags: ["desk"])]
    for known in [beacons, nil] { checkWords(ZoneSection(root["zones"], beacons: known).problems) }
    checkBroker(root["mqtt"])
}

private func checkBroker(_ node: JSONNode?) {
    let (broker, problems) = BrokerSection.decode(node)
    checkWords(problems)
    guard let node else { return check(broker == nil && problems.isEmpty, "where nothing stands, nothing is wrong") }
    check(
        (broker != nil) == !problems.contains(where: \.isError),
        "there is a broker, or the reason why not: \(node.path)")
    guard let broker else { return }
    let text = JSONValue.record([("url", .string(broker.address.description))]).line
    let again = BrokerSection.decode(JSONDocument.parse(Array(text.utf8)).root).section
    check(again?.address == broker.address, "an address that is printed means the same: \(text)")
}

private func checkWords(_ problems: [FileProblem]) {
    check(problems.allSatisfy { $0.line >= 1 && $0.column >= 1 }, "every problem has its place")
    check(problems.allSatisfy { !$0.message.isEmpty && !$0.description.isEmpty }, "every problem has its words")
}
