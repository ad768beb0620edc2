/// The directory of files that survive a restart.
public enum StateDirectory {
    /// The directory without an option and outside a service of systemd.
    public static let usual = "/var/lib/pharos"

    /// Returns the directory that `--state-dir` names; without the option, that of systemd's StateDirectory=; without both,
    /// ``usual``.
    public static func path(_ option: String?) -> String {
        option ?? Terminal.environment("STATE_DIRECTORY") ?? usual
    }
}
