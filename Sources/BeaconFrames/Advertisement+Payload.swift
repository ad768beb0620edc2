public import BluetoothTypes

extension Advertisement {
    /// What a payload needs beside the advertisement itself, and what only a running beacon knows.
    public struct LiveValues: Hashable, Sendable {
        /// What the controller granted or reported; `nil` where it does not tell.
        public var radioPower: RadioPower?
        /// For Eddystone-TLM in the clear.
        public var telemetry: EddystoneTLM?
        /// For Eddystone-TLM with encryption, sealed by EddystoneSecurity.
        public var encryptedTelemetry: EddystoneEncryptedTLM?
        /// For Eddystone-EID, made by EddystoneSecurity.
        public var ephemeralID: FixedOctets<8>?

        public init(
            radioPower: RadioPower? = nil, telemetry: EddystoneTLM? = nil,
            encryptedTelemetry: EddystoneEncryptedTLM? = nil, ephemeralID: FixedOctets<8>? = nil
        ) {
            self.radioPower = radioPower
            self.telemetry = telemetry
            self.encryptedTelemetry = encryptedTelemetry
            self.ephemeralID = ephemeralID
        }
    }

    /// The octets to send now.
    ///
    /// - Throws: ``PayloadError`` where a live value is missing, the measured power is not known, or the frame may not
    ///   be sent.
    public func payload(_ live: LiveValues = LiveValues()) throws(PayloadError) -> AdvertisingData {
        let flags: ADFlags?
        switch content {
        case .raw(let data): return data
        case .iBeacon(_, _, _, let wanted), .altBeacon(_, _, _, let wanted): flags = wanted
        case .eddystoneUID, .eddystoneURL, .eddystoneTLM, .eddystoneEID: flags = .beacon
        }
        guard let frame = try frame(live) else { throw .missing("frame") }
        do throws(BeaconFrameError) {
            return try frame.advertisingData(flags: flags)
        } catch {
            throw .frame(error)
        }
    }

    /// The frame to send now; `nil` for raw octets.
    ///
    /// - Throws: ``PayloadError`` where a live value is missing or the measured power is not known.
    public func frame(_ live: LiveValues = LiveValues()) throws(PayloadError) -> BeaconFrame? {
        switch content {
        case .iBeacon(let uuid, let major, let minor, _):
            let power = try powerAtOneMeter(live)
            return .iBeacon(IBeacon(uuid: uuid, major: major, minor: minor, measuredPower: power))
        case .altBeacon(let companyID, let beaconID, let reserved, _):
            let power = try powerAtOneMeter(live)
            return .altBeacon(
                AltBeacon(companyID: companyID, beaconID: beaconID, measuredPower: power, reserved: reserved))
        case .eddystoneUID(let namespace, let instance):
            let power = try powerAtZeroMeters(live)
            return .eddystoneUID(EddystoneUID(namespace: namespace, instance: instance, measuredPower: power))
        case .eddystoneURL(let url):
            let power = try powerAtZeroMeters(live)
            return .eddystoneURL(EddystoneURL(url: url, measuredPower: power))
        case .eddystoneTLM(_, nil):
            guard let telemetry = live.telemetry else { throw .missing("telemetry") }
            return .eddystoneTLM(telemetry)
        case .eddystoneTLM(_, .some):
            guard let telemetry = live.encryptedTelemetry else { throw .missing("encrypted telemetry") }
            return .eddystoneEncryptedTLM(telemetry)
        case .eddystoneEID:
            guard let id = live.ephemeralID else { throw .missing("ephemeral id") }
            let power = try powerAtZeroMeters(live)
            return .eddystoneEID(EddystoneEID(id: id, measuredPower: power))
        case .raw:
            return nil
        }
    }

    private func powerAtOneMeter(_ live: LiveValues) throws(PayloadError) -> MeasuredPowerAtOneMeter {
        do throws(MeasuredPowerError) {
            return try measuredPower.atOneMeter(radioPower: live.radioPower)
        } catch {
            throw .measuredPower(error)
        }
    }

    private func powerAtZeroMeters(_ live: LiveValues) throws(PayloadError) -> MeasuredPowerAtZeroMeters {
        do throws(MeasuredPowerError) {
            return try measuredPower.atZeroMeters(radioPower: live.radioPower)
        } catch {
            throw .measuredPower(error)
        }
    }
}

extension Advertisement.TelemetrySource {
    /// The frame to send, fixed values before what the sensors say.
    ///
    /// - Parameters:
    ///   - sensorBattery: What the battery's sensor reads, in millivolts; `nil` where there is none.
    ///   - sensorTemperature: What the temperature sensor reads; `nil` where there is none.
    ///   - advertisements: Advertising events of every frame type since power-on.
    ///   - uptimeDeciseconds: Time since power-on, in 0.1 s.
    public func telemetry(
        sensorBattery: UInt16?, sensorTemperature: FixedPointTemperature?, advertisements: UInt32,
        uptimeDeciseconds: UInt32
    ) -> EddystoneTLM {
        EddystoneTLM(
            batteryMillivolts: battery.value(sensor: sensorBattery),
            temperature: temperature.value(sensor: sensorTemperature), advertisements: advertisements,
            uptimeDeciseconds: uptimeDeciseconds)
    }
}

extension Advertisement.TelemetrySource.Reading {
    fileprivate func value(sensor: Value?) -> Value? {
        switch self {
        case .unknown: nil
        case .fixed(let value): value
        case .sensor: sensor
        }
    }
}

/// Why an advertisement has no octets to send.
public enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A live value that the content needs was not handed in.
    case missing(String)
    case measuredPower(MeasuredPowerError)
    case frame(BeaconFrameError)

    public var description: String {
        switch self {
        case .missing(let what): "the advertisement needs a value that is not there yet: \(what)"
        case .measuredPower(let error): error.description
        case .frame(let error): error.description
        }
    }
}
