/// A text with a key that files give a beacon, such as the owner of a desk.
public struct BeaconAttachment: Hashable, Sendable {
    public var key: String
    public var text: String

    /// The attachment `key` with the value `text`.
    public init(key: String, text: String) {
        self.key = key
        self.text = text
    }
}
