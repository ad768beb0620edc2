import BluetoothTypes
import Testing

@Test(arguments: ["020106ff", "02 01 06 FF", "02:01:06:fF", "02-01-06-ff", "0201\n06ff", "0201\r\n06ff", "0201\t06ff"])
func octetsAreReadWithOrWithoutSeparators(text: String) throws {
    #expect(try Hexadecimal.octets(text) == [0x02, 0x01, 0x06, 0xFF])
}

@Test(arguments: [
    ("0", HexadecimalError(.halfOctet, at: 1)),
    ("02010", HexadecimalError(.halfOctet, at: 5)),
    ("0 2", HexadecimalError(.halfOctet, at: 1)),
    ("02g1", HexadecimalError(.notADigit("g"), at: 2)),
    ("0x02", HexadecimalError(.notADigit("x"), at: 1)),
    ("02\u{0664}1", HexadecimalError(.notADigit("\u{0664}"), at: 2)),
    ("\u{FF11}0", HexadecimalError(.notADigit("\u{FF11}"), at: 0)),
])
func invalidHexadecimalIsRefusedWithItsOffset(text: String, error: HexadecimalError) {
    #expect(throws: error) { try Hexadecimal.octets(text) }
}

@Test func everyOctetIsWrittenWithTwoDigitsAndReadAgain() throws {
    let all = Array(UInt8.min...UInt8.max)
    #expect(try Hexadecimal.octets(Hexadecimal.text(all)) == all)
    #expect(try Hexadecimal.octets(Hexadecimal.text(all, separator: ":")) == all)
    #expect(Hexadecimal.text([0x00, 0x0A, 0xFF]) == "000aff")
    #expect(Hexadecimal.number(0x4C, width: 4) == "0x004C")
    #expect(Hexadecimal.number(0x12345, width: 4) == "0x12345")
}

@Test func fixedOctetsTakeExactlyTheirCount() throws {
    #expect(FixedOctets<3>([1, 2, 3])?.octets == [1, 2, 3])
    #expect(FixedOctets<3>([1, 2]) == nil)
    #expect(FixedOctets<3>([1, 2, 3, 4]) == nil)
    #expect(throws: HexadecimalError(.wrongLength(expected: 2, found: 3), at: 0)) {
        try FixedOctets<2>(hexadecimal: "010203")
    }
    #expect(try FixedOctets<2>(hexadecimal: "0A:0b").description == "0a0b")
    #expect(FixedOctets<3>([1, 2, 3])?.reversed == FixedOctets([3, 2, 1]))
}

@Test func fixedOctetsAreCopiedOnlyFromInsideASpan() {
    let octets: [UInt8] = [1, 2, 3, 4]
    let copies = [0, 2, 3, 4, 5, -1, .max, .min].map { FixedOctets<2>(octets.span, at: $0)?.octets }
    #expect(copies == [[1, 2], [3, 4], nil, nil, nil, nil, nil, nil])
}

@Test func fixedOctetsCompareAsNumbers() {
    let low = FixedOctets<2>([1, 0xFF])
    let high = FixedOctets<2>([2, 0])
    #expect(low ?? .init() < high ?? .init())
    #expect(!(high ?? .init() < low ?? .init()))
    #expect(Set([low, high, low]).count == 2)
}

@Test func integersAreReadAndWrittenInBothOrders() {
    let octets: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]
    let span = octets.span
    #expect([span.uint16BigEndian(at: 0), span.uint16LittleEndian(at: 0)] == [0x0102, 0x0201])
    #expect([span.uint32BigEndian(at: 0), span.uint32LittleEndian(at: 0)] == [0x0102_0304, 0x0403_0201])
    #expect(
        [span.uint64BigEndian(at: 0), span.uint64LittleEndian(at: 0)]
            == [0x0102_0304_0506_0708, 0x0807_0605_0403_0201])
    #expect(span.array(2..<4) == [0x03, 0x04])
    var written: [UInt8] = []
    written.append(bigEndian: UInt32(0x0102_0304))
    written.append(littleEndian: Int16(-2))
    #expect(written == [0x01, 0x02, 0x03, 0x04, 0xFE, 0xFF])
}
