internal import HCI
internal import LinuxHost
internal import Synchronization
internal import SystemPackage

/// Reads a stream on its own thread, and records when each piece arrived.
///
/// While a program waits for its disk, it does not read the stream. Without the thread, all bytes that arrive meanwhile
/// would get the same time.
final class StampedStream: Sendable {
    /// Bytes that arrived together.
    struct Piece: Sendable {
        let octets: [UInt8]
        let receivedAt: HCIInstant
    }

    /// The descriptor to poll. It is readable while ``take()`` has a piece, or the end of the stream, to return.
    let ready: Descriptor
    private let shared: Shared
    /// The end of a pipe. It is closed when this object is released, which ends the thread.
    private let stop: Descriptor

    /// The state that this object and the thread share. It does not refer to this object, so the thread does not keep
    /// this object alive.
    private final class Shared: Sendable {
        let stream: Descriptor
        let wake: Descriptor
        let state = Mutex(State())

        init(_ stream: Descriptor, wake: Descriptor) {
            self.stream = stream
            self.wake = wake
        }
    }

    private struct State {
        var pieces: [Piece] = []
        /// The index of the next piece to take.
        var nextIndex = 0
        /// The number of bytes in the pieces that are not taken yet.
        var octetCount = 0
        /// The reason why the stream has ended: success at its end, or an error; `nil` while it continues.
        var end: Result<Void, SystemError>?
    }

    /// The number of waiting bytes above which the stream is not read, until some bytes are taken.
    private static let limit = 8 << 20

    /// Starts the thread that reads `stream`.
    ///
    /// - Parameter stream: A nonblocking stream, which only this object may read.
    init(_ stream: Descriptor) throws(SystemError) {
        let (ready, wake) = try Descriptor.pipe()
        let (stopped, stop) = try Descriptor.pipe()
        try ready.setNonblocking()
        (self.ready, self.stop) = (ready, stop)
        let shared = Shared(stream, wake: wake)
        self.shared = shared
        try BackgroundThread.start { Self.run(shared, stopped) }
    }

    private static func run(_ shared: Shared, _ stopped: Descriptor) {
        while true {
            let isFull = shared.state.withLock { $0.octetCount > limit }
            let interests = [Poller.Interest(stopped, .read)] + (isFull ? [] : [.init(shared.stream, .read)])
            do throws(SystemError) {
                let isReady = try Poller.wait(interests, milliseconds: isFull ? 10 : -1)
                if isReady[0] { return }
                guard !isFull, isReady[1] else { continue }
                let octets = try shared.stream.read(upTo: 4096)
                let piece = Piece(
                    octets: octets, receivedAt: HCIInstant(nanoseconds: MonotonicClock.nanoseconds()))
                update(shared) { state in
                    if octets.isEmpty { state.end = .success(()) } else { state.pieces.append(piece) }
                    state.octetCount += octets.count
                }
                if octets.isEmpty { return }
            } catch {
                if error.errno == .wouldBlock { continue }
                update(shared) { $0.end = .failure(error) }
                return
            }
        }
    }

    /// Changes the state, and makes ``ready`` readable if there was no piece before.
    private static func update(_ shared: Shared, _ change: (inout State) -> Void) {
        let wasEmpty = shared.state.withLock { state in
            let wasEmpty = state.pieces.isEmpty
            change(&state)
            return wasEmpty
        }
        if wasEmpty { _ = try? shared.wake.write([0]) }
    }

    /// Returns the oldest piece; `nil` if none has arrived. At the end of the stream it returns a piece without bytes.
    ///
    /// - Throws: The error that has ended the stream, after all pieces are taken.
    func take() throws(SystemError) -> Piece? {
        var end: Result<Void, SystemError>?
        let piece = shared.state.withLock { state -> Piece? in
            // `ready` is emptied while the lock is held, so that the signal for a new piece is not lost.
            defer { if state.pieces.isEmpty, state.end == nil { _ = try? ready.read(upTo: 16) } }
            guard state.nextIndex < state.pieces.count else {
                end = state.end
                return nil
            }
            let piece = state.pieces[state.nextIndex]
            state.nextIndex += 1
            state.octetCount -= piece.octets.count
            if state.nextIndex == state.pieces.count { (state.pieces, state.nextIndex) = ([], 0) }
            return piece
        }
        if let piece { return piece }
        guard let end else { return nil }
        try end.get()
        return Piece(octets: [], receivedAt: HCIInstant(nanoseconds: MonotonicClock.nanoseconds()))
    }
}
