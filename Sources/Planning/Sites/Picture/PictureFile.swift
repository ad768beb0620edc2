internal import FoundationEssentials

/// A PNG or JPEG file with the size of its picture. Only the header is read; a browser reads the rest.
public struct PictureFile: Hashable, Sendable {
    /// The format.
    public enum Format: String, Hashable, Sendable {
        case png
        case jpeg

        /// The media type, such as `image/png`.
        public var mediaType: String { "image/\(rawValue)" }
    }

    /// The reason for which a file is refused. The description is the rest of a sentence that begins with the name of
    /// the file.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file is neither PNG nor JPEG. If the format is known, `name` is its name, such as `an SVG drawing`, and
        /// `conversion` is the command that converts it.
        case otherFormat(name: String?, conversion: String?)
        /// The file ends before the size of the picture, or the size is 0 pixels.
        case damaged(Format)
        /// More bytes than ``octetLimit``.
        case tooLarge
        /// The picture has more than ``sideLimit`` pixels along a side, or more than ``pixelLimit`` pixels in all.
        case tooManyPixels(width: Int, height: Int)

        public var description: String {
            switch self {
            case .otherFormat(let name, let conversion):
                (name.map { "is \($0), not a PNG or JPEG picture" } ?? "is not a picture; use PNG or JPEG")
                    + (conversion.map { "; convert it: \($0)" } ?? "")
            case .damaged(let format):
                "is not a complete picture: its \(format == .png ? "PNG" : "JPEG") header is damaged"
            case .tooLarge: "is too large: a picture has at most \(octetLimit / 1_000_000) MB; reduce it"
            case .tooManyPixels(let width, let height):
                "is too large: it has \(width) × \(height) pixels; reduce it to at most \(sideLimit) along each side "
                    + "and \(pixelLimit / 1_000_000) million in all"
            }
        }
    }

    public let format: Format
    /// The number of pixels from left to right when a browser shows the picture.
    public let width: Int
    /// The number of pixels from top to bottom when a browser shows the picture.
    public let height: Int
    public let octets: [UInt8]

    /// The largest size of a file, in bytes.
    public static let octetLimit = 20_000_000
    /// The largest number of pixels along a side. Browsers cannot draw larger pictures.
    public static let sideLimit = 16_384
    /// The largest number of pixels; a browser needs four bytes for each.
    public static let pixelLimit = 64_000_000

    /// Reads the header of a picture.
    public init(_ octets: [UInt8]) throws(Fault) {
        guard octets.count <= Self.octetLimit else { throw .tooLarge }
        var header = PictureHeader(octets)
        if octets.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            format = .png
        } else if octets.starts(with: [0xFF, 0xD8, 0xFF]) {
            format = .jpeg
        } else {
            throw Self.otherFormat(octets)
        }
        guard let size = format == .png ? header.pngSize() : header.jpegSize(), size.width > 0, size.height > 0 else {
            throw .damaged(format)
        }
        (width, height) = size
        self.octets = octets
        guard max(width, height) <= Self.sideLimit, width * height <= Self.pixelLimit else {
            throw .tooManyPixels(width: width, height: height)
        }
    }

    /// The height of the picture divided by its width.
    public var aspectRatio: Double { Double(height) / Double(width) }

    /// The whole file as a data URL for a page: `data:image/png;base64,…`.
    public var dataAddress: String { "data:\(format.mediaType);base64,\(Data(octets).base64EncodedString())" }

    /// Recognizes other formats in which floor plans are often stored.
    private static func otherFormat(_ octets: [UInt8]) -> Fault {
        func begins(_ text: String) -> Bool { octets.starts(with: text.utf8) }
        let start = String(decoding: octets.prefix(1000), as: UTF8.self)
        if begins("%PDF") {
            return .otherFormat(
                name: "a PDF document", conversion: "pdftoppm -png -r 150 -singlefile plan.pdf plan")
        }
        if start.contains("<svg") {
            return .otherFormat(name: "an SVG drawing", conversion: "rsvg-convert --width 2000 plan.svg -o plan.png")
        }
        if begins("RIFF"), octets.dropFirst(8).starts(with: "WEBP".utf8) {
            return .otherFormat(name: "a WebP picture", conversion: "convert plan.webp plan.png")
        }
        if begins("GIF8") { return .otherFormat(name: "a GIF picture", conversion: "convert plan.gif plan.png") }
        if begins("BM") { return .otherFormat(name: "a BMP picture", conversion: "convert plan.bmp plan.png") }
        if begins("II*\0") || begins("MM\0*") {
            return .otherFormat(name: "a TIFF picture", conversion: "convert plan.tif plan.png")
        }
        if octets.dropFirst(4).starts(with: "ftyp".utf8) {
            return .otherFormat(name: "a HEIF or AVIF picture", conversion: "heif-convert plan.heic plan.jpg")
        }
        return .otherFormat(name: nil, conversion: nil)
    }
}

/// Reads the size of a picture from the beginning of its file.
private struct PictureHeader {
    private let octets: [UInt8]
    private var offset = 0

    init(_ octets: [UInt8]) { self.octets = octets }

    /// Reads the size in the IHDR chunk, the first chunk of a PNG file (ISO/IEC 15948, 11.2.2).
    mutating func pngSize() -> (width: Int, height: Int)? {
        offset = 8
        guard number(4) == 13, octets.dropFirst(offset).starts(with: "IHDR".utf8) else { return nil }
        offset += 4
        guard let width = number(4), let height = number(4) else { return nil }
        return (width, height)
    }

    /// Reads the size in the start of the frame of a JPEG file (ITU-T T.81, B.2.2). Width and height are exchanged if
    /// the Exif orientation turns the picture by a quarter.
    mutating func jpegSize() -> (width: Int, height: Int)? {
        offset = 2
        var isTurned = false
        while number(1) == 0xFF {
            var marker = number(1)
            // Before a marker, any number of bytes 0xFF may be inserted as filling.
            while marker == 0xFF { marker = number(1) }
            // These markers have no length and no data.
            if let marker, marker == 0x01 || (0xD0...0xD7).contains(marker) { continue }
            guard let marker, let length = number(2), length >= 2 else { return nil }
            let end = offset + length - 2
            switch marker {
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
                guard number(1) != nil, let height = number(2), let width = number(2) else { return nil }
                return isTurned ? (height, width) : (width, height)
            case 0xE1: isTurned = isTurned || orientation(until: end).map { $0 >= 5 } ?? false
            case 0xD9, 0xDA: return nil
            default: break
            }
            offset = end
        }
        return nil
    }

    /// The orientation of an Exif segment, 1...8: 5 and above exchange width and height (CIPA DC-008, 4.6.5.1).
    private func orientation(until end: Int) -> Int? {
        let segment = octets[min(offset, octets.count)..<min(max(end, offset), octets.count)]
        guard segment.starts(with: "Exif\0\0".utf8) else { return nil }
        let tiff = Array(segment.dropFirst(6))
        let isLittle = tiff.starts(with: "II".utf8)
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= tiff.count else { return nil }
            let part = tiff[offset..<offset + count]
            return (isLittle ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
        for entry in 0..<count {
            let start = directory + 2 + 12 * entry
            guard let tag = number(start, 2) else { return nil }
            if tag == 0x0112 { return number(start + 8, 2) }
        }
        return nil
    }

    /// Reads the next number of `count` bytes, most significant byte first.
    private mutating func number(_ count: Int) -> Int? {
        guard offset + count <= octets.count else { return nil }
        defer { offset += count }
        return octets[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
