/// One packet between host and controller: what an H4 type octet announces, without that octet.
///
/// Core Specification 5.4, Vol 4 Part A 2.
public struct HCIPacket: Hashable, Sendable {
    /// The H4 packet indicator.
    public enum Kind: UInt8, Hashable, Sendable {
        case command = 1
        case acl = 2
        case sco = 3
        case event = 4
        case iso = 5
    }

    public var kind: Kind
    /// Header and parameters: for a command opcode, length and parameters; for an event code, length and parameters.
    public var octets: [UInt8]

    /// A packet of `octets` without the H4 type octet. Whether its lengths are right is not looked at.
    public init(_ kind: Kind, _ octets: [UInt8]) {
        self.kind = kind
        self.octets = octets
    }

    /// The packet as H4 sends it.
    public var h4: [UInt8] { [kind.rawValue] + octets }
}
