import LinuxHost
import Synchronization

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
