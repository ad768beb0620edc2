import Glibc
import LinuxHost

/// One run of a program to its end: how long it took, and the most memory that it had.
struct MeasuredRun {
    var seconds = 0.0
    /// On all cores together: what it takes also where others want them.
    var processorSeconds = 0.0
    /// In MiB; looked up every 2 ms, because the kernel's own account at the end (ru_maxrss) includes the memory of the
    /// program that started it.
    var peak = 0.0

    /// - Parameter expected: Its exit status; anything else is an error.
    init(_ arguments: [String], output: Descriptor, expected: Int32 = 0) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let process = try ChildProcess(arguments, output: output)
        var most = 0.0
        var end: (status: Int32, processorSeconds: Double)?
        while end == nil {
            most = max(most, ProcessMemory.peak(of: process.id) ?? 0)
            usleep(2000)
            end = try process.poll()
        }
        seconds = (clock.now - start).milliseconds / 1000
        peak = most / 1024
        processorSeconds = end?.processorSeconds ?? 0
        guard end?.status == expected else { throw BenchmarkError("\(arguments.joined(separator: " ")) failed") }
    }
}
