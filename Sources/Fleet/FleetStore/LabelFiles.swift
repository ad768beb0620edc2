internal import BluetoothTypes
public import Fleet
internal import LinuxHost

/// The files of labels: an SVG for each page, or one PDF.
public struct LabelFiles: Sendable {
    private let sheet: LabelSheet
    /// The requested name. If there are several pages, the name of each SVG file also contains the number of the page,
    /// before the extension.
    private let output: String

    /// - Parameter output: A name that ends in `.pdf` for one PDF, any other name for SVG files, or `-` for standard
    ///   output.
    public init(_ sheet: LabelSheet, output: String) {
        self.sheet = sheet
        self.output = output
    }

    private var isPDF: Bool { output.lowercased().hasSuffix(".pdf") }

    /// The name of the file, or the names of the first and the last file.
    public var names: String {
        guard sheet.pageCount > 1, !isPDF else { return output }
        return "\(name(of: 0)) to \(name(of: sheet.pageCount - 1))"
    }

    /// Draws all pages and writes them.
    ///
    /// - Parameter progress: Receives the number of drawn pages; `nil` while the PDF is made from the pages.
    /// - Throws: ``FleetStoreError/Kind/request`` for a name with the extension of another format, such as
    ///   `labels.png`.
    public func write(progress: (_ done: Int?) -> Void = { _ in }) throws(FleetStoreError) {
        if isPDF { return try writePDF(progress) }
        try ExportFile.refuseBinaryFormat(output)
        for index in 0..<sheet.pageCount {
            progress(index)
            try ExportFile.write(sheet.page(index), to: name(of: index))
        }
    }

    /// The time limit of the conversion in s.
    private static let timeLimit = 600

    /// Converts all pages to one PDF with rsvg-convert.
    private func writePDF(_ progress: (_ done: Int?) -> Void) throws(FleetStoreError) {
        let directory = try Self.rethrowing { () throws(SystemError) in try TemporaryDirectory() }
        var files: [String] = []
        for index in 0..<sheet.pageCount {
            progress(index)
            let (file, page) = ("\(directory.path)/\(index).svg", Array(sheet.page(index).utf8))
            try Self.rethrowing { () throws(SystemError) in try Files.create(file, with: page) }
            files.append(file)
        }
        progress(nil)
        let command = ["rsvg-convert", "--format", "pdf"] + files
        let answers = try Self.rethrowing { () throws(SystemError) in
            try ProcessPool.run([command], parallel: 1, timeoutSeconds: Self.timeLimit, outputLimit: 1 << 30)
        }
        switch answers.first {
        case .ended(let pdf, _, 0): try ExportFile.write(octets: pdf, to: output)
        case .ended(_, let errors, let code):
            let reason = errors.split(separator: UInt8(ascii: "\n")).first.map { String(decoding: $0, as: UTF8.self) }
            throw FleetStoreError(
                .failed, "rsvg-convert ended with exit code \(code): \(reason ?? "it printed no reason")")
        case .notStarted:
            throw FleetStoreError(
                .unavailable,
                "rsvg-convert, which writes PDF, is not installed: apt-get install librsvg2-bin, or give --output a "
                    + "name that ends in .svg")
        case .late, nil:
            throw FleetStoreError(.busy, "rsvg-convert did not write the PDF within \(Self.timeLimit) s")
        }
    }

    /// Calls `body`, and throws its error as a ``FleetStoreError``.
    private static func rethrowing<Value: ~Copyable>(
        _ body: () throws(SystemError) -> Value
    ) throws(FleetStoreError) -> Value {
        do throws(SystemError) { return try body() } catch { throw FleetStoreError(error) }
    }

    /// The files of pages that an earlier run wrote for the same output, and that this run does not replace, sorted by
    /// name.
    public var earlierPages: [String] {
        guard !isPDF, output != "-" else { return [] }
        let directory = Files.directory(of: output)
        let written = Set((0..<sheet.pageCount).map { name(of: $0) })
        let names = Files.names(in: directory.isEmpty ? "." : directory).sorted().map { directory + $0 }
        return names.filter { path in
            guard !written.contains(path) else { return false }
            if path == output { return true }
            guard path.hasPrefix(stem + "-"), path.hasSuffix(".svg") else { return false }
            let number = path.dropFirst(stem.count + 1).dropLast(4)
            return !number.isEmpty && number.allSatisfy { $0.isASCII && $0.isNumber }
        }
    }

    /// The requested name without the extension of SVG files.
    private var stem: String { output.hasSuffix(".svg") ? String(output.dropLast(4)) : output }

    /// The file of a page, counted from 0. All numbers have the same length, so that names sort like pages.
    func name(of index: Int) -> String {
        guard sheet.pageCount > 1 else { return output }
        let number = NumberFormat.padded(index + 1, to: String(sheet.pageCount).count)
        return "\(stem)-\(number).svg"
    }
}
