internal import BluetoothTypes

extension Advertisement {
    /// The source of a BTHome packet: sensors, counters and fixed values.
    public struct BTHomeSource: Hashable, Sendable {
        /// The fixed values.
        public var objects: [BTHomeObject]
        /// The values that are read from sensors when a packet is made.
        public var measurements: [Measurement] = []
        /// The name of the temperature sensor, or `auto`. The packet contains no temperature if this is `nil`, or if
        /// the sensor has no reading.
        public var temperature: String?
        /// The name of the sensor for the battery's charge in percent, or `auto`. The packet contains no charge if this
        /// is `nil`, or if the sensor has no reading.
        public var battery: String?
        /// The name of the sensor for the voltage of the battery or a supply, or `auto`. The packet contains no voltage
        /// if this is `nil`, or if the sensor has no reading.
        public var voltage: String?
        /// True if packets contain the number of advertising events of all frame types since power-on.
        public var countsAdvertisements = false
        /// True if packets contain the time since power-on in seconds. If packets contain both counts, the number of
        /// events comes first.
        public var countsUptime = false
        /// True if packets contain a packet number, so that receivers recognise repetitions.
        public var hasPacketID = false
        public var isEncrypted = false
        /// The path of the key's file as written in the profile; `nil` if the key is passed separately.
        public var keyFile: String?

        /// The kind of a value (a number or a truth value), and the sensor from which the value is read.
        public struct Measurement: Hashable, Sendable {
            public var kind: BTHomeKind
            /// The name of a sensor, `auto`, `file:PATH` or `command:NAME`.
            public var sensor: String

            public init(_ kind: BTHomeKind, sensor: String) {
                self.kind = kind
                self.sensor = sensor
            }
        }

        /// A source with only fixed values. Set the other properties to add sensors and counters.
        public init(objects: [BTHomeObject] = []) {
            self.objects = objects
        }
    }
}

extension Advertisement.BTHomeSource {
    /// True if packets contain the value of at least one sensor or counter.
    public var hasValues: Bool {
        temperature != nil || battery != nil || voltage != nil || countsAdvertisements || countsUptime
            || !measurements.isEmpty
    }

    /// Returns the packet to send, before encryption. Parameters that this source does not use are ignored.
    ///
    /// - Parameters:
    ///   - temperature: The temperature in 0.01 °C; `nil` omits it.
    ///   - battery: The battery's charge in percent; `nil` omits it.
    ///   - voltage: The voltage in millivolts; `nil` omits it.
    ///   - advertisements: The number of advertising events. Only its lowest 32 bits are sent.
    ///   - uptime: The time since power-on in seconds. Only its lowest 32 bits are sent.
    ///   - packet: The number of the packet. Only its lowest byte is sent.
    ///   - values: The text of each measurement's value, in the order of ``measurements``. A value is omitted if it is
    ///     `nil` or not valid for its kind.
    /// - Throws: ``BeaconFrameError`` if the objects do not fit.
    public func packet(
        temperature: Int?, battery: Int?, voltage: Int?, advertisements: Int, uptime: Int, packet: Int,
        values: [String?] = []
    ) throws(BeaconFrameError) -> BTHome {
        var allObjects = objects
        func add(_ id: UInt8, _ raw: Int?, _ isWanted: Bool) {
            if isWanted, let raw, let kind = BTHomeKind(id: id) { allObjects.append(BTHomeObject(kind, raw: raw)) }
        }
        add(0x00, packet, hasPacketID)
        add(0x01, battery, self.battery != nil)
        add(0x02, temperature, self.temperature != nil)
        add(0x0C, voltage, self.voltage != nil)
        add(0x3E, advertisements, countsAdvertisements)
        add(0x3E, uptime, countsUptime)
        for (measurement, value) in zip(measurements, values) {
            if let object = value.flatMap({ BTHomeObject(measurement.kind, text: $0) }) { allObjects.append(object) }
        }
        return try BTHome(allObjects)
    }

    /// Returns a packet in which every value of a sensor or counter is zero. It is as long as a packet with all values.
    public func sample() throws(BeaconFrameError) -> BTHome {
        let plain = try packet(
            temperature: 0, battery: 0, voltage: 0, advertisements: 0, uptime: 0, packet: 0,
            values: measurements.map { _ in "0" })
        guard isEncrypted else { return plain }
        return try BTHome(information: plain.information, ciphertext: plain.data, counter: 0, mic: .init())
    }
}

extension FixedPointTemperature {
    /// The temperature rounded to 0.01 °C, in units of 0.01 °C, as BTHome sends it.
    public var hundredths: Int {
        let steps = Int(rawValue) * 100
        return (steps + (steps < 0 ? -128 : 128)) / 256
    }
}
