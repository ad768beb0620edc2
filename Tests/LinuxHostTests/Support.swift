import LinuxHost
import Synchronization
import SystemPackage

/// Reads from `stream` until there are `count` octets or the time is over.
func read(_ count: Int, from stream: Descriptor, milliseconds: Int = 2000) throws -> [UInt8] {
    let deadline = MonotonicClock.nanoseconds() + UInt64(milliseconds) * 1_000_000
    var octets: [UInt8] = []
    while octets.count < count, try Poller.wait([.init(stream, .read)], until: deadline) == [true] {
        let part = try stream.read(upTo: count - octets.count)
        if part.isEmpty { break }
        octets += part
    }
    return octets
}

/// Returns the errno of the error that `body` throws; `nil` if it throws none.
func errorNumber(_ body: () throws -> Void) -> Int32? {
    do {
        try body()
        return nil
    } catch {
        return (error as? SystemError)?.errno.rawValue
    }
}

/// A process that holds a lock on a file until this object is released.
final class LockingProcess {
    let process: ChildProcess
    /// The process id.
    let number: Int32

    /// - Parameter says: The second line of the file, after the process id; `nil` to lock the file for reading and
    ///   leave its contents.
    init(_ path: String, says: String?) throws {
        let mode = says == nil ? "<" : "+<"
        let kind = says == nil ? 0 : 1
        let said = says.map { "select((select(F), $| = 1)[0]); print F \"$$\\n\($0)\\n\";" } ?? ""
        let script = """
            open(F, "\(mode)", "\(path)") or die; \
            $lock = pack("ssx4qqlx4", \(kind), 0, 0, 0, 0); fcntl(F, 37, $lock) or die; \
            \(said) $| = 1; print "$$\\n"; sleep 60
            """
        process = try ChildProcess(["perl", "-e", script])
        let line = String(decoding: try process.output.read(upTo: 64), as: UTF8.self)
        guard let number = Int32(line.dropLast()) else { throw SystemError("perl", path, errno: SystemError.invalid) }
        self.number = number
    }
}

/// Octets that one thread reads and another one checks.
final class Collector: Sendable {
    private let collected = Mutex<[UInt8]>([])

    var octets: [UInt8] { collected.withLock { $0 } }

    func add(_ octets: [UInt8]) { collected.withLock { $0 += octets } }

    /// Reads until there are `count` octets, or the stream ends or fails.
    func collect(_ count: Int, from stream: Descriptor) {
        while octets.count < count, (try? Poller.wait([.init(stream, .read)], milliseconds: 5000)) == [true],
            let part = try? stream.read(upTo: 65_536), !part.isEmpty
        {
            collected.withLock { $0 += part }
        }
    }
}
