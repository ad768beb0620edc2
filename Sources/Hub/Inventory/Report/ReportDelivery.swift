internal import LinuxHost

/// Makes PDF documents and sends mail with programs of the machine. The programs are started without a shell.
public enum ReportDelivery {
    /// The longest run time of a program, in seconds.
    private static let timeLimit = 600

    /// Returns the number of items whose photos are left out of a PDF document. These are WebP photos, because
    /// `rsvg-convert` can read them only on some systems.
    public static func photosMissing(inPDFOf report: CountReport) -> Int {
        report.photos.values.count { $0.kind == .webp }
    }

    /// Converts a report into one PDF document, with `rsvg-convert`.
    public static func pdf(_ report: CountReport) throws(InventoryError) -> [UInt8] {
        let directory = try temporaryDirectory()
        var files: [String] = []
        for (index, page) in ReportSheets(report).pages.enumerated() {
            let file = "\(directory.path)/\(index).svg"
            try create(file, page)
            files.append(file)
        }
        if let document = try run(["rsvg-convert", "--format", "pdf"] + files, input: "/dev/null") { return document }
        throw InventoryError(
            .unavailable,
            "rsvg-convert, which makes the PDF, is not installed: apt-get install librsvg2-bin, or use --html")
    }

    /// Sends a message with the machine's mail program.
    public static func send(_ message: MailMessage, to addresses: [String]) throws(InventoryError) {
        let directory = try temporaryDirectory()
        let file = "\(directory.path)/message"
        try create(file, message.text)
        for program in ["sendmail", "/usr/sbin/sendmail", "/usr/lib/sendmail"] {
            // With -i, a line with a single dot does not end the message. With --, sendmail reads no address as an
            // option.
            if try run([program, "-i", "--"] + addresses, input: file) != nil { return }
        }
        throw InventoryError(
            .unavailable,
            "sendmail, which sends mail, is not installed: install a mail program such as msmtp-mta or postfix")
    }

    private static func temporaryDirectory() throws(InventoryError) -> TemporaryDirectory {
        do throws(SystemError) { return try TemporaryDirectory() } catch { throw InventoryError(error) }
    }

    private static func create(_ file: String, _ text: String) throws(InventoryError) {
        do throws(SystemError) { try Files.create(file, with: Array(text.utf8)) } catch { throw InventoryError(error) }
    }

    /// Runs a program.
    ///
    /// - Returns: The program's output; `nil` if there is no such program.
    private static func run(_ job: [String], input: String) throws(InventoryError) -> [UInt8]? {
        let answers: [ProcessPool.Answer]
        do throws(SystemError) {
            answers = try ProcessPool.run(
                [job], parallel: 1, timeoutSeconds: timeLimit, outputLimit: 1 << 30, input: input)
        } catch {
            throw InventoryError(error)
        }
        switch answers.first {
        case .ended(let output, _, 0): return output
        case .ended(_, let errors, let code):
            let line = errors.split(separator: UInt8(ascii: "\n")).first.map { String(decoding: $0, as: UTF8.self) }
            throw InventoryError(.failed, "\(job[0]): exit status \(code): \(line ?? "no error message")")
        case .notStarted(let error):
            guard error.errno == SystemError.noEntry else { throw InventoryError(error) }
            return nil
        case .late, nil: throw InventoryError(.busy, "\(job[0]): not finished after \(timeLimit) s")
        }
    }
}
