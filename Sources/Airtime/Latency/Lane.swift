/// Events to come, as masses over the grid: the paths that share one state of the recursion.
struct Lane: Sendable {
    /// The steps that hold a mass; empty when none does.
    private(set) var range = 0..<0
    private var values: [Double] = []

    var isEmpty: Bool { range.isEmpty }

    var mass: Double { values.reduce(0, +) }

    /// Makes room for `wanted`; new steps hold nothing.
    private mutating func cover(_ wanted: Range<Int>) {
        if range.isEmpty {
            values.removeAll(keepingCapacity: true)
            values.append(contentsOf: repeatElement(0, count: wanted.count))
            range = wanted
            return
        }
        if wanted.lowerBound < range.lowerBound {
            values.insert(contentsOf: repeatElement(0, count: range.lowerBound - wanted.lowerBound), at: 0)
        }
        if wanted.upperBound > range.upperBound {
            values.append(contentsOf: repeatElement(0, count: wanted.upperBound - range.upperBound))
        }
        range = min(range.lowerBound, wanted.lowerBound)..<max(range.upperBound, wanted.upperBound)
    }

    mutating func add(_ other: Lane) {
        guard !other.isEmpty else { return }
        cover(other.range)
        let offset = other.range.lowerBound - range.lowerBound
        for index in other.values.indices { values[offset + index] += other.values[index] }
    }

    /// Takes the steps before `end` out, but for what lies below `floor` at either side, and returns the mass that was
    /// left out so.
    mutating func take(before end: Int, floor: Double, into taken: inout EventStretch) -> Double {
        let count = min(values.count, end - range.lowerBound)
        guard count > 0 else {
            taken.clear()
            return 0
        }
        var low = 0
        var high = count
        var lost = 0.0
        while low < high, values[low] < floor {
            lost += values[low]
            low += 1
        }
        if count == values.count {
            while high > low, values[high - 1] < floor {
                lost += values[high - 1]
                high -= 1
            }
        }
        taken.set(values[low..<high], at: range.lowerBound + low)
        values.removeFirst(count)
        range = range.lowerBound + count..<range.upperBound
        return lost
    }

    /// Adds what follows the events of `stretch` one period later.
    mutating func addSuccessors(of stretch: inout EventStretch, kernel: PeriodKernel) {
        guard !stretch.isEmpty else { return }
        let first = stretch.start + kernel.steps
        let box = max(1, kernel.jitterSteps)
        let count = stretch.count + box + 1
        cover(first..<first + count)
        stretch.tap(kernel.taps, box: box)
        Self.addSlidingSum(of: stretch.tapped, width: box, to: &values, at: first - range.lowerBound, count: count)
    }

    /// Adds the sums over `width` values of `source`, one after another. Four stretches of them go side by side, because
    /// each sum needs the one before it, and a processor would wait for it.
    private static func addSlidingSum(
        of source: [Double], width: Int, to target: inout [Double], at offset: Int, count: Int
    ) {
        precondition(offset >= 0 && offset + count <= target.count && count + width <= source.count)
        let part = count / 4
        unsafe source.withUnsafeBufferPointer { source in
            unsafe target.withUnsafeMutableBufferPointer { target in
                var sums = SIMD4<Double>()
                for step in 1...width {
                    sums += unsafe SIMD4(
                        source[step &- 1], source[part &+ step &- 1], source[2 &* part &+ step &- 1],
                        source[3 &* part &+ step &- 1])
                }
                var (first, second, third, fourth) = (sums[0], sums[1], sums[2], sums[3])
                for index in 0..<part {
                    let (near, far) = (index, index &+ width)
                    unsafe first += source[far] - source[near]
                    unsafe second += source[part &+ far] - source[part &+ near]
                    unsafe third += source[2 &* part &+ far] - source[2 &* part &+ near]
                    unsafe fourth += source[3 &* part &+ far] - source[3 &* part &+ near]
                    unsafe target[offset &+ index] += first
                    unsafe target[offset &+ part &+ index] += second
                    unsafe target[offset &+ 2 &* part &+ index] += third
                    unsafe target[offset &+ 3 &* part &+ index] += fourth
                }
                for index in 4 &* part..<count {
                    unsafe fourth += source[index &+ width] - source[index]
                    unsafe target[offset &+ index] += fourth
                }
            }
        }
    }
}
