internal import HCI
internal import LinuxHost
internal import VirtualController

/// One host of a virtual controller: its stream, and what it has not yet taken.
final class VirtualControllerClient {
    let stream: Descriptor
    var controller: VirtualController?
    /// The host has gone, or speaks no H4.
    private(set) var isFinished = false
    private let isPacketOriented: Bool
    private var framer = H4Framer()
    private var outgoing = PacketBacklog()
    private static let readsInATurn = 16

    /// - Parameter isPacketOriented: each read and each write is one whole packet, as /dev/vhci wants it.
    init(_ stream: Descriptor, isPacketOriented: Bool) {
        self.stream = stream
        self.isPacketOriented = isPacketOriented
    }

    /// What is worth waiting for. A host that takes no answers is asked for no commands.
    var interest: Poller.Interest {
        Poller.Interest(stream, outgoing.isFull ? .write : outgoing.isEmpty ? .read : .readAndWrite)
    }

    /// Takes what the host has written, but only so much that the others have their turn soon.
    func readAvailable() {
        for _ in 0..<Self.readsInATurn where !isFinished && !outgoing.isFull {
            let octets: [UInt8]
            do throws(SystemError) {
                octets = try stream.read(upTo: 4096)
            } catch {
                if error.errno != SystemError.wouldBlock { isFinished = true }
                return
            }
            guard !octets.isEmpty else {
                isFinished = true
                return
            }
            take(octets)
        }
    }

    private func take(_ octets: [UInt8]) {
        if isPacketOriented {
            // The kernel's answer to the creation of the controller is a packet of type FF.
            guard let kind = octets.first.flatMap(HCIPacket.Kind.init) else { return }
            controller?.receive(HCIPacket(kind, Array(octets.dropFirst())))
            return
        }
        framer.push(octets)
        answerPackets()
    }

    /// Hands over the packets that have been read, for as long as there is room for their answers.
    private func answerPackets() {
        do throws(H4Error) {
            while !outgoing.isFull, let packet = try framer.next() { controller?.receive(packet) }
        } catch {
            // H4 has no way back into step.
            isFinished = true
        }
    }

    func queue(_ packet: HCIPacket) {
        outgoing.append(packet)
    }

    /// Writes what the host takes without making us wait.
    func flush() {
        while !outgoing.isEmpty, !isFinished {
            let wasFull = outgoing.isFull
            let octets = outgoing.head(isPacketOriented: isPacketOriented)
            do throws(SystemError) {
                outgoing.removeFirst(try stream.write(octets))
                // Packets that had to wait for this are not announced by the stream any more.
                if wasFull && !outgoing.isFull { answerPackets() }
            } catch {
                switch error.errno {
                case SystemError.wouldBlock: return
                // The kernel has the adapter down, and wants to hear nothing of it until it is up again.
                case SystemError.noDeviceOrAddress where isPacketOriented: outgoing.removeFirst(octets.count)
                default: isFinished = true
                }
            }
        }
    }
}
