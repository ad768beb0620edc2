/// Masses of events over consecutive steps: working memory of the recursion, kept from use to use.
struct EventStretch: Sendable {
    /// The step of the first value.
    private(set) var start = 0
    private(set) var values: [Double] = []
    /// The values after the three taps of a period's kernel, with zeros as wide as its box before and after them.
    private(set) var tapped: [Double] = []

    var isEmpty: Bool { values.isEmpty }
    var count: Int { values.count }
    var range: Range<Int> { start..<start + values.count }

    mutating func clear() {
        values.removeAll(keepingCapacity: true)
    }

    mutating func set(_ slice: ArraySlice<Double>, at first: Int) {
        start = first
        values.removeAll(keepingCapacity: true)
        values.append(contentsOf: slice)
    }

    mutating func setZero(_ range: Range<Int>) {
        start = range.lowerBound
        values.removeAll(keepingCapacity: true)
        values.append(contentsOf: repeatElement(0, count: range.count))
    }

    /// Makes room for `wanted`; new steps hold nothing.
    mutating func cover(_ wanted: Range<Int>) {
        guard !wanted.isEmpty else { return }
        if wanted.lowerBound < start {
            values.insert(contentsOf: repeatElement(0, count: start - wanted.lowerBound), at: 0)
            start = wanted.lowerBound
        }
        if wanted.upperBound > range.upperBound {
            values.append(contentsOf: repeatElement(0, count: wanted.upperBound - range.upperBound))
        }
    }

    /// Access by index from the first value.
    subscript(index: Int) -> Double {
        get { values[index] }
        set { values[index] = newValue }
    }

    /// Adds `other`, which lies within this stretch.
    mutating func add(_ other: EventStretch) {
        guard !other.isEmpty else { return }
        Self.add(other.values, to: &values, at: other.start - start)
    }

    /// Takes the covered shares of the events of `steps` out of `source`. `shares` begin at the step `origin`.
    mutating func move(_ steps: Range<Int>, from source: inout EventStretch, shares: [Double], origin: Int) {
        start = steps.lowerBound
        Self.move(
            from: &source.values, at: start - source.start, shares: shares, at: start - origin, count: steps.count,
            to: &values)
    }

    mutating func scale(by factor: Double) {
        for index in values.indices { values[index] *= factor }
    }

    mutating func tap(_ taps: (Double, Double, Double), box: Int) {
        Self.tap(values, taps, box: box, into: &tapped)
    }

    // The loops run over buffers whose lengths are checked once, before them: with a check for each element they take
    // three times as long, and they are nearly all that the recursion does.

    private static func add(_ source: [Double], to target: inout [Double], at offset: Int) {
        precondition(offset >= 0 && offset + source.count <= target.count)
        unsafe source.withUnsafeBufferPointer { source in
            unsafe target.withUnsafeMutableBufferPointer { target in
                for index in 0..<source.count { unsafe target[offset &+ index] += source[index] }
            }
        }
    }

    private static func move(
        from source: inout [Double], at first: Int, shares: [Double], at firstShare: Int, count: Int,
        to target: inout [Double]
    ) {
        precondition(first >= 0 && first + count <= source.count)
        precondition(firstShare >= 0 && firstShare + count <= shares.count)
        target.removeAll(keepingCapacity: true)
        target.append(contentsOf: repeatElement(0, count: count))
        unsafe source.withUnsafeMutableBufferPointer { source in
            unsafe shares.withUnsafeBufferPointer { shares in
                unsafe target.withUnsafeMutableBufferPointer { target in
                    for index in 0..<count {
                        let inside = unsafe source[first &+ index] * shares[firstShare &+ index]
                        unsafe source[first &+ index] -= inside
                        unsafe target[index] = inside
                    }
                }
            }
        }
    }

    private static func tap(
        _ source: [Double], _ taps: (Double, Double, Double), box: Int, into target: inout [Double]
    ) {
        let count = source.count
        target.removeAll(keepingCapacity: true)
        target.append(contentsOf: repeatElement(0, count: box + count + 2 + box))
        guard count > 0 else { return }
        unsafe source.withUnsafeBufferPointer { source in
            unsafe target.withUnsafeMutableBufferPointer { target in
                unsafe target[box] = taps.0 * source[0]
                if count > 1 { unsafe target[box + 1] = taps.0 * source[1] + taps.1 * source[0] }
                for index in 2..<max(2, count) {
                    unsafe target[box &+ index] =
                        taps.0 * source[index] + taps.1 * source[index &- 1] + taps.2 * source[index &- 2]
                }
                let last = unsafe source[count - 1]
                let beforeLast = unsafe count > 1 ? source[count - 2] : 0
                unsafe target[box + count] = taps.1 * last + taps.2 * beforeLast
                unsafe target[box + count + 1] = taps.2 * last
            }
        }
    }
}
