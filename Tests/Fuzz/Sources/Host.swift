import BluetoothTypes
import HCI

/// Commands end in time with a result or an error, whatever the controller sends and whenever it stops.
///
/// The input is the H4 stream from the controller.
func fuzzHost(_ octets: [UInt8]) {
    let channel = SpokenChannel(octets)
    let host = HCIHost(channel: channel)
    for command: any HCICommand in [
        HCIReset(), ReadLocalVersionInformation(), LEReadLocalSupportedFeatures(), LEReadTransmitPower(), HCIReset(),
    ] {
        execute(command, host)
    }
    do throws(HCICommandError) {
        while let event = try host.nextEvent(until: channel.now.advanced(byMicroseconds: 1000)) {
            check(event.packet.kind == .event, "an event is an event")
        }
    } catch {
        check(!error.description.isEmpty, "every error has its words")
    }
}

private func execute<C: HCICommand>(_ command: C, _ host: HCIHost) {
    let start = host.now
    do throws(HCICommandError) {
        try host.execute(command, timeout: .milliseconds(50))
    } catch {
        check(!error.description.isEmpty, "every error has its words")
    }
    // The last packet may be read just before the deadline, and reading takes a millisecond.
    check(host.now.microseconds(since: start) <= 151_000, "\(C.name) ends in time")
}

/// Delivers the given packets, one per millisecond, and then nothing more.
private final class SpokenChannel: HCIChannel {
    private(set) var now = HCIInstant(nanoseconds: 0)
    private var framer = H4Framer(limit: 1024)

    init(_ octets: [UInt8]) {
        framer.push(octets)
    }

    func send(_ packet: HCIPacket) {}

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        do throws(H4Error) {
            if let packet = try framer.next() {
                now = now.advanced(byMicroseconds: 1000)
                return packet
            }
        } catch {
            throw .framing(error.description)
        }
        now = max(now, deadline)
        return nil
    }
}
