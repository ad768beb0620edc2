public import Fleet
internal import LinuxHost

/// The files that labels are written to: one SVG for each page, or one PDF.
public struct LabelFiles: Sendable {
    private let sheet: LabelSheet
    /// As it was asked for: with several pages each SVG gets its number before the extension.
    private let output: String

    /// - Parameter output: A name that ends in `.pdf` for one document, any other for SVG, `-` for standard output.
    public init(_ sheet: LabelSheet, output: String) {
        self.sheet = sheet
        self.output = output
    }

    private var isDocument: Bool { output.hasSuffix(".pdf") }

    /// What was written: one name, or the first and the last of several.
    public var names: String {
        guard sheet.pageCount > 1, !isDocument else { return output }
        return "\(name(of: 0)) to \(name(of: sheet.pageCount - 1))"
    }

    /// Draws all pages and writes them.
    ///
    /// - Parameter progress: Gets how many pages are drawn; `nil` while all of them become one document.
    public func write(progress: (_ done: Int?) -> Void = { _ in }) throws(FleetStoreError) {
        if isDocument { return try writeDocument(progress) }
        for index in 0..<sheet.pageCount {
            progress(index)
            try OutputFile.write(sheet.page(index), to: name(of: index))
        }
    }

    /// Seconds that the conversion may take.
    private static let timeLimit = 600

    /// All pages in one PDF, which rsvg-convert makes of them.
    private func writeDocument(_ progress: (_ done: Int?) -> Void) throws(FleetStoreError) {
        let directory = try Self.asking { () throws(SystemError) in try TemporaryDirectory() }
        var files: [String] = []
        for index in 0..<sheet.pageCount {
            progress(index)
            let (file, page) = ("\(directory.path)/\(index).svg", Array(sheet.page(index).utf8))
            try Self.asking { () throws(SystemError) in try Files.create(file, with: page) }
            files.append(file)
        }
        progress(nil)
        let job = ["rsvg-convert", "--format", "pdf"] + files
        let answers = try Self.asking { () throws(SystemError) in
            try ProcessPool.run([job], parallel: 1, timeoutSeconds: Self.timeLimit, outputLimit: 1 << 30)
        }
        switch answers.first {
        case .ended(let document, _, 0): try OutputFile.write(octets: document, to: output)
        case .ended(_, let errors, let code):
            let said = errors.split(separator: UInt8(ascii: "\n")).first.map { String(decoding: $0, as: UTF8.self) }
            throw FleetStoreError(.failed, "rsvg-convert ended with \(code): \(said ?? "it did not say why")")
        case .notStarted:
            throw FleetStoreError(
                .unavailable,
                "rsvg-convert, which makes PDF of the pages, is not there: apt-get install librsvg2-bin, or give "
                    + "--output a name that ends in .svg")
        case .late, nil:
            throw FleetStoreError(.busy, "rsvg-convert did not make the document within \(Self.timeLimit) s")
        }
    }

    private static func asking<Value: ~Copyable>(
        _ body: () throws(SystemError) -> Value
    ) throws(FleetStoreError) -> Value {
        do throws(SystemError) { return try body() } catch { throw FleetStoreError(error) }
    }

    /// The file of a page, from 0. Numbers have as many digits as the last one, so that names sort as pages do.
    func name(of index: Int) -> String {
        guard sheet.pageCount > 1 else { return output }
        let digits = String(index + 1)
        let number = String(repeating: "0", count: String(sheet.pageCount).count - digits.count) + digits
        let stem = output.hasSuffix(".svg") ? String(output.dropLast(4)) : output
        return "\(stem)-\(number).svg"
    }
}
