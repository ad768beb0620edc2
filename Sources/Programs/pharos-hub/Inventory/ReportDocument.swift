internal import CommandSupport
internal import Inventory
internal import LinuxHost

/// What other programs do for a report: PDF, and mail. They are started by their names, without a shell.
enum ReportDocument {
    /// Seconds that either may take.
    private static let timeLimit = 600

    /// One document of all pages.
    static func pdf(_ pages: [String]) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        var files: [String] = []
        for (index, page) in pages.enumerated() {
            let file = "\(directory.path)/\(index).svg"
            try Files.create(file, with: Array(page.utf8))
            files.append(file)
        }
        let answer = try run(["rsvg-convert", "--format", "pdf"] + files, input: "/dev/null")
        guard let answer else {
            throw Failure(
                .unavailable,
                "rsvg-convert, which makes the PDF, is not there: apt-get install librsvg2-bin, or take --html")
        }
        return answer
    }

    /// Hands a message to the machine's mail program.
    static func send(_ message: MailMessage, to addresses: [String]) throws {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/message"
        try Files.create(file, with: Array(message.text.utf8))
        for program in ["sendmail", "/usr/sbin/sendmail", "/usr/lib/sendmail"] {
            // -i: a line of a single dot ends nothing. Addresses stand behind --, and none begins with a dash.
            if try run([program, "-i", "--"] + addresses, input: file) != nil { return }
        }
        throw Failure(
            .unavailable,
            "sendmail, which sends mail, is not there: install a mail program such as msmtp-mta or postfix")
    }

    /// - Returns: what it wrote; `nil` where there is no such program.
    private static func run(_ job: [String], input: String) throws -> [UInt8]? {
        let answers = try ProcessPool.run(
            [job], parallel: 1, timeoutSeconds: timeLimit, outputLimit: 1 << 30, input: input)
        switch answers.first {
        case .ended(let output, _, 0): return output
        case .ended(_, let errors, let code):
            let said = errors.split(separator: UInt8(ascii: "\n")).first.map { String(decoding: $0, as: UTF8.self) }
            throw Failure(.software, "\(job[0]) ended with \(code): \(said ?? "it did not say why")")
        case .notStarted(let error):
            guard error.errno == SystemError.noEntry else { throw error }
            return nil
        case .late, nil: throw Failure(.temporaryFailure, "\(job[0]) was not done within \(timeLimit) s")
        }
    }
}
