import BluetoothTypes
import HCI

/// The packets, the fault and the rest of a stream do not depend on how it is cut.
func fuzzH4(_ octets: [UInt8]) {
    for limit in [H4Framer.longestPacket, 64] {
        let whole = Framed(octets, limit: limit) { octets.count }
        check(whole == Framed(octets, limit: limit) { 1 }, "octet by octet, the same comes out")
        var random = SplitMix64(seed: octets.reduce(0) { $0 &* 31 &+ UInt64($1) })
        let pieces = Framed(octets, limit: limit) { Int.random(in: 0...9, using: &random) }
        check(whole == pieces, "in pieces of any size, the same comes out")

        let read = whole.packets.flatMap(\.h4)
        check(octets.starts(with: read), "packets are the stream's octets")
        check(whole.packets.allSatisfy { $0.h4.count <= limit }, "no packet is over the limit")
        if let error = whole.error {
            check(error.offset == read.count, "the fault lies behind the last packet")
        } else {
            check(whole.pending == octets.count - read.count, "what is no packet yet waits")
        }
    }
}

/// The result of reading a stream.
private struct Framed: Equatable {
    var packets: [HCIPacket] = []
    var error: H4Error?
    var pending = 0

    init(_ octets: [UInt8], limit: Int, pieceLength: () -> Int) {
        var framer = H4Framer(limit: limit)
        var rest = octets[...]
        repeat {
            let piece = rest.prefix(pieceLength())
            rest = rest.dropFirst(piece.count)
            framer.push(Array(piece))
            do throws(H4Error) {
                while let packet = try framer.next() { packets.append(packet) }
            } catch {
                check(self.error == nil || self.error == error, "the fault stays the same")
                self.error = error
            }
        } while !rest.isEmpty
        pending = framer.pending
    }
}
