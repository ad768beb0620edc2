import BluetoothTypes
import HCI

/// Every command packet can be described in words, and every layout that accepts the parameters writes the same ones.
func fuzzCommand(_ octets: [UInt8]) {
    let packet = HCIPacket(.command, octets)
    let description = HCICommandDescription.describe(packet)
    check((description != nil) == (packet.commandHeader != nil), "what has a header has a description")

    let parameters = Array(octets.dropFirst(3))
    if let description, let header = packet.commandHeader {
        check(header.opcode == description.opcode, "the description is that of the command")
        check(Array(octets[header.parameters]) == parameters, "parameters follow the header")
        check(!description.name.isEmpty, "every command has a name")
        check(description.fields.allSatisfy { !$0.name.isEmpty && !$0.value.isEmpty }, "no field is empty")
    }
    for type in HCICommands.all { checkLayout(type, parameters) }
}

private func checkLayout<C: HCICommand>(_ type: C.Type, _ parameters: [UInt8]) {
    guard let command = C(parameters: parameters.span) else { return }
    check(command.parameters == parameters, "\(C.name) is written as it was read: \(command)")
    check(parameters.count <= 255, "\(C.name) fits into a packet")
    check(command.packet.commandHeader?.opcode == C.opcode, "\(C.name) makes a good packet")
    check(command.fields.allSatisfy { !$0.name.isEmpty && !$0.value.isEmpty }, "no field of \(C.name) is empty")
}
