public import BluetoothTypes
internal import Crypto
internal import CryptoExtras

/// Finding out whose an ephemeral id is, which takes trying the keys of all beacons that it may come from.
extension IdentityKey {
    /// The counter at which this key's beacon turned over to `id`, if it did so in some time.
    ///
    /// Made to be asked of a million keys: the temporary key is computed once, not once an id, and no id is made whole.
    ///
    /// - Parameters:
    ///   - id: What was received.
    ///   - seconds: When it may have been sent, by the beacon's own counter; an id that was being sent at either end
    ///     counts.
    ///   - exponent: K; the id stays the same for 2^K seconds.
    /// - Returns: t with its lowest K bits cleared; `nil` where the id is none of this key's in that time.
    public func turnOver(
        to id: FixedOctets<8>, in seconds: ClosedRange<UInt32>, exponent: RotationExponent
    ) throws(EddystoneSecurityError) -> UInt32? {
        let wanted = Self.number(id)
        var counter = exponent.quantized(seconds.lowerBound)
        var upperHalf: UInt32?
        var temporaryKey = SymmetricKey(data: [UInt8]())
        var block = [UInt8](repeating: 0, count: 16)
        while true {
            if upperHalf != counter >> 16 {
                // What `temporaryKey(at:)` does, in arrays: a generic copy costs more than AES itself.
                for index in 0..<16 { block[index] = octets[index] }
                let key = SymmetricKey(data: block)
                Self.fill(&block, 0xFF, counter >> 16)
                do { try AES.permute(&block, key: key) } catch { throw .refused("AES block") }
                temporaryKey = SymmetricKey(data: block)
                upperHalf = counter >> 16
            }
            Self.fill(&block, exponent.rawValue, counter)
            do { try AES.permute(&block, key: temporaryKey) } catch { throw .refused("AES block") }
            var found: UInt64 = 0
            for index in 0..<8 { found = found << 8 | UInt64(block[index]) }
            if found == wanted { return counter }
            let (next, isOver) = counter.addingReportingOverflow(exponent.periodSeconds)
            guard !isOver, next <= seconds.upperBound else { return nil }
            counter = next
        }
    }

    /// Eleven zeros, one octet, and a number.
    private static func fill(_ block: inout [UInt8], _ octet: UInt8, _ number: UInt32) {
        for index in 0..<11 { block[index] = 0 }
        block[11] = octet
        for index in 0..<4 { block[12 + index] = UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * index)) }
    }

    private static func number(_ id: FixedOctets<8>) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number = number << 8 | UInt64(id[index]) }
        return number
    }
}
