import BluetoothTypes
import HCI

/// A capture is read record by record up to the first fault. The result does not depend on how the octets are cut, and
/// the records that were read can be written.
func fuzzCapture(_ octets: [UInt8]) {
    let whole = Read(octets) { octets.count }
    check(whole == Read(octets) { 1 }, "octet by octet, the same comes out")
    var random = SplitMix64(seed: octets.reduce(0) { $0 &* 31 &+ UInt64($1) })
    check(whole == Read(octets) { Int.random(in: 0...40, using: &random) }, "in pieces of any size, the same comes out")

    let inMemory = Read(inMemory: octets)
    check(whole == inMemory, "from memory, the same comes out")
    if let error = whole.error {
        check((0...octets.count).contains(error.offset), "the fault lies inside the file: \(error)")
        check(!error.description.isEmpty, "every error has its words")
    }
    var packets: [HCIPacket] = []
    var end = 0
    for (index, record) in whole.records.enumerated() {
        check(record.index == index, "records are counted")
        check((end..<octets.count).contains(record.offset), "records follow each other")
        end = record.offset + 1
        if case .hci(let packet) = record.content { packets.append(packet) }
    }
    checkWriting(packets)
}

/// The result of reading a capture.
private struct Read: Equatable {
    var records: [CaptureRecord] = []
    var error: CaptureError?

    init(_ octets: [UInt8], pieceLength: () -> Int) {
        var reader = CaptureReader()
        var rest = octets[...]
        repeat {
            let piece = rest.prefix(pieceLength())
            rest = rest.dropFirst(piece.count)
            reader.push(piece)
            if rest.isEmpty { reader.finish() }
            do throws(CaptureError) {
                while let record = try reader.next() { records.append(record) }
            } catch {
                check(self.error == nil || self.error == error, "the fault stays the same")
                self.error = error
            }
        } while !rest.isEmpty
    }

    init(inMemory octets: [UInt8]) {
        do throws(CaptureError) {
            let capture = try Capture(octets)
            records = Array(capture)
            error = capture.fault
        } catch {
            self.error = error
        }
    }
}

private func checkWriting(_ packets: [HCIPacket]) {
    var file = BTSnoopWriter.header
    for (index, packet) in packets.enumerated() {
        file += BTSnoopWriter.record(packet, isFromController: index % 2 == 0, unixMicroseconds: Int64(index))
    }
    let read = Read(inMemory: file)
    check(read.error == nil, "what was written can be read")
    check(read.records.map(\.content) == packets.map { .hci($0) }, "packets are written as they were read")
    for record in read.records {
        check(record.isFromController == (record.index % 2 == 0), "the direction is kept")
        check(record.unixMicroseconds == Int64(record.index), "the time is kept")
    }
}
