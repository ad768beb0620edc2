import BeaconFrames
internal import BluetoothTypes
import Configuration

/// What an advertisement is read against: the profile's own settings.
struct AdvertisementContext {
    let root: JSONNode
    let radioPower: RadioPower?
    /// What could be read of the calibration.
    let calibration: PowerCalibration?
    let pdu: AdvertisingPDU
}
