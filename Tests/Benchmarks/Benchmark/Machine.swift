import LinuxHost

/// The machine on which the values were measured.
enum Machine {
    static func describe(_ report: Report) {
        report.section("Machine")
        let cpu = String(decoding: (try? Files.read("/proc/cpuinfo", limit: 1 << 20)) ?? [], as: UTF8.self)
        let lines = cpu.split(separator: "\n")
        report.line("CPU: \(lines.compactMap { value($0, "model name") }.first ?? "unknown")")
        report.line("cores: \(lines.count { $0.hasPrefix("processor") })")
        report.line("kernel: \(Files.firstLine("/proc/sys/kernel/osrelease") ?? "unknown")")
        let load = Files.firstLine("/proc/loadavg")?.split(separator: " ").prefix(3).joined(separator: " ")
        report.line("load average over 1, 5 and 15 minutes: \(load ?? "unknown")")
    }

    private static func value(_ line: Substring, _ name: String) -> String? {
        guard line.hasPrefix(name), let colon = line.firstIndex(of: ":") else { return nil }
        return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
}
