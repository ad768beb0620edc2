internal import BluetoothTypes

/// Writes one note an octet, from the first to the last.
///
/// The next octet to explain is always the one after the last note, and nothing is written beyond ``end``. So a field
/// that is cut off simply gets fewer notes, and no octets can make an explanation lose count.
struct OctetExplainer {
    private let octets: [UInt8]
    private(set) var notes: [OctetNote] = []
    /// Where the AD structure in work ends.
    private var end = 0

    init(_ octets: [UInt8]) {
        self.octets = octets
        notes.reserveCapacity(octets.count)
    }

    /// Octets of the structure that are not explained yet.
    var left: Int { end - notes.count }

    /// The octet `ahead` of the next one to explain; `nil` beyond the structure's end.
    func peek(_ ahead: Int = 0) -> UInt8? {
        ahead < left ? octets[notes.count + ahead] : nil
    }

    /// The next `count` octets; `nil` when fewer are left.
    func peek(count: Int) -> ArraySlice<UInt8>? {
        count <= left ? octets[notes.count..<notes.count + count] : nil
    }

    /// Explains the next octet, if there is one.
    mutating func note(_ field: String, _ meaning: String) {
        guard let octet = peek() else { return }
        notes.append(OctetNote(offset: notes.count, octet: octet, field: field, meaning: meaning))
    }

    /// Explains the next `count` octets as the parts of one `value`; what is cut off is said to be.
    mutating func row(_ field: String, count: Int, value: String) {
        let isCut = left < count
        for index in 0..<min(count, left) {
            note(field, (isCut ? "cut off" : value) + ", octet \(index + 1) of \(count)")
        }
    }

    /// Explains a 16-bit number, whose order on the air is `bigEndian` or not.
    mutating func number16(_ field: String, bigEndian: Bool, _ describe: (UInt16) -> String) {
        guard let high = peek(bigEndian ? 0 : 1), let low = peek(bigEndian ? 1 : 0) else {
            return row(field, count: 2, value: "")
        }
        let value = describe(UInt16(high) << 8 | UInt16(low))
        note(field, "\(value), \(bigEndian ? "most" : "least") significant octet")
        note(field, "\(value), \(bigEndian ? "least" : "most") significant octet")
    }

    /// Explains a 32-bit number, most significant octet first.
    mutating func number32(_ field: String, _ describe: (UInt32) -> String) {
        let value = peek(count: 4)?.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        row(field, count: 4, value: value.map(describe) ?? "")
    }

    /// Explains all octets that are left in the structure in the same words.
    mutating func rest(_ field: String, _ meaning: String) {
        while left > 0 { note(field, meaning) }
    }

    /// Explains all octets that are left as those of a value that is not understood.
    mutating func restAsData(_ field: String) {
        let count = left
        for index in 0..<count { note(field, "octet \(index + 1) of \(count)") }
    }

    mutating func explainStructures() {
        while notes.count < octets.count {
            let available = octets.count - notes.count - 1
            let length = Int(octets[notes.count])
            guard length > 0 else { return explainTermination() }
            end = notes.count + 1 + min(length, available)
            let isTruncated = length > available
            note(
                "length",
                "\(length) \(length == 1 ? "octet follows" : "octets follow"): type and data"
                    + (isTruncated ? ", but only \(available) are there" : ""))
            guard let type = peek().map(ADType.init(rawValue:)) else { continue }
            note("AD type", type.name)
            explainData(of: type)
            rest("surplus", "more octets than this structure has fields")
        }
    }

    private mutating func explainTermination() {
        end = octets.count
        note("length", "0: early termination, no structure follows")
        while let octet = peek() {
            note("padding", octet == 0 ? "zero after the early termination" : "must be zero after early termination")
        }
    }
}
