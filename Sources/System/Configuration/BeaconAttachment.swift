/// A text with a key that a configuration file attaches to a beacon, such as the owner of a desk.
public struct BeaconAttachment: Hashable, Sendable {
    public var key: String
    public var text: String

    /// Creates an attachment with the key `key` and the value `text`.
    public init(key: String, text: String) {
        self.key = key
        self.text = text
    }
}
