internal import BluetoothTypes
public import LinuxHost
internal import SystemPackage

/// The reason why an adapter cannot be used. The description says what to do.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of reasons.
    public enum Reason: Hashable, Sendable {
        /// The kernel has no Bluetooth, or no such hciN.
        case missing
        /// This process lacks a capability that the kernel requires.
        case notPermitted(Privileges.Capability)
        /// The adapter is down.
        case down
        /// The radio is switched off by rfkill.
        case rfkilled
        /// The adapter is up and must be down, or another program uses it.
        case busy
        /// The other end of a stream cannot be reached.
        case unreachable
        /// The adapter does not accept HCI commands.
        case noHCI
        /// Another error of the kernel.
        case system
    }

    public let reason: Reason
    /// The adapter as the user named it.
    public let adapter: String
    private let message: String

    init(_ reason: Reason, _ adapter: String, _ message: String) {
        self.reason = reason
        self.adapter = adapter
        self.message = message
    }

    public var description: String { "\(adapter): \(message)" }
}

extension TransportError {
    /// Returns the error for a failed call on a Bluetooth socket of `adapter`; `number` is the C library's errno.
    static func bluetooth(_ call: String, _ number: Int32, _ adapter: String) -> TransportError {
        let device = adapter.prefix { $0 != ":" }
        let isUserChannel = adapter.hasSuffix(":user")
        return switch Errno(rawValue: number) {
        case .addressFamilyNotSupported:
            TransportError(
                .missing, adapter,
                "this kernel has no Bluetooth, or this is a container without the host's network; "
                    + "`--adapter virtual` works without one")
        case .operationNotSupportedByDevice:
            TransportError(
                .missing, adapter, "there is no such adapter; `pharos adapters` lists the adapters of this machine")
        case .blockedByRFKill:
            TransportError(
                .rfkilled, adapter, "the radio is switched off by rfkill; `rfkill unblock bluetooth` switches it on")
        case .networkDown:
            TransportError(.down, adapter, "the adapter is down; `hciconfig \(device) up` brings it up")
        case .resourceBusy where isUserChannel:
            TransportError(
                .busy, adapter,
                "the adapter is up, and the user channel needs it down; "
                    + "run `hciconfig \(device) down` and stop bluetoothd, or use \(device) without :user")
        case .resourceBusy, .tooManyUsers:
            TransportError(.busy, adapter, "another program uses the adapter's user channel; end that program first")
        case .notPermitted:
            notPermitted(isUserChannel ? .netAdmin : .netRaw, adapter, "opening a Bluetooth socket")
        default:
            TransportError(.system, adapter, "\(call): \(Errno(rawValue: number)) (errno \(number))")
        }
    }

    static func notPermitted(_ capability: Privileges.Capability, _ adapter: String, _ what: String) -> TransportError {
        TransportError(
            .notPermitted(capability), adapter,
            "\(what) needs \(capability): run as root, or run `\(ThisProgram.capabilityCommand)`")
    }

    static func unreachable(_ adapter: AdapterName, _ error: SystemError) -> TransportError {
        TransportError(.unreachable, adapter.description, sentence(adapter, error))
    }

    private static func sentence(_ adapter: AdapterName, _ error: SystemError) -> String {
        switch (error.errno, adapter) {
        case (.noSuchFileOrDirectory, .tcp(let host, _)):
            "the name \(host) has no address; check its spelling, or give the address itself"
        case (.noSuchFileOrDirectory, .serial):
            "there is no such serial line; is the board plugged in? "
                + "`ls /dev/ttyACM* /dev/ttyUSB*` lists the serial lines"
        case (.noSuchFileOrDirectory, _):
            "there is no such socket; is the controller's program running?"
        case (.permissionDenied, .serial):
            "this user may not open it; run `sudo adduser $USER dialout`, then log in again"
        case (.permissionDenied, _):
            "this user may not open it"
        case (.inappropriateIOCTLForDevice, .serial):
            "this is not a serial line"
        case (.resourceBusy, .serial):
            "\(error.text); end that program first"
        case (.timedOut, _):
            "there was no answer in time"
        default:
            "\(error.text); is the controller's program running and listening there?"
        }
    }
}

/// Error numbers of Linux that swift-system does not name.
extension Errno {
    /// ERFKILL: a radio is switched off by rfkill.
    static let blockedByRFKill = Errno(rawValue: 132)
    /// EBADFD: the file descriptor is in a state in which the operation is not possible.
    static let badDescriptorState = Errno(rawValue: 77)
}
