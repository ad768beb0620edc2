internal import BluetoothTypes
internal import Profiles

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

extension [UInt8] {
    mutating func append(staticText: StaticString) {
        staticText.withUTF8Buffer { unsafe self.append(contentsOf: $0) }
    }

    mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = count
        repeat {
            append(UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0"))
            rest /= 10
        } while rest > 0
        var (low, high) = (start, count - 1)
        while low < high {
            swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// Lower-case digits of the lowest octets, the most significant first.
    mutating func append(hexadecimal value: UInt64, octets: Int) {
        for place in stride(from: 8 * octets - 4, through: 0, by: -4) {
            append(Self.digit(value >> UInt64(place) & 0xF, letters: UInt8(ascii: "a")))
        }
    }

    /// Upper-case digits with colons, as ``DeviceAddress`` prints itself.
    mutating func append(address: UInt64) {
        for octet in (0..<6).reversed() {
            let value = address >> UInt64(8 * octet)
            append(Self.digit(value >> 4 & 0xF, letters: UInt8(ascii: "A")))
            append(Self.digit(value & 0xF, letters: UInt8(ascii: "A")))
            if octet > 0 { append(UInt8(ascii: ":")) }
        }
    }

    private static func digit(_ value: UInt64, letters: UInt8) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return value < 10 ? value + UInt8(ascii: "0") : value - 10 + letters
    }
}
