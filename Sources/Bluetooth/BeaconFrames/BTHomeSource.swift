internal import BluetoothTypes

extension Advertisement {
    /// The source of a BTHome packet: sensors, counters and fixed values.
    public struct BTHomeSource: Hashable, Sendable {
        /// Fixed values.
        public var objects: [BTHomeObject]
        /// Values that are read when a packet is made.
        public var measurements: [Measurement] = []
        /// The sensor for the temperature: its name, or `auto`. The value is omitted for `nil`, and if the sensor has
        /// no reading.
        public var temperature: String?
        /// The sensor for the battery's charge in percent, in the same form.
        public var battery: String?
        /// The sensor for the voltage of the battery or a supply, in the same form.
        public var voltage: String?
        /// True if packets contain the number of advertising events of every frame type since power-on.
        public var countsAdvertisements = false
        /// True if packets contain the seconds since power-on. They follow the number of events if both are sent.
        public var countsUptime = false
        /// True if packets are numbered, so that receivers recognise repetitions.
        public var hasPacketID = false
        public var isEncrypted = false
        /// The file with the key, as the profile names it; `nil` for a key that is passed separately.
        public var keyFile: String?

        /// A kind of value (a number, or true or false) and the sensor that gives the value.
        public struct Measurement: Hashable, Sendable {
            public var kind: BTHomeKind
            /// The name of a sensor, `auto`, `file:PATH` or `command:NAME`.
            public var sensor: String

            public init(_ kind: BTHomeKind, sensor: String) {
                self.kind = kind
                self.sensor = sensor
            }
        }

        /// Fixed values only. The caller sets the other properties.
        public init(objects: [BTHomeObject] = []) {
            self.objects = objects
        }
    }
}

extension Advertisement.BTHomeSource {
    /// True if any sensor or counter is used.
    public var hasValues: Bool {
        temperature != nil || battery != nil || voltage != nil || countsAdvertisements || countsUptime
            || !measurements.isEmpty
    }

    /// The packet to send, not encrypted, with the values that the source uses.
    ///
    /// - Parameters:
    ///   - temperature: In 0.01 °C.
    ///   - battery: In percent.
    ///   - voltage: In millivolts.
    ///   - advertisements: Advertising events. The lowest 32 bits are sent, as of the uptime.
    ///   - uptime: In seconds.
    ///   - packet: The number of the packet; its lowest byte is sent.
    ///   - values: The text of each measurement's value, in the order of ``measurements``; a value is omitted for
    ///     `nil`, and if the object cannot hold it.
    /// - Throws: ``BeaconFrameError`` if the objects do not fit.
    public func packet(
        temperature: Int?, battery: Int?, voltage: Int?, advertisements: Int, uptime: Int, packet: Int,
        values: [String?] = []
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
        for (measurement, value) in zip(measurements, values) {
            if let object = value.flatMap({ BTHomeObject(measurement.kind, text: $0) }) { all.append(object) }
        }
        return try BTHome(all)
    }

    /// A packet with zero for every value, which has the length of the packets that are sent.
    public func sample() throws(BeaconFrameError) -> BTHome {
        let plain = try packet(
            temperature: 0, battery: 0, voltage: 0, advertisements: 0, uptime: 0, packet: 0,
            values: measurements.map { _ in "0" })
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
