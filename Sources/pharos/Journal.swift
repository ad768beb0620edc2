internal import Advertiser
internal import LinuxHost

/// Log lines on standard error: for the journal each with its priority in front (sd-daemon(3)), for people with the
/// program's name.
struct Journal {
    /// systemd sets JOURNAL_STREAM where standard error goes to the journal.
    private let isJournal = Terminal.environment("JOURNAL_STREAM") != nil

    func write(_ priority: Supervisor.LogPriority, _ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            Terminal.writeError((isJournal ? "<\(priority.rawValue)>" : "pharos: ") + line + "\n")
        }
    }
}
