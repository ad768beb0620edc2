/// Reading JSON texts (RFC 8259) with the place of every value.
///
/// Strict: everything the grammar forbids is a problem, and so are duplicate keys, a byte order mark and nesting deeper
/// than ``depthLimit``. Forgiving all the same: where it is clear what was meant (a trailing comma, a comment, a
/// missing quote round a key), the fault is reported and reading goes on, so that one run finds as much as possible.
public enum JSONDocument {
    /// How many arrays and objects may stand inside each other.
    public static let depthLimit = 64
    /// After so many problems reading stops.
    public static let problemLimit = 100

    /// Reads a whole text.
    ///
    /// - Parameter file: What the text is called in the problems.
    /// - Returns: the root, `nil` when the text cannot be followed to its end, and every problem in the order of the
    ///   text. The text is valid only when there are no problems.
    public static func parse(_ octets: [UInt8], file: String? = nil) -> (root: JSONNode?, problems: [FileProblem]) {
        var parser = JSONParser(octets, file: file)
        let root = parser.parseDocument()
        return (root, parser.problems.sorted { $0.position < $1.position })
    }
}
