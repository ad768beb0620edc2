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

    private static func addSlidingSum(
        of source: [Double], width: Int, to target: inout [Double], at offset: Int, count: Int
    ) {
        var sum = 0.0
        for index in 0..<count {
            sum += source[index + width] - source[index]
            target[offset + index] += sum
        }
    }
}
