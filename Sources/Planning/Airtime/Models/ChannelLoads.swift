internal import BluetoothTypes

/// The share of time in which other devices occupy each channel.
public struct ChannelLoads: Hashable, Sendable {
    /// The shares of the primary channels 37, 38 and 39, each 0 or more, and less than 1.
    public let primary: [Double]
    /// The shares of the secondary channels 0...36.
    public let secondary: [Double]

    /// No other device on any channel.
    public static let none = ChannelLoads(checked: [0, 0, 0], [Double](repeating: 0, count: 37))

    private init(checked primary: [Double], _ secondary: [Double]) {
        self.primary = primary
        self.secondary = secondary
    }

    /// Creates loads with the same share on all channels.
    ///
    /// Throws for a share outside 0..<1.
    public init(_ share: Double) throws(AirtimeError) {
        try self.init(primary: [share, share, share], secondary: share)
    }

    /// Creates loads from the shares of the channels 37, 38 and 39, and one share for all secondary channels.
    ///
    /// Throws for a share outside 0..<1, and if `primary` does not have three shares.
    public init(primary: [Double], secondary: Double) throws(AirtimeError) {
        guard primary.count == 3 else {
            throw .quantity(name: "a number of primary channels", value: Double(primary.count))
        }
        for share in primary + [secondary] {
            guard share >= 0, share < 1 else {
                throw .quantity(name: "a background load (0 or more, less than 1)", value: share)
            }
        }
        self.init(
            checked: primary, [Double](repeating: secondary, count: ExtendedEvent.secondaryChannels))
    }

    /// Creates the loads from Wi-Fi networks on these channels of the 2.4 GHz band. Each network sends for `share` of
    /// the time.
    ///
    /// A network of 20 MHz disturbs the Bluetooth channels in its occupied band of 16.6 MHz (IEEE 802.11, OFDM: 52
    /// subcarriers of 312.5 kHz). Outside this band, the spectral mask falls by 20 dB within 2 MHz, so Bluetooth
    /// channels there count as free. So the usual networks 1, 6 and 11 (2412, 2437 and 2462 MHz) leave the channels 37,
    /// 38 and 39 (2402, 2426 and 2480 MHz) free; a network 3, 4 or 5 disturbs 38, and a network 13 disturbs 39.
    ///
    /// Throws for channels outside 1...13, and for a share outside 0..<1.
    public init(wifi channels: [Int], share: Double) throws(AirtimeError) {
        let wrongChannel = channels.isEmpty ? 0 : channels.first { !(1...13).contains($0) }
        if let wrongChannel { throw .quantity(name: "a Wi-Fi channel (1...13)", value: Double(wrongChannel)) }
        guard share >= 0, share < 1 else {
            throw .quantity(name: "a background load (0 or more, less than 1)", value: share)
        }
        /// Returns the share of time in which at least one of the networks disturbs this frequency. The networks are
        /// independent of each other.
        func load(_ megahertz: Int) -> Double {
            let networks = Set(channels).count { abs(2407 + 5 * $0 - megahertz) <= Self.disturbedMegahertz }
            return 1 - pow(1 - share, Double(networks))
        }
        self.init(
            checked: [2402, 2426, 2480].map(load),
            (0..<ExtendedEvent.secondaryChannels).map { load($0 <= 10 ? 2404 + 2 * $0 : 2406 + 2 * $0) })
    }

    /// A Wi-Fi network disturbs the Bluetooth channels whose center is at most this far from the center of its own
    /// channel: half of Wi-Fi's occupied band plus half of a Bluetooth channel, in whole MHz.
    private static let disturbedMegahertz = 9
    /// The default share of the time in which a Wi-Fi network sends: an assumption for a busy office.
    public static let usualWiFiShare = 0.25

    /// True if all channels have the same share.
    public var isEven: Bool { (primary + secondary).allSatisfy { $0 == primary[0] } }

    /// The mean share of the primary channels.
    public var meanPrimary: Double { isEven ? primary[0] : primary.reduce(0, +) / 3 }
}

extension ChannelLoads {
    /// Parses a text in one of these forms: Wi-Fi networks (`wifi-1-6-11`), Wi-Fi networks with the share of time in
    /// which each of them sends (`wifi-1-6-11:0.3`), or a share for each channel (`37:0,38:0.1,39:0.05,data:0.2`).
    ///
    /// - Parameter share: A function that reads a share, and throws if the text is no share.
    /// - Returns: nil for a text of another form.
    /// - Throws: the errors of `share`, and those of the models.
    public init?(_ text: String, share: (String) throws -> Double) throws {
        let colon = text.lastIndex(of: ":") ?? text.endIndex
        if text.hasPrefix("wifi-") {
            let channelTexts = text[..<colon].dropFirst("wifi-".count).split(
                separator: "-", omittingEmptySubsequences: false)
            let channels = channelTexts.compactMap { Int($0) }
            guard channels.count == channelTexts.count else { return nil }
            let load =
                colon == text.endIndex ? Self.usualWiFiShare : try share(String(text[text.index(after: colon)...]))
            try self.init(wifi: channels, share: load)
            return
        }
        var shares: [String: Double] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let nameAndShare = part.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard nameAndShare.count == 2, Self.names.contains(nameAndShare[0]), shares[nameAndShare[0]] == nil else {
                return nil
            }
            shares[nameAndShare[0]] = try share(nameAndShare[1])
        }
        try self.init(
            primary: Self.names.prefix(3).map { shares[$0] ?? 0 }, secondary: shares[Self.names[3]] ?? 0)
    }

    /// The names of the channels in options and files; `data` means all secondary channels.
    public static let names = ["37", "38", "39", "data"]
}
