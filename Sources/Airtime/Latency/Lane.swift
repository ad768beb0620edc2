/// Events to come, as masses over the grid: the paths that share one state of the recursion.
struct Lane: Sendable {
    /// The step of the first value.
    private(set) var start = 0
    private(set) var values: [Double] = []

    /// The steps that hold a mass.
    var range: Range<Int> { start..<start + values.count }

    /// Makes room for `range`; new steps hold nothing.
    mutating func cover(_ range: Range<Int>) {
        if values.isEmpty {
            start = range.lowerBound
        } else if range.lowerBound < start {
            values.insert(contentsOf: repeatElement(0, count: start - range.lowerBound), at: 0)
            start = range.lowerBound
        }
        let missing = range.upperBound - start - values.count
        if missing > 0 { values.append(contentsOf: repeatElement(0, count: missing)) }
    }

    mutating func add(_ other: Lane) {
        guard !other.values.isEmpty else { return }
        cover(other.range)
        let offset = other.start - start
        for index in other.values.indices { values[offset + index] += other.values[index] }
    }

    mutating func add(_ other: [Double], at first: Int) {
        cover(first..<first + other.count)
        let offset = first - start
        for index in other.indices { values[offset + index] += other[index] }
    }

    /// Adds to one value, counted from the first.
    mutating func add(_ mass: Double, index: Int) {
        values[index] += mass
    }

    mutating func clear() {
        values.removeAll(keepingCapacity: true)
    }

    /// Takes the steps before `end` out, without what lies below `floor` at either side. Returns them with the mass
    /// that was left out.
    mutating func take(before end: Int, floor: Double, into taken: inout [Double]) -> (start: Int, lost: Double) {
        let count = min(values.count, end - start)
        guard count > 0 else {
            taken.removeAll(keepingCapacity: true)
            return (start, 0)
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
        taken.removeAll(keepingCapacity: true)
        taken.append(contentsOf: values[low..<high])
        let first = start + low
        start += count
        values.removeFirst(count)
        return (first, lost)
    }

    /// Adds what follows the events `source` (whose first value is at step `origin`) one period later.
    mutating func addSuccessors(of source: [Double], at origin: Int, kernel: PeriodKernel) {
        guard !source.isEmpty else { return }
        let count = source.count
        let box = max(1, kernel.jitterSteps)
        let first = origin + kernel.steps
        cover(first..<first + count + box + 1)
        let offset = first - start
        let (a, b, c) = kernel.taps
        var sum = 0.0
        // A sliding sum of the three-tap values; the ends, where a tap or the tail lies outside, come apart.
        func value(_ index: Int) -> Double { index >= 0 && index < count ? source[index] : 0 }
        func tapped(_ index: Int) -> Double { a * value(index) + b * value(index - 1) + c * value(index - 2) }
        let head = min(box + 2, count + box + 1)
        for index in 0..<head {
            sum += tapped(index) - (index >= box ? tapped(index - box) : 0)
            values[offset + index] += sum
        }
        if count > head {
            for index in head..<count {
                let tail = index - box
                let entering = a * source[index] + b * source[index - 1] + c * source[index - 2]
                let leaving = a * source[tail] + b * source[tail - 1] + c * source[tail - 2]
                sum += entering - leaving
                values[offset + index] += sum
            }
        }
        for index in max(head, count)..<count + box + 1 {
            sum += tapped(index) - tapped(index - box)
            values[offset + index] += max(0, sum)
        }
    }

    var mass: Double { values.reduce(0, +) }
}
