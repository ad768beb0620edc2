internal import Advertiser
internal import LinuxHost

/// Writes log lines to standard error: for the journal each with its priority (sd-daemon(3)), otherwise with the
/// program's name.
struct HubJournal {
    /// systemd sets JOURNAL_STREAM if standard error goes to the journal.
    private let isJournal = Terminal.environment("JOURNAL_STREAM") != nil

    func write(_ priority: Supervisor.LogPriority, _ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            Terminal.writeError((isJournal ? "<\(priority.rawValue)>" : "pharos: ") + line + "\n")
        }
    }
}
