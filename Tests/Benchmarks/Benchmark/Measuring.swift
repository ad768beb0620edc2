import CMeasurement

extension [Double] {
    /// The middle one, or the mean of the two in the middle; 0 of none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}

extension Duration {
    var nanoseconds: Double { Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9 }
    var milliseconds: Double { nanoseconds / 1e6 }
}

enum Measuring {
    /// Runs each of `bodies` once to warm up, and then turn about, so that whatever else the machine does falls on all
    /// of them alike.
    ///
    /// - Returns: for each body the times of its rounds, in nanoseconds.
    static func inTurns(rounds: Int, _ bodies: [() throws -> Void]) throws -> [[Double]] {
        for body in bodies { try body() }
        var times = [[Double]](repeating: [], count: bodies.count)
        let clock = ContinuousClock()
        for _ in 0..<rounds {
            for (index, body) in bodies.enumerated() {
                times[index].append(try clock.measure(body).nanoseconds)
            }
        }
        return times
    }

    /// How often `body` asks the allocator for memory.
    static func allocations(_ body: () throws -> Void) rethrows -> Int {
        measurement_allocations_begin()
        defer { _ = measurement_allocations_end() }
        try body()
        return Int(measurement_allocations_end())
    }
}

/// Why a measurement ended without a number.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
