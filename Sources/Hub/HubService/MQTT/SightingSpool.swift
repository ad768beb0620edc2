internal import Store

/// Sightings that wait for the broker in a file: 100 MB of them, or those of seven days.
///
/// Without that file, or with one that takes nothing, they wait in memory as far as they have room there.
final class SightingSpool {
    private static let octetLimit = 100_000_000
    private static let timeLimit: Int64 = 7 * 86_400_000_000

    /// Is told what went wrong and what is right again, in sentences; the second says whether it is a warning.
    var onSentence: (String, Bool) -> Void = { _, _ in }
    private let path: String
    private var file: MessageSpool?
    private var isFailing = false

    /// - Parameter path: Nothing is opened before it is needed.
    init(path: String) { self.path = path }

    /// How many wait, their octets, and how many were given up.
    var count: Int { file?.count ?? 0 }
    var octets: Int { file?.octets ?? 0 }
    var dropped: Int { file?.dropped ?? 0 }

    /// Looks for what an earlier run has left.
    func begin() {
        guard file == nil else { return }
        do throws(StoreError) {
            file = try MessageSpool(path: path, octetLimit: Self.octetLimit, timeLimit: Self.timeLimit)
        } catch {
            fail(error)
        }
    }

    /// - Returns: whether they are kept now.
    func append(_ messages: [MessageSpool.Message]) -> Bool {
        begin()
        guard let file else { return false }
        do throws(StoreError) {
            try file.append(messages)
            if isFailing { onSentence("\(path): what is heard is kept again until the broker has it", false) }
            isFailing = false
            return true
        } catch {
            fail(error)
            return false
        }
    }

    /// The oldest.
    func first(_ limit: Int) -> [MessageSpool.Waiting] {
        guard let file, file.count > 0 else { return [] }
        do throws(StoreError) {
            return try file.first(limit)
        } catch {
            fail(error)
            return []
        }
    }

    /// The broker has these.
    func remove(_ messages: [MessageSpool.Waiting]) {
        do throws(StoreError) { try file?.remove(messages) } catch { fail(error) }
    }

    private func fail(_ error: StoreError) {
        guard !isFailing else { return }
        isFailing = true
        onSentence("\(error): what is heard waits for the broker in memory", true)
    }
}
