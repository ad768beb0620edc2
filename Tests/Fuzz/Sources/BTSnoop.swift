import HCI

/// A file is read record by record up to the fault, if any, and what was read can be written.
func fuzzBTSnoop(_ octets: [UInt8]) {
    let span = octets.span
    var packets: [HCIPacket] = []
    do throws(BTSnoopError) {
        var cursor = try BTSnoopCursor(span)
        var end = cursor.offset
        while let record = try nextRecord(&cursor, octets) {
            check(record.offset == end, "records follow each other")
            end = cursor.offset
            check(record.octets.upperBound == end, "a record ends with its octets")
            check(record.index == cursor.count - 1, "records are counted")
            if let packet = record.packet(in: span) { packets.append(packet) }
        }
        check(end == octets.count, "a file without a fault is read to its end")
    } catch {
        check((0...octets.count).contains(error.offset), "the fault lies inside the file: \(error)")
        check(!error.description.isEmpty, "every error has its words")
    }
    checkWriting(packets)
}

private func nextRecord(_ cursor: inout BTSnoopCursor, _ octets: [UInt8]) throws(BTSnoopError) -> BTSnoopRecord? {
    do throws(BTSnoopError) {
        return try cursor.next(in: octets.span)
    } catch {
        let after = try cursor.next(in: octets.span)
        check(after == nil, "nothing is read behind a fault")
        throw error
    }
}

private func checkWriting(_ packets: [HCIPacket]) {
    var file = BTSnoopWriter.header
    for (index, packet) in packets.enumerated() {
        file += BTSnoopWriter.record(packet, isFromController: index % 2 == 0, unixMicroseconds: Int64(index))
    }
    var read: [HCIPacket] = []
    do throws(BTSnoopError) {
        var cursor = try BTSnoopCursor(file.span)
        while let record = try cursor.next(in: file.span) {
            check(record.isFromController == (record.index % 2 == 0), "the direction is kept")
            check(record.unixMicroseconds == Int64(record.index), "the time is kept")
            if let packet = record.packet(in: file.span) { read.append(packet) }
        }
    } catch {
        check(false, "what was written can be read: \(error)")
    }
    check(read == packets, "packets are written as they were read")
}
