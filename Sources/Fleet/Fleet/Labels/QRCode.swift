internal import CQRCode

/// A QR code (ISO/IEC 18004) with at least medium error correction, drawn by the library qrcodegen.
struct QRCode {
    /// The number of modules in a row and in a column, without the quiet zone of four modules on each side.
    let size: Int
    private let buffer: [UInt8]

    /// Encodes text as UTF-8. Returns `nil` when the text is too long: more than 2331 bytes.
    init?(_ text: String) {
        var scratch = [UInt8](repeating: 0, count: Int(PHAROS_QRCODE_BUFFER_SIZE))
        var code = scratch
        guard unsafe pharos_qrcode_encode(text, &scratch, &code) else { return nil }
        buffer = code
        size = unsafe Int(qrcodegen_getSize(code))
    }

    /// Returns whether the module is dark. Modules outside the code are light.
    func isDark(row: Int, column: Int) -> Bool {
        unsafe qrcodegen_getModule(buffer, Int32(clamping: column), Int32(clamping: row))
    }

    /// The dark modules as the data of an SVG path, in units of one module from the upper left corner.
    ///
    /// Adjacent dark modules of a row form one bar, so that printers leave no thin lines between them.
    var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                let start = column
                while isDark(row: row, column: column) { column += 1 }
                if column > start { path += "M\(start) \(row)h\(column - start)v1h-\(column - start)z" }
                column += 1
            }
        }
        return path
    }
}
