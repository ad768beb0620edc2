internal import Configuration

extension FleetLock {
    /// The file's text, piece by piece.
    public func write<Fault: Error>(_ sink: (_ piece: [UInt8]) throws(Fault) -> Void) throws(Fault) {
        var piece: [UInt8] = []
        piece.reserveCapacity(Self.pieceSize + 1024)
        piece += "{\n\"version\":\(Self.version),\n\"fleet\":\(JSONValue.string(fleet).line),\n\"groups\":[\n".utf8
        for (index, group) in majors.enumerated() {
            let line = JSONValue.object([
                .init("group", .string(group.group)), .init("major", .integer(group.major)),
            ]).line
            piece += (line + (index + 1 < majors.count ? ",\n" : "\n")).utf8
        }
        piece += "],\n\"beacons\":[\n".utf8
        for (index, entry) in entries.enumerated() {
            append(entry, to: &piece)
            if index + 1 < entries.count { piece.append(UInt8(ascii: ",")) }
            piece.append(0x0A)
            if piece.count >= Self.pieceSize {
                try sink(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        piece += "]\n}\n".utf8
        try sink(piece)
    }

    /// The whole text.
    public var text: [UInt8] {
        var text: [UInt8] = []
        write { text += $0 }
        return text
    }

    private static let pieceSize = 1 << 16

    private func append(_ entry: Entry, to text: inout [UInt8]) {
        text.append(staticText: "{\"name\":\"")
        text.append(contentsOf: texts[entry.nameRange])
        if entry.scope != 0 {
            text.append(staticText: "\",\"in\":\"")
            text.append(contentsOf: scopes[Int(entry.scope)].utf8)
        }
        text.append(UInt8(ascii: "\""))
        if entry.minor >= 0 {
            text.append(staticText: ",\"minor\":")
            text.append(decimal: Int(entry.minor))
        }
        if entry.instance != Self.none {
            text.append(staticText: ",\"instance\":\"")
            text.append(hexadecimal: entry.instance, octets: 6)
            text.append(UInt8(ascii: "\""))
        }
        if entry.address != Self.none {
            text.append(staticText: ",\"address\":\"")
            text.append(address: entry.address)
            text.append(UInt8(ascii: "\""))
        }
        if entry.epoch != Self.noEpoch {
            text.append(staticText: ",\"eidEpoch\":\"")
            text.append(contentsOf: RFC3339Time(secondsSince1970: Int(entry.epoch)).description.utf8)
            text.append(UInt8(ascii: "\""))
        }
        if entry.boxCount > 0 {
            text.append(staticText: ",\"box\":\"")
            text.append(contentsOf: texts[entry.boxRange])
            text.append(UInt8(ascii: "\""))
        }
        if entry.earlier > 0 {
            let boxes = earlierBoxes[Int(entry.earlier) - 1].map { JSONValue.string($0) }
            text.append(contentsOf: (",\"earlierBoxes\":" + JSONValue.array(boxes).line).utf8)
        }
        if entry.isRetired { text.append(staticText: ",\"retired\":true") }
        text.append(UInt8(ascii: "}"))
    }
}
