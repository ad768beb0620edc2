/// An attachment: a key and a text that a configuration file adds to a beacon. For example, the key `owner` has the
/// name of the owner of a desk.
public struct BeaconAttachment: Hashable, Sendable {
    public var key: String
    public var text: String

    /// Creates an attachment with the key `key` and the value `text`.
    public init(key: String, text: String) {
        self.key = key
        self.text = text
    }
}
