import Positioning
import Testing

@Suite struct BeaconKeyTests {
    @Test func addressInLowerCaseGivesTheSameKey() {
        let identity = "uid:00112233445566778899-0123456789ab"
        #expect(BeaconKey("\(identity)@c0:ff:ee:00:00:0a") == BeaconKey("\(identity)@C0:FF:EE:00:00:0A"))
    }
}
