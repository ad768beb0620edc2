public import BluetoothTypes

/// Why a frame may not be sent as it is.
public enum BeaconFrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A measured power that the frame's specification forbids, kept from a received frame.
    case measuredPower(ValueOutOfRange)
    /// A URL with reserved octets or none at all, kept from a received frame.
    case url(URLEncodingError)
    /// More octets than an advertisement holds.
    case advertisingData(AdvertisingDataError)

    public var description: String {
        switch self {
        case .measuredPower(let error): error.description
        case .url(let error): error.description
        case .advertisingData(let error): error.description
        }
    }
}

extension AdvertisingData {
    /// Flags, if any, and `structures` after them.
    static func checked(_ structures: [ADStructure], flags: ADFlags?) throws(BeaconFrameError) -> Self {
        do throws(AdvertisingDataError) {
            return try AdvertisingData((flags.map { [.flags($0)] } ?? []) + structures)
        } catch {
            throw .advertisingData(error)
        }
    }

    /// The same for a frame that carries `power`, which must be in its range.
    static func checked(
        _ structures: [ADStructure], power: MeasuredPowerAtOneMeter, flags: ADFlags?
    ) throws(BeaconFrameError) -> Self {
        do throws(ValueOutOfRange) {
            _ = try MeasuredPowerAtOneMeter(dBm: Int(power.dBm))
        } catch {
            throw .measuredPower(error)
        }
        return try checked(structures, flags: flags)
    }

    /// The same for a frame that carries `power`, which must be in its range.
    static func checked(
        _ structures: [ADStructure], power: MeasuredPowerAtZeroMeters, flags: ADFlags?
    ) throws(BeaconFrameError) -> Self {
        do throws(ValueOutOfRange) {
            _ = try MeasuredPowerAtZeroMeters(dBm: Int(power.dBm))
        } catch {
            throw .measuredPower(error)
        }
        return try checked(structures, flags: flags)
    }
}
