public import BluetoothTypes

/// What is known of the power that the radio really sends with.
public enum RadioPowerGrant: Hashable, Sendable {
    /// The controller selected this level and says so (LE Set Extended Advertising Parameters, Zephyr's vendor command).
    case granted(RadioPower)
    /// Nothing was asked for; the controller reports this level of its own.
    case reported(RadioPower)
    /// A vendor command was accepted, but what can be read back does not follow it.
    case unverified(asked: RadioPower, reported: RadioPower?)
    /// This controller's power cannot be set: why, and how it could be. With what it reports, if it does.
    case notSettable(reason: String, reported: RadioPower?)
    /// Nothing was asked for, and the controller tells nothing.
    case unknown

    /// The level to look a calibration up with; `nil` where none is known.
    public var power: RadioPower? {
        switch self {
        case .granted(let power), .reported(let power): power
        case .unverified(_, let reported): reported
        case .notSettable(_, let reported): reported
        case .unknown: nil
        }
    }
}

extension RadioPowerGrant: CustomStringConvertible {
    public var description: String {
        switch self {
        case .granted(let power): "\(power) granted"
        case .reported(let power): "\(power), the controller's own choice"
        case .unverified(let asked, nil): "\(asked) accepted, cannot be read back: unverified"
        case .unverified(let asked, let reported?): "\(asked) accepted, but \(reported) read back: unverified"
        case .notSettable(let reason, nil): "cannot be set: \(reason)"
        case .notSettable(let reason, let reported?): "\(reported), cannot be set: \(reason)"
        case .unknown: "unknown: the controller does not tell"
        }
    }
}
