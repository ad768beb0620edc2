import Glibc
import LinuxHost

/// One run of a program to its end: its duration and its greatest memory.
struct MeasuredRun {
    var seconds = 0.0
    /// The processor time on all cores, which does not depend on other programs.
    var processorSeconds = 0.0
    /// The peak memory in MiB. It is read every 2 ms, because the kernel's value at the end (ru_maxrss) includes the
    /// memory of the program that started this one.
    var peak = 0.0

    /// - Parameter expected: The exit status of success; any other is an error.
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
