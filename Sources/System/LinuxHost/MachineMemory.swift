/// The memory of this machine.
public enum MachineMemory {
    /// The memory that is available to programs now, in bytes; `nil` if it is unknown.
    public static var availableBytes: Int? {
        guard let octets = try? Files.read("/proc/meminfo", limit: 1 << 16) else { return nil }
        let text = String(decoding: octets, as: UTF8.self)
        for line in text.split(separator: "\n") where line.hasPrefix("MemAvailable:") {
            let words = line.split(separator: " ")
            return words.count > 1 ? Int(words[1]).map { $0 * 1024 } : nil
        }
        return nil
    }
}
