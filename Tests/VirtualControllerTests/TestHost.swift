import BluetoothTypes
import HCI
import Testing
import VirtualController

/// A host that reads its controller's packets octet by octet, without the library's decoders.
final class TestHost {
    let channel: VirtualChannel
    /// Every LE Meta event so far, without code and length.
    private(set) var meta: [[UInt8]] = []

    init(_ model: VirtualControllerModel = .raspberryPi, on air: VirtualAir = VirtualAir()) {
        channel = VirtualChannel(model, on: air)
    }

    var air: VirtualAir { channel.air }
    var controller: VirtualController { channel.controller }

    /// Sends a command and returns the octets of its answer: the next Command Complete or Command Status.
    func answer(to command: RawCommand, within microseconds: Int = 0) throws -> [UInt8]? {
        try channel.send(command.packet)
        return try next(until: air.now.advanced(byMicroseconds: microseconds)) { octets in
            octets[0] == 0x0E || octets[0] == 0x0F
        }
    }

    /// Sends a command and returns the answer's status.
    @discardableResult
    func send(_ command: RawCommand) throws -> UInt8? {
        guard let answer = try answer(to: command) else { return nil }
        let opcode: [UInt8] = [UInt8(truncatingIfNeeded: command.opcode), UInt8(command.opcode >> 8)]
        let isComplete = answer[0] == 0x0E
        #expect(Array(isComplete ? answer[3...4] : answer[4...5]) == opcode)
        return isComplete ? answer[5] : answer[2]
    }

    /// Sends commands that must all succeed.
    func send(_ commands: [RawCommand], sourceLocation: SourceLocation = #_sourceLocation) throws {
        for command in commands {
            let status = try send(command)
            #expect(status == 0, "\(Hexadecimal.number(command.opcode, width: 4))", sourceLocation: sourceLocation)
        }
    }

    /// Returns the return parameters of a command after its status.
    func returned(_ command: RawCommand) throws -> [UInt8] {
        Array(try #require(try answer(to: command)).dropFirst(6))
    }

    /// Lets time pass and returns the LE Meta events of that time.
    @discardableResult
    func listen(milliseconds: Int) throws -> [[UInt8]] {
        let before = meta.count
        let end = air.now.advanced(byMicroseconds: milliseconds * 1000)
        _ = try next(until: end) { _ in false }
        return Array(meta[before...])
    }

    private func next(until deadline: HCIInstant, where isWanted: ([UInt8]) -> Bool) throws -> [UInt8]? {
        while let packet = try channel.receive(until: deadline) {
            #expect(packet.kind == .event)
            #expect(packet.octets.count >= 2 && packet.octets.count == 2 + Int(packet.octets[1]))
            if packet.octets[0] == 0x3E { meta.append(Array(packet.octets.dropFirst(2))) }
            if isWanted(packet.octets) { return packet.octets }
        }
        return nil
    }
}

extension VirtualControllerModel {
    /// A model without LE Coded.
    static let uncoded: Self = {
        var model = intel
        model.features.remove(.leCodedPHY)
        return model
    }()
}

/// A sequence of commands, with the status that each must get.
struct Probe: CustomTestStringConvertible, Sendable {
    let fact: String
    let model: VirtualControllerModel
    let steps: [(RawCommand, UInt8)]

    init(_ fact: String, _ model: VirtualControllerModel, _ steps: [(RawCommand, UInt8)]) {
        self.fact = fact
        self.model = model
        self.steps = steps
    }

    var testDescription: String { fact }

    func run() throws {
        let host = TestHost(model)
        for (number, step) in zip(1..., steps) {
            let status = try host.send(step.0)
            #expect(status == step.1, "step \(number), \(Hexadecimal.number(step.0.opcode, width: 4))")
        }
    }
}
