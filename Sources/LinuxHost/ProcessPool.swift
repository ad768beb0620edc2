/// Runs many programs, some at a time, and gathers what they write.
public enum ProcessPool {
    public enum Answer: Sendable {
        case ended(output: [UInt8], errors: [UInt8], code: Int32)
        /// It took too long, or wrote too much, and was ended.
        case late
        case notStarted(SystemError)
    }

    private struct Running {
        let index: Int
        let process: ChildProcess
        let deadline: UInt64
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var outputIsOpen = true
        var errorsIsOpen = true
    }

    /// - Parameters:
    ///   - jobs: Programs with their arguments.
    ///   - parallel: At most so many at a time.
    ///   - timeoutSeconds: Each is ended after so long.
    ///   - outputLimit: Each is ended after so many octets.
    /// - Returns: An answer a job, in their order.
    public static func run(
        _ jobs: [[String]], parallel: Int, timeoutSeconds: Int, outputLimit: Int
    ) throws(SystemError) -> [Answer] {
        var answers = [Answer](repeating: .late, count: jobs.count)
        var running: [Running] = []
        var next = 0
        while next < jobs.count || !running.isEmpty {
            while next < jobs.count, running.count < max(1, parallel) {
                do throws(SystemError) {
                    let deadline = MonotonicClock.nanoseconds() + UInt64(max(0, timeoutSeconds)) * 1_000_000_000
                    running.append(Running(index: next, process: try ChildProcess(jobs[next]), deadline: deadline))
                } catch {
                    answers[next] = .notStarted(error)
                }
                next += 1
            }
            guard let deadline = running.map(\.deadline).min() else { continue }
            var interests: [Poller.Interest] = []
            for job in running {
                if job.outputIsOpen { interests.append(.init(job.process.output, .read)) }
                if job.errorsIsOpen { interests.append(.init(job.process.errors, .read)) }
            }
            var ready = try Poller.wait(interests, until: deadline)[...]
            let now = MonotonicClock.nanoseconds()
            for place in running.indices.reversed() {
                // Interests stand in the order of the jobs, so they are taken from the end here.
                if running[place].errorsIsOpen, ready.popLast() == true {
                    running[place].errorsIsOpen = try read(running[place].process.errors, &running[place].errors)
                }
                if running[place].outputIsOpen, ready.popLast() == true {
                    running[place].outputIsOpen = try read(running[place].process.output, &running[place].output)
                }
                let job = running[place]
                if !job.outputIsOpen, !job.errorsIsOpen {
                    let code = job.process.wait(until: job.deadline)
                    answers[job.index] = .ended(output: job.output, errors: job.errors, code: code)
                    running.remove(at: place)
                } else if now >= job.deadline || job.output.count + job.errors.count > outputLimit {
                    job.process.end()
                    running.remove(at: place)
                }
            }
        }
        return answers
    }

    /// - Returns: whether more may come.
    private static func read(_ descriptor: Descriptor, _ octets: inout [UInt8]) throws(SystemError) -> Bool {
        let part = try descriptor.read(upTo: 1 << 16)
        octets += part
        return !part.isEmpty
    }
}
