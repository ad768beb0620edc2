/// The bytes of AdvData, ScanRspData or extended advertising data: a sequence of AD structures.
///
/// Received bytes are kept even if they are invalid. Encoding refuses structures that are too long.
public struct AdvertisingData: Hashable, Sendable {
    /// The bytes as in the PDU: for each AD structure its length byte, its type and its data.
    public let octets: [UInt8]

    /// The largest number of data bytes in a legacy PDU.
    public static let legacyLimit = 31
    /// The largest number of data bytes in one extended PDU (Core Specification 5.4, Vol 6 Part B 2.3.4).
    public static let extendedPDULimit = 254
    /// The largest number of data bytes of an advertising set with extended PDUs (Core Specification 5.4, Vol 4 Part E
    /// 7.8.57).
    public static let extendedLimit = 1650

    /// Advertising data with these received bytes, valid or not.
    public init(octets: [UInt8]) {
        self.octets = octets
    }

    /// Encodes `structures` in their order.
    ///
    /// - Throws: ``AdvertisingDataError`` with the structure that exceeds `limit`.
    public init(
        _ structures: [ADStructure], limit: Int = AdvertisingData.legacyLimit
    ) throws(AdvertisingDataError) {
        var octets: [UInt8] = []
        for (index, structure) in structures.enumerated() {
            guard structure.data.count <= 254 else {
                throw AdvertisingDataError(.structureTooLong(octets: structure.data.count), structure: index)
            }
            octets.append(UInt8(structure.data.count + 1))
            octets.append(structure.type.rawValue)
            octets += structure.data
        }
        guard octets.count <= limit else {
            var total = 0
            let index = structures.firstIndex { structure in
                total += structure.encodedLength
                return total > limit
            }
            throw AdvertisingDataError(
                .tooLong(octets: octets.count, limit: limit, type: structures[index ?? 0].type),
                structure: index ?? 0)
        }
        self.octets = octets
    }

    /// The complete AD structures, up to the first length byte of zero or the first truncated structure.
    public var structures: [ADStructure] {
        var cursor = ADStructureCursor(octets.indices)
        var result: [ADStructure] = []
        while let element = cursor.next(in: octets.span) {
            result.append(ADStructure(element.type, Array(octets[element.data])))
        }
        return result
    }

    /// The transmit powers in all TX Power Level structures, in dBm. Structures with more or less than one byte of data
    /// are skipped.
    public var transmitPowers: [Int] {
        structures.filter { $0.type == .txPowerLevel && $0.data.count == 1 }
            .map { Int(Int8(bitPattern: $0.data[0])) }
    }

    /// The bytes after the last complete structure: none, the zeros of an early termination, or a truncated structure.
    public var remainder: ArraySlice<UInt8> {
        var cursor = ADStructureCursor(octets.indices)
        while cursor.next(in: octets.span) != nil {}
        return octets[cursor.offset...]
    }
}

extension AdvertisingData: CustomStringConvertible {
    /// The bytes as lower-case hexadecimal digits without separators.
    public var description: String { Hexadecimal.text(octets) }
}

/// The reason why AD structures do not fit into advertising data.
public struct AdvertisingDataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The limit that the structures exceed.
    public enum Reason: Hashable, Sendable {
        /// All structures together have more bytes than `limit`; `type` is the type of the first structure that does
        /// not fit.
        case tooLong(octets: Int, limit: Int, type: ADType)
        /// A structure has more data than its length byte can count, which is 254 bytes.
        case structureTooLong(octets: Int)
    }

    public let reason: Reason
    /// The position of the structure in the list, from 0.
    public let structure: Int

    /// An error about the structure at position `structure`, from 0.
    public init(_ reason: Reason, structure: Int) {
        self.reason = reason
        self.structure = structure
    }

    public var description: String {
        switch reason {
        case .tooLong(let octets, let limit, let type):
            "the structures have \(octets) bytes, \(octets - limit) more than the \(limit) of an advertisement: structure "
                + "\(structure + 1) (\(type.name)) does not fit; shorten or remove a structure"
        case .structureTooLong(let octets):
            "structure \(structure + 1) has \(octets) bytes of data, but at most 254 are possible"
        }
    }
}
