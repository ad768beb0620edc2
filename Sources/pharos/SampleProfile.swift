internal import LinuxHost

/// Profiles that people name without their directory: installed ones, and the samples.
enum SampleProfile {
    private static let directories = ["profiles", "/etc/pharos", "/usr/share/pharos/profiles"]

    /// Where a profile of that name lies, as advice behind "there is no such file"; empty where there is none.
    static func advice(for name: String) -> String {
        guard !name.isEmpty, !name.hasPrefix("-") else { return "" }
        let file = name.hasSuffix(".json") ? name : name + ".json"
        let found = (name.contains("/") ? [file] : ["."].map { "\($0)/\(file)" } + directories.map { "\($0)/\(file)" })
            .first { Files.exists($0) && $0 != name }
        return found.map { "; did you mean \($0.hasPrefix("./") ? String($0.dropFirst(2)) : $0)?" } ?? ""
    }
}
