import Sites
import Testing

@Suite struct PictureFileTests {
    /// The first bytes of a PNG file of this size.
    static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + bigEndian(width)
            + bigEndian(height) + [8, 2, 0, 0, 0]
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { (shift: UInt32) -> UInt8 in UInt8(truncatingIfNeeded: value >> shift) }
    }

    /// The markers of a JPEG file up to the start of its frame, with an Exif orientation if one is given.
    private static func jpeg(_ width: UInt16, _ height: UInt16, orientation: UInt8? = nil, isLittle: Bool = true)
        -> [UInt8]
    {
        var octets: [UInt8] = [0xFF, 0xD8]
        if let orientation {
            let directory: [UInt8] =
                isLittle
                ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]
                : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
            let segment = Array("Exif\0\0".utf8) + directory
            octets += [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment
        }
        octets += [0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xFF, 0xC4, 0, 3, 7]
        return octets + [0xFF, 0xC2, 0, 11, 8] + [UInt8(height >> 8), UInt8(height & 0xFF)]
            + [UInt8(width >> 8), UInt8(width & 0xFF)] + [1, 0, 0, 0]
    }

    private func fault(_ octets: [UInt8]) -> String {
        do throws(PictureFile.Fault) {
            _ = try PictureFile(octets)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func readsSizes() throws {
        let drawing = try PictureFile(Self.png(1600, 1000))
        #expect(drawing.format == .png && drawing.width == 1600 && drawing.height == 1000)
        #expect(drawing.aspectRatio == 0.625)
        let photo = try PictureFile(Self.jpeg(4032, 3024))
        #expect(photo.format == .jpeg && photo.width == 4032 && photo.height == 3024)
    }

    @Test("a photo taken in portrait orientation is shown upright", arguments: [true, false])
    func turnsPhotos(isLittle: Bool) throws {
        for orientation: UInt8 in 1...8 {
            let photo = try PictureFile(Self.jpeg(400, 300, orientation: orientation, isLittle: isLittle))
            #expect(photo.width == (orientation < 5 ? 400 : 300), "\(orientation)")
            #expect(photo.height == (orientation < 5 ? 300 : 400), "\(orientation)")
        }
    }

    @Test func dataAddressContainsTheFile() throws {
        let address = try PictureFile(Self.png(2, 1)).dataAddress
        #expect(address == "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAA=")
    }

    @Test(arguments: [
        ("%PDF-1.7", "is a PDF document, not a PNG or JPEG picture; convert it: pdftoppm -png"),
        ("<?xml version=\"1.0\"?><svg/>", "is an SVG drawing, not a PNG or JPEG picture; convert it: rsvg-convert"),
        ("GIF89a", "is a GIF picture"), ("RIFF1234WEBPVP8 ", "is a WebP picture"), ("II*\0", "is a TIFF picture"),
        ("hello", "is not a picture; use PNG or JPEG"), ("", "is not a picture"),
    ])
    func namesOtherFormats(text: String, message: String) {
        #expect(fault(Array(text.utf8)).hasPrefix(message))
    }

    @Test func reportsDamagedHeaders() {
        for whole in [Self.png(10, 10), Self.jpeg(10, 10, orientation: 6), Self.jpeg(10, 10)] {
            let end = whole.count - (whole[0] == 0x89 ? 5 : 4)
            for length in 8..<end {
                #expect(fault(Array(whole.prefix(length))).contains("header is damaged"), "\(length)")
            }
        }
        #expect(fault(Self.png(0, 10)).contains("header is damaged"))
        // A segment that is longer than the file, and markers without an end.
        #expect(fault([0xFF, 0xD8, 0xFF, 0xE1, 0xFF, 0xFF] + Array("Exif\0\0II*\0".utf8)).contains("damaged"))
        #expect(fault([0xFF, 0xD8, 0xFF] + Array(repeating: 0xFF, count: 50)).contains("damaged"))
    }

    @Test func hugePicturesAreRefused() throws {
        #expect(try PictureFile(Self.png(8000, 8000)).width == 8000)
        #expect(fault(Self.png(8001, 8000)).hasPrefix("is too large: it has 8001 × 8000 pixels; reduce it"))
        #expect(fault(Self.png(20_000, 1)).contains("16384 along each side"))
        #expect(fault(Self.png(.max, .max)).hasPrefix("is too large"))
        let file = Self.png(10, 10) + [UInt8](repeating: 0, count: PictureFile.octetLimit)
        #expect(fault(file) == "is too large: a picture has at most 20 MB; reduce it")
    }
}
