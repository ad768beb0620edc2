internal import FoundationEssentials
internal import LinuxHost

/// The picture of an item. A page contains it as text, so that the page is a single file.
public struct ItemPhoto: Hashable, Sendable {
    /// The kinds of pictures that are accepted. All browsers show them, and they can contain neither scripts nor web
    /// addresses.
    enum Kind: String, CaseIterable, Hashable, Sendable {
        case jpeg
        case png
        case gif
        case webp

        /// Determines the kind of a picture from its first bytes; `nil` for any other file.
        init?(_ octets: [UInt8]) {
            func begins(_ text: String, at start: Int = 0) -> Bool {
                octets.dropFirst(start).prefix(text.utf8.count).elementsEqual(text.utf8)
            }
            if octets.starts(with: [0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if octets.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self = .png
            } else if begins("GIF87a") || begins("GIF89a") {
                self = .gif
            } else if begins("RIFF"), begins("WEBP", at: 8) {
                self = .webp
            } else {
                return nil
            }
        }
    }

    let kind: Kind
    let octets: [UInt8]

    /// The largest size of a picture, in bytes.
    public static let limit = 1 << 20
    /// The largest size of all pictures of a report, in bytes. Mail servers refuse larger messages.
    public static let totalLimit = 12 << 20

    /// Reads a picture. The kind is determined from the first bytes, because the name of a file may be wrong.
    ///
    /// - Throws: An error if the file does not exist, cannot be read, is too large, or is not a picture.
    public init(_ path: String) throws(InventoryError) {
        do throws(SystemError) {
            octets = try Files.read(path, limit: Self.limit)
        } catch {
            if error.errno == SystemError.noEntry {
                throw InventoryError(.missing, "\(path): this picture does not exist")
            }
            if error.errno == SystemError.tooLarge {
                throw InventoryError(
                    .invalid,
                    "\(path): this picture is larger than \(Self.limit >> 20) MiB: make a smaller copy of it")
            }
            throw InventoryError(.invalid, "\(path): this picture cannot be read: \(error.text)")
        }
        guard let kind = Kind(octets) else {
            throw InventoryError(.invalid, "\(path): this is not a picture: use JPEG, PNG, GIF or WebP")
        }
        self.kind = kind
    }

    /// The picture as a `data:` URL (RFC 2397).
    var address: String { "data:image/\(kind.rawValue);base64,\(Data(octets).base64EncodedString())" }
}
