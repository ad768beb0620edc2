public import BluetoothTypes

/// What the kernel will not honour of an advertisement, found before it is sent.
public struct ManagedWarning: Hashable, Sendable {
    /// What the kernel does otherwise.
    public enum Reason: Hashable, Sendable {
        /// The kernel asks a legacy controller for 100...150 ms, whatever it was asked for.
        case intervalForced(asked: AdvertisingInterval)
        /// This kernel takes no interval, and sends at the adapter's own.
        case intervalDefault(asked: AdvertisingInterval)
        case powerIgnored(asked: RadioPower, oldKernel: Bool)
        /// The kernel draws a non-resolvable random address, at the start or at each change.
        case addressDrawn(eachChange: Bool)
        /// Connectable advertising goes out from the adapter's own address.
        case addressOfAdapter
        /// The adapter is set connectable as a whole, so the advertisement is too.
        case sentConnectable
        case channelsIgnored
        /// The adapter is LE only, and the data has no Flags structure: the kernel puts one before it.
        case flagsAdded
        /// Instances take turns on a legacy controller; seconds of silence between them.
        case turns(instances: Int, silence: Int)
    }

    public let reason: Reason
    /// Which advertisement, counted from 1; `nil` for all of them.
    public let advertisement: Int?
    /// Such as `hci0:mgmt`.
    public let adapter: String

    /// - Parameter advertisement: Its position in the profile, from 0; `nil` for all of them.
    public init(_ reason: Reason, advertisement: Int?, adapter: String) {
        self.reason = reason
        self.advertisement = advertisement
        self.adapter = adapter
    }
}

extension ManagedWarning: CustomStringConvertible {
    public var description: String {
        "\(adapter): \(advertisement.map { "advertisement \($0): " } ?? "")\(sentence)"
    }

    private var sentence: String {
        switch reason {
        case .intervalForced(let asked):
            "the interval is not \(asked): on this legacy controller the kernel always sends every 100...150 ms; "
                + "\(otherForms) keeps to it"
        case .intervalDefault(let asked):
            "the interval is not \(asked): this kernel takes none and sends at the adapter's own (1280 ms unless "
                + "configured); Linux 5.11 or newer takes one, \(otherForms) too"
        case .powerIgnored(let asked, oldKernel: true):
            "the radio power of \(asked) is ignored: this kernel takes none; Linux 5.11 or newer does, \(otherForms) too"
        case .powerIgnored(let asked, oldKernel: false):
            "the radio power of \(asked) is ignored: the kernel has no way to set it on a controller without "
                + "extended advertising; \(otherForms) tries the controller's own command"
        case .addressDrawn(eachChange: true):
            "the address is a new random one at each change of the data and each turn; \(otherForms) keeps it"
        case .addressDrawn(eachChange: false):
            "the address is a new random one at each start; \(otherForms) keeps it"
        case .addressOfAdapter:
            "connectable advertising goes out from the adapter's own address; \(otherForms) takes another"
        case .sentConnectable:
            "a program has set the adapter connectable, so this goes out as ADV_IND from the adapter's own address; "
                + "`btmgmt connectable off` ends that, \(otherForms) is not concerned"
        case .channelsIgnored:
            "it goes out on all three channels, not only the ones asked for; \(otherForms) keeps to them"
        case .flagsAdded:
            "the data has no Flags structure and the adapter is LE only: the kernel puts 02 01 04 before it; "
                + "\(otherForms) sends it as it is"
        case .turns(let instances, let silence):
            "\(instances) advertisements take turns on this legacy controller, each is silent for \(silence) s "
                + "in between; \(otherForms) interleaves them"
        }
    }

    /// The forms that do honour it.
    private var otherForms: String {
        let device = adapter.prefix { $0 != ":" }
        return "--adapter \(device) or \(device):user"
    }
}
