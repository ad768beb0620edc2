import CMeasurement

extension [Double] {
    /// Returns the median, or 0 if there are no values.
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
    /// Runs each of `bodies` once to warm up, and then in turns, so that other programs disturb all of them equally.
    ///
    /// - Returns: The times of the rounds of each body, in nanoseconds.
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

    /// Returns the number of memory allocations in `body`.
    static func allocations(_ body: () throws -> Void) rethrows -> Int {
        measurement_allocations_begin()
        defer { _ = measurement_allocations_end() }
        try body()
        return Int(measurement_allocations_end())
    }
}

/// The reason why a measurement ended without a result.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
