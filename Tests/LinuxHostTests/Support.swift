import LinuxHost
import Synchronization
import SystemPackage

/// Octets from `stream` until there are `count` of them or the time is over.
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

/// The errno of `body`'s error; `nil` where there is none.
func errorNumber(_ body: () throws -> Void) -> Int32? {
    do {
        try body()
        return nil
    } catch {
        return (error as? SystemError)?.errno.rawValue
    }
}

/// Another process that holds a lock on a file, until this is gone.
final class LockingProcess {
    let process: ChildProcess
    /// Its number.
    let number: Int32

    /// - Parameter says: What it writes into the file behind its number, on a line of its own; `nil` writes nothing.
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

/// What a thread reads, for another one to look at.
final class Collector: Sendable {
    private let collected = Mutex<[UInt8]>([])

    var octets: [UInt8] { collected.withLock { $0 } }

    func add(_ octets: [UInt8]) { collected.withLock { $0 += octets } }

    /// Reads until there are `count` octets, or the stream is at its end or fails.
    func collect(_ count: Int, from stream: Descriptor) {
        while octets.count < count, (try? Poller.wait([.init(stream, .read)], milliseconds: 5000)) == [true],
            let part = try? stream.read(upTo: 65_536), !part.isEmpty
        {
            collected.withLock { $0 += part }
        }
    }
}
