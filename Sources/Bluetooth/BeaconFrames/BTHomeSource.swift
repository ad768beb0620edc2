internal import BluetoothTypes

extension Advertisement {
    /// What a BTHome packet is made from while it is on the air: the box's sensors and counters, and values that stay.
    public struct BTHomeSource: Hashable, Sendable {
        /// Values that stay as they are.
        public var objects: [BTHomeObject]
        /// Names of sensors, or `auto`; `nil` leaves the value out, as does a sensor that tells none.
        public var temperature: String?
        /// Of the battery's charge, in percent.
        public var battery: String?
        /// Of the battery or a supply.
        public var voltage: String?
        /// Whether it counts advertising events of every frame type since power-on.
        public var countsAdvertisements = false
        /// Whether it counts seconds since power-on; after the advertising events where both are counted.
        public var countsUptime = false
        /// Whether packets are numbered, so that receivers tell which they have already.
        public var hasPacketID = false
        public var isEncrypted = false
        /// The file with the key, as the profile names it; `nil` for a key that is handed over beside the advertisement.
        public var keyFile: String?

        /// Nothing but these values; what else it tells is set afterwards.
        public init(objects: [BTHomeObject] = []) {
            self.objects = objects
        }
    }
}

extension Advertisement.BTHomeSource {
    /// Whether it asks for any value of the box.
    public var hasValues: Bool {
        temperature != nil || battery != nil || voltage != nil || countsAdvertisements || countsUptime
    }

    /// The packet to send, in the clear, with those of these values that are wanted.
    ///
    /// - Parameters:
    ///   - temperature: In 0.01 °C.
    ///   - battery: In percent.
    ///   - voltage: In millivolts.
    ///   - advertisements: Advertising events; as the uptime, 32 bits of it are sent.
    ///   - uptime: In seconds.
    ///   - packet: Of which the lowest octet is sent.
    /// - Throws: ``BeaconFrameError`` where the objects are too many.
    public func packet(
        temperature: Int?, battery: Int?, voltage: Int?, advertisements: Int, uptime: Int, packet: Int
    ) throws(BeaconFrameError) -> BTHome {
        var all = objects
        func add(_ id: UInt8, _ raw: Int?, _ isWanted: Bool) {
            if isWanted, let raw, let kind = BTHomeKind(id: id) { all.append(BTHomeObject(kind, raw: raw)) }
        }
        add(0x00, packet, hasPacketID)
        add(0x01, battery, self.battery != nil)
        add(0x02, temperature, self.temperature != nil)
        add(0x0C, voltage, self.voltage != nil)
        add(0x3E, advertisements, countsAdvertisements)
        add(0x3E, uptime, countsUptime)
        return try BTHome(all)
    }

    /// A packet of the full length.
    public func sample() throws(BeaconFrameError) -> BTHome {
        let plain = try packet(temperature: 0, battery: 0, voltage: 0, advertisements: 0, uptime: 0, packet: 0)
        guard isEncrypted else { return plain }
        return try BTHome(information: plain.information, ciphertext: plain.data, counter: 0, mic: .init())
    }
}

extension FixedPointTemperature {
    /// The nearest multiple of 0.01 °C, as BTHome sends it.
    public var hundredths: Int {
        let steps = Int(rawValue) * 100
        return (steps + (steps < 0 ? -128 : 128)) / 256
    }
}
