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
        var counter = exponent.quantized(seconds.lowerBound)
        var temporaryKey: (upperHalf: UInt32, key: SymmetricKey)?
        var block = [UInt8](repeating: 0, count: 16)
        while true {
            if temporaryKey?.upperHalf != counter >> 16 {
                let octets = try self.temporaryKey(at: counter).octets
                temporaryKey = (counter >> 16, SymmetricKey(data: octets))
            }
            if let key = temporaryKey?.key {
                for index in 0..<11 { block[index] = 0 }
                block[11] = exponent.rawValue
                for index in 0..<4 {
                    block[12 + index] = UInt8(truncatingIfNeeded: counter >> UInt32(24 - 8 * index))
                }
                do { try AES.permute(&block, key: key) } catch { throw .refused("AES block") }
                if (0..<8).allSatisfy({ block[$0] == id[$0] }) { return counter }
            }
            let (next, isOver) = counter.addingReportingOverflow(exponent.periodSeconds)
            guard !isOver, next <= seconds.upperBound else { return nil }
            counter = next
        }
    }
}
