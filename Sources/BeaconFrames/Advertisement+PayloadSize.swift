internal import BluetoothTypes

extension Advertisement {
    /// How many octets of advertising data it has, whatever its live values and its measured power will be.
    ///
    /// - Throws: ``PayloadError`` where the frame may not be sent at all.
    public func payloadOctetCount() throws(PayloadError) -> Int {
        var sample = self
        // Any calibrated power does: it is one octet. The octet 0xC5 is -59 dBm.
        if case .calibrated = measuredPower { sample.measuredPower = .atOneMeter(MeasuredPowerAtOneMeter(octet: 0xC5)) }
        let live = LiveValues(
            telemetry: EddystoneTLM(telemetry: FixedOctets()),
            encryptedTelemetry: EddystoneEncryptedTLM(encrypted: FixedOctets(), salt: 0, mic: 0),
            ephemeralID: FixedOctets())
        return try sample.payload(live).octets.count
    }
}
