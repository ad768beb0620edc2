public import HCI

/// What goes wrong with one packet on its way to or from a virtual controller.
public enum VirtualFault: Hashable, Sendable {
    /// Nothing.
    case pass
    /// It is lost: a command is not worked on, an event not sent.
    case drop
    /// It arrives so much later, in microseconds; others may overtake it.
    case delay(microseconds: Int)
    /// Another packet arrives in its place.
    case replace(HCIPacket)
    /// A command is not worked on, but answered with this status; an answer carries this status instead of its own.
    /// Other packets pass.
    case fail(HCIStatus)
    /// The answer carries no credits (Num_HCI_Command_Packets 0). After so many microseconds an answer to no command
    /// gives them back; `nil`: it never comes.
    case withoutCredits(forMicroseconds: Int?)
    /// The controller is gone from this moment on.
    case vanish
}

/// For how long answers carry no credits, in microseconds; `nil`: for ever.
struct CreditWithholding {
    let microseconds: Int?
}
