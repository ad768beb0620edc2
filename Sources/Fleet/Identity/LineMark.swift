/// The check mark of a line of a lock file: CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF) over the line's octets
/// from its brace to the mark. It finds every damage within 16 bits in a row, one damaged octet among them, and depends
/// on no other line, so that lines can be merged.
enum LineMark {
    /// Octets of `,"check":"1a2b"`.
    static let memberLength = 15

    private static let table: [UInt16] = (0..<256).map { octet in
        (0..<8).reduce(UInt16(octet) << 8) { state, _ in state & 0x8000 != 0 ? state << 1 ^ 0x1021 : state << 1 }
    }

    static func of(_ text: [UInt8], _ range: Range<Int>) -> UInt16 {
        let table = table
        let (steps, octets) = (table.span, text.span)
        var state: UInt16 = 0xFFFF
        for index in range { state = state << 8 ^ steps[Int(UInt8(truncatingIfNeeded: state >> 8) ^ octets[index])] }
        return state
    }

    /// Appends the mark of what stands from `start` on.
    static func append(from start: Int, to text: inout [UInt8]) {
        let mark = of(text, start..<text.count)
        text.append(staticText: ",\"check\":\"")
        text.append(hexadecimal: UInt64(mark), octets: 2)
        text.append(UInt8(ascii: "\""))
    }

    /// What is said of a line whose mark does not fit it.
    static let fault =
        "the check mark of this line does not fit it: an octet is damaged, or the line was changed by hand; restore it "
        + "from version control, or take its \"check\" out where the change is meant"
}
