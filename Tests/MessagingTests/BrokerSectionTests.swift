import Configuration
import Messaging
import Testing

@Suite struct BrokerSectionTests {
    private func decode(_ text: String) -> (section: BrokerSection?, problems: [FileProblem]) {
        BrokerSection.decode(JSONDocument.parse(Array(text.utf8)).root)
    }

    @Test func readsAllKeys() throws {
        let (section, problems) = decode(
            #"""
            {"url":"mqtts://broker.example","userFile":"user","caFile":"ca.pem","certificateFile":"c.pem","keyFile":"k.pem",
             "espresense":true,"theengs":true,"raddec":true,"homeAssistant":{"before":"2026.7"}}
            """#)
        let found = try #require(section)
        #expect(problems.isEmpty)
        #expect(found.address.description == "mqtts://broker.example:8883" && found.address.isSecure)
        #expect(found.userFile == "user" && found.authorityFile == "ca.pem")
        #expect(found.certificateFile == "c.pem" && found.keyFile == "k.pem")
        #expect(found.publishesBeacons && found.publishesESPresense && found.publishesTheengs && found.publishesRaddec)
        #expect(found.homeAssistant == HomeAssistant.Settings(before: "2026.7"))
    }

    @Test(arguments: [
        ("mqtt://nix.invalid:1883", true), ("mqtt://10.0.0.1:1883", false), ("mqtt://[fe80::1]:1883", false),
    ])
    func aBrokerThatDoesNotAnswerMayHaveAnUnknownName(_ broker: String, _ hasName: Bool) {
        let text = "\(BrokerError.unreachable(broker, reason: nil))"
        #expect(text.hasPrefix("\(broker): no broker answers there"))
        #expect(text.contains("the name of the host cannot be resolved") == hasName, "\(text)")
    }

    @Test(arguments: [
        ("mqtt://localhost", "mqtt://localhost:1883"), ("mqtt://10.0.0.1:1884/", "mqtt://10.0.0.1:1884"),
        ("mqtts://[::1]", "mqtts://[::1]:8883"), ("mqtt://[fe80::1%eth0]:99", "mqtt://[fe80::1%eth0]:99"),
    ])
    func addresses(text: String, address: String) {
        #expect(decode("{\"url\":\"\(text)\",\"homeAssistant\":true}").section?.address.description == address)
    }

    @Test(arguments: [
        (#"{}"#, "\"url\" is missing"), (#"{"url":"broker"}"#, "mqtt://HOST"), (#"{"url":"http://a"}"#, "mqtt://HOST"),
        (#"{"url":"mqtt://"}"#, "mqtt://HOST"), (#"{"url":"mqtt://a b"}"#, "mqtt://HOST"),
        (#"{"url":"mqtt://ana:secret@a"}"#, "userFile"), (#"{"url":"mqtt://a:0"}"#, "1 to 65535"),
        (#"{"url":"mqtt://a:99999"}"#, "1 to 65535"), (#"{"url":"mqtt://::1"}"#, "brackets"),
        (#"{"url":"mqtt://a","caFile":"x"}"#, "mqtts://"), (#"{"url":"mqtts://a","keyFile":"x"}"#, "both"),
        (#"{"url":"mqtt://a","password":"x"}"#, "userFile"), (#"{"url":"mqtt://a","espresense":1}"#, "true or false"),
        (#"{"url":"mqtt://a","homeAssistant":{"before":"7"}}"#, "2026.7"),
        (#"{"url":"mqtt://a","homeAssistant":"yes"}"#, "true, false"), (#"{"url":5}"#, "string"), (#"[]"#, "object"),
    ])
    func mistakesAreNamed(text: String, part: String) {
        let (section, problems) = decode(text)
        #expect(section == nil)
        #expect(problems.contains { $0.isError && $0.message.contains(part) }, "\(problems)")
    }

    @Test func warnsOfAPasswordInPlainText() {
        let text = #"{"url":"mqtt://HOST","userFile":"user"}"#
        func problems(_ host: String) -> [FileProblem] {
            decode(text.split(separator: "HOST").joined(separator: host)).problems
        }
        #expect(problems("broker").contains { !$0.isError && $0.message.contains("mqtts://") })
        #expect(problems("127.0.0.1").isEmpty)
    }
}
