/// Masses of events over consecutive steps: working memory of the recursion, kept from use to use.
struct EventStretch: Sendable {
    /// The step of the first value.
    private(set) var start = 0
    private(set) var count = 0
    /// At least as many as ``count``; those behind are of no meaning.
    private var values: [Double] = []

    var isEmpty: Bool { count == 0 }
    var range: Range<Int> { start..<start + count }

    mutating func clear() { count = 0 }

    /// Makes it hold these steps, with values without meaning until they are set.
    mutating func span(_ range: Range<Int>) {
        (start, count) = (range.lowerBound, range.count)
        values.grow(to: count)
    }

    mutating func setZero(_ range: Range<Int>) {
        span(range)
        values.clear(0..<count)
    }

    /// Adds masses of consecutive steps from `first` on; new steps between them and the others hold nothing.
    mutating func add(_ masses: UnsafeBufferPointer<Double>, at first: Int) {
        guard !masses.isEmpty else { return }
        if isEmpty {
            span(first..<first + masses.count)
            unsafe values.withUnsafeMutableBufferPointer { values in
                for index in 0..<masses.count { unsafe values[index] = masses[index] }
            }
            return
        }
        cover(first..<first + masses.count)
        let offset = first - start
        unsafe values.withUnsafeMutableBufferPointer { values in
            for index in 0..<masses.count { unsafe values[offset &+ index] += masses[index] }
        }
    }

    /// Makes room for `wanted`; new steps hold nothing.
    private mutating func cover(_ wanted: Range<Int>) {
        let (low, high) = (min(start, wanted.lowerBound), max(start + count, wanted.upperBound))
        values.grow(to: high - low)
        if low < start {
            values.move(0..<count, by: start - low)
            values.clear(0..<start - low)
        }
        values.clear(start + count - low..<high - low)
        (start, count) = (low, high - low)
    }

    /// Access to the values of ``range``.
    func withValues<Result>(_ body: (UnsafeBufferPointer<Double>) -> Result) -> Result {
        unsafe values.withUnsafeBufferPointer { unsafe body(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }

    /// The same, to change them.
    mutating func withMutableValues<Result>(_ body: (UnsafeMutableBufferPointer<Double>) -> Result) -> Result {
        let count = count
        return unsafe values.withUnsafeMutableBufferPointer {
            unsafe body(UnsafeMutableBufferPointer(rebasing: $0[..<count]))
        }
    }
}

extension [Double] {
    /// Makes it at least so long.
    mutating func grow(to wanted: Int) {
        if count < wanted { append(contentsOf: repeatElement(0, count: wanted - count)) }
    }

    /// Sets a part of it to 0.
    mutating func clear(_ part: Range<Int>) {
        precondition(part.lowerBound >= 0 && part.upperBound <= count)
        unsafe withUnsafeMutableBufferPointer { values in
            unsafe UnsafeMutableBufferPointer(rebasing: values[part]).update(repeating: 0)
        }
    }

    /// Moves a part of it up or down, over what is there.
    mutating func move(_ part: Range<Int>, by shift: Int) {
        precondition(part.lowerBound >= 0 && part.lowerBound + shift >= 0 && part.upperBound <= count)
        guard shift != 0, !part.isEmpty else { return }
        grow(to: part.upperBound + shift)
        unsafe withUnsafeMutableBufferPointer { values in
            guard let start = values.baseAddress else { return }
            unsafe (start + part.lowerBound + shift).update(from: start + part.lowerBound, count: part.count)
        }
    }
}
