public import BeaconFrames
public import BluetoothTypes

/// Encrypts and decrypts packets of BTHome v2: AES-128-CCM with a message integrity check (MIC) of four bytes
/// (bthome.io/encryption, RFC 3610). Home Assistant calls the key the encryption key.
extension IdentityKey {
    /// Encrypts a packet.
    ///
    /// - Parameters:
    ///   - packet: The packet before encryption.
    ///   - address: The device address of the sender, which is part of the nonce.
    ///   - counter: A number that must not be used twice with this key and address. It must increase, because receivers
    ///     refuse smaller numbers.
    /// - Throws: ``EddystoneSecurityError/refused(_:)`` if the packet has no room for the eight bytes of counter and
    ///   MIC.
    public func seal(
        _ packet: BTHome, from address: DeviceAddress, counter: UInt32
    ) throws(EddystoneSecurityError) -> BTHome {
        let ccm = CCM(AESBlock(key: symmetricKey), Self.nonce(address, packet.information | 1, counter))
        let plain = packet.data
        let (ciphertext, mic) = (try ccm.crypt(plain), try ccm.tag(plain))
        do throws(BeaconFrameError) {
            return try BTHome(information: packet.information, ciphertext: ciphertext, counter: counter, mic: mic)
        } catch {
            throw .refused("\(error)")
        }
    }

    /// Decrypts a received packet. The result is `nil` if the packet is not encrypted or its message integrity check
    /// fails. The check fails if the key or the address is wrong, or if the packet was changed.
    public func open(_ packet: BTHome, from address: DeviceAddress) throws(EddystoneSecurityError) -> BTHome? {
        guard let sealed = packet.sealed else { return nil }
        let ccm = CCM(AESBlock(key: symmetricKey), Self.nonce(address, packet.information, sealed.counter))
        let plain = try ccm.crypt(sealed.ciphertext)
        guard try ccm.tag(plain).octets == sealed.mic else { return nil }
        return BTHome(information: packet.information & ~1, data: plain)
    }

    private static func nonce(_ address: DeviceAddress, _ information: UInt8, _ counter: UInt32) -> [UInt8] {
        var nonce = address.octets.octets
        nonce.append(littleEndian: BTHome.serviceUUID)
        nonce.append(information)
        nonce.append(littleEndian: counter)
        return nonce
    }
}

/// AES-128-CCM without associated data, with a length field of two bytes and a tag of four bytes (RFC 3610).
private struct CCM {
    private let cipher: AESBlock
    /// The nonce of 13 bytes.
    private let nonce: [UInt8]

    init(_ cipher: AESBlock, _ nonce: [UInt8]) {
        self.cipher = cipher
        self.nonce = nonce
    }

    /// Encrypts or decrypts `message`: in counter mode, both are the same operation.
    func crypt(_ message: [UInt8]) throws(EddystoneSecurityError) -> [UInt8] {
        var result = message
        for start in stride(from: 0, to: message.count, by: 16) {
            let keystream = try encrypted(0x01, start / 16 + 1)
            for index in start..<min(start + 16, message.count) { result[index] ^= keystream[index - start] }
        }
        return result
    }

    /// Returns the tag of a plaintext message.
    func tag(_ message: [UInt8]) throws(EddystoneSecurityError) -> FixedOctets<4> {
        // Flags of the first block: no associated data, (4 - 2) / 2 for the tag, 2 - 1 for the length.
        var state = try encrypted(0x09, message.count)
        for start in stride(from: 0, to: message.count, by: 16) {
            for index in start..<min(start + 16, message.count) { state[index - start] ^= message[index] }
            state = try cipher.encrypt(state)
        }
        let keystream = try encrypted(0x01, 0)
        var tag = FixedOctets<4>()
        for index in 0..<4 { tag[index] = state[index] ^ keystream[index] }
        return tag
    }

    /// Returns the encryption of a block that consists of `flags`, the nonce and `number`.
    private func encrypted(_ flags: UInt8, _ number: Int) throws(EddystoneSecurityError) -> FixedOctets<16> {
        var block = FixedOctets<16>()
        block[0] = flags
        for index in nonce.indices { block[1 + index] = nonce[index] }
        block[14] = UInt8(truncatingIfNeeded: number >> 8)
        block[15] = UInt8(truncatingIfNeeded: number)
        return try cipher.encrypt(block)
    }
}
