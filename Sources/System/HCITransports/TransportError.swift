internal import BluetoothTypes
public import LinuxHost

/// Why an adapter cannot be used, each with its remedy.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kept the adapter from being opened: each has another remedy.
    public enum Reason: Hashable, Sendable {
        /// The kernel has no Bluetooth, or no such hciN.
        case missing
        /// The kernel wants a capability that this process has not.
        case notPermitted(Privileges.Capability)
        case down
        case rfkilled
        /// Up, or in the hands of another program.
        case busy
        /// The other end of a stream cannot be reached.
        case unreachable
        /// A form of adapter through which no HCI commands go.
        case noHCI
        /// Anything else that the kernel said.
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
    /// What an errno means for a Bluetooth socket or ioctl on `adapter`.
    static func bluetooth(_ call: String, _ number: Int32, _ adapter: String) -> TransportError {
        let device = adapter.prefix { $0 != ":" }
        let isUserChannel = adapter.hasSuffix(":user")
        return switch number {
        case SystemError.noBluetooth:
            TransportError(
                .missing, adapter,
                "this kernel has no Bluetooth (or this is a container without the host's network); "
                    + "`--adapter virtual` works without one")
        case SystemError.noDevice:
            TransportError(
                .missing, adapter, "there is no such adapter; `pharos adapters` lists those that are there")
        case SystemError.rfkilled:
            TransportError(
                .rfkilled, adapter, "the radio is switched off by rfkill; `rfkill unblock bluetooth` switches it on")
        case SystemError.networkDown:
            TransportError(.down, adapter, "the adapter is down; `hciconfig \(device) up` brings it up")
        case SystemError.busy where isUserChannel:
            TransportError(
                .busy, adapter,
                "the adapter is up, and the user channel needs it down; "
                    + "`hciconfig \(device) down` (and stop bluetoothd), or use it without :user")
        case SystemError.busy, SystemError.alreadyInUse:
            TransportError(.busy, adapter, "another program holds the adapter's user channel; end that program first")
        case SystemError.notPermitted:
            notPermitted(isUserChannel ? .netAdmin : .netRaw, adapter, "opening a Bluetooth socket")
        default:
            TransportError(.system, adapter, "\(call): \(SystemError.text(number)) (errno \(number))")
        }
    }

    static func notPermitted(_ capability: Privileges.Capability, _ adapter: String, _ what: String) -> TransportError {
        TransportError(
            .notPermitted(capability), adapter,
            "\(what) needs \(capability): run as root, or "
                + "`sudo setcap cap_net_raw,cap_net_admin+ep` on the pharos binary")
    }

    static func unreachable(_ adapter: AdapterName, _ error: SystemError) -> TransportError {
        TransportError(.unreachable, adapter.description, sentence(adapter, error))
    }

    private static func sentence(_ adapter: AdapterName, _ error: SystemError) -> String {
        switch (error.errno, adapter) {
        case (SystemError.noEntry, .tcp(let host, _)):
            "the name \(host) has no address; check its spelling, or give the address itself"
        case (SystemError.noEntry, .serial):
            "there is no such serial line; is the board plugged in? `ls /dev/ttyACM* /dev/ttyUSB*` shows those there are"
        case (SystemError.noEntry, _):
            "there is no such socket; is the controller's program running?"
        case (SystemError.accessDenied, .serial):
            "this user may not open it; `sudo adduser $USER dialout`, then log in again"
        case (SystemError.accessDenied, _):
            "this user may not open it"
        case (SystemError.notATerminal, .serial):
            "this is not a serial line"
        case (SystemError.busy, .serial):
            "\(error.text); end that program first"
        case (SystemError.timedOut, _):
            "there was no answer in time"
        default:
            "\(error.text); is the controller's program running and listening there?"
        }
    }
}
