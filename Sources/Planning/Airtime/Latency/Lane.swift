/// Events to come, as masses over the grid: the paths that share one state of the recursion.
///
/// The loops run over buffers whose lengths are checked once, before them: with a check for each element they take three
/// times as long, and they are nearly all that the recursion does.
struct Lane: Sendable {
    /// The steps that hold a mass, with those that hold nothing before and between them; empty when none does.
    private(set) var range = 0..<0
    /// The first step whose mass is stored: those of ``range`` before it hold nothing.
    private var first = 0
    /// Steps behind ``first`` that hold nothing and are not stored: events of one period and of the next may lie far
    /// apart.
    private var gap = 0..<0
    /// The masses, that of the step ``first`` at `base`.
    private var values: [Double] = []
    private var base = 0

    var isEmpty: Bool { range.isEmpty }

    /// Where the mass of a step is stored that lies not in the gap; where the next one would be, for the end of ``range``.
    private func place(of step: Int) -> Int { base + step - first - (step >= gap.upperBound ? gap.count : 0) }

    /// The sum of all masses, or some number above `enough` where the sum is far above it.
    func mass(enough: Double) -> Double {
        var sum = 0.0
        guard !isEmpty else { return sum }
        for value in values[base..<place(of: range.upperBound)] {
            sum += value
            // Twice, because single values may be a rounding error below 0.
            if sum > 2 * enough { return sum }
        }
        return sum
    }

    /// Stores what `wanted` holds; new steps hold nothing.
    private mutating func cover(_ wanted: Range<Int>) {
        guard !isEmpty else {
            values.grow(to: wanted.count)
            values.clear(0..<wanted.count)
            (range, first, base, gap) = (wanted, wanted.lowerBound, 0, 0..<0)
            return
        }
        if gap.overlaps(wanted) { fillGap(until: gap.upperBound) }
        if wanted.lowerBound < first {
            let missing = first - wanted.lowerBound
            if missing > base { move(to: missing) }
            base -= missing
            values.clear(base..<base + missing)
            first = wanted.lowerBound
            range = min(range.lowerBound, first)..<range.upperBound
        }
        if wanted.upperBound > range.upperBound {
            let added = wanted.upperBound - (gap.isEmpty ? max(range.upperBound, wanted.lowerBound) : range.upperBound)
            if place(of: range.upperBound) + added > values.count { move(to: 0) }
            let end = place(of: range.upperBound)
            values.grow(to: end + added)
            values.clear(end..<end + added)
            if gap.isEmpty, wanted.lowerBound > range.upperBound { gap = range.upperBound..<wanted.lowerBound }
            range = range.lowerBound..<wanted.upperBound
        }
    }

    /// Stores the steps of the gap before `end`.
    private mutating func fillGap(until end: Int) {
        let (low, high, missing) = (place(of: gap.upperBound), place(of: range.upperBound), end - gap.lowerBound)
        values.move(low..<high, by: missing)
        values.clear(low..<low + missing)
        gap = end < gap.upperBound ? end..<gap.upperBound : 0..<0
    }

    /// Moves all to another place.
    private mutating func move(to place: Int) {
        values.move(base..<self.place(of: range.upperBound), by: place - base)
        base = place
    }

    mutating func add(_ other: Lane) {
        guard !other.isEmpty else { return }
        guard !isEmpty else {
            self = other
            return
        }
        let low = min(range.lowerBound, other.range.lowerBound)
        let parts =
            other.gap.isEmpty
            ? [other.first..<other.range.upperBound]
            : [other.first..<other.gap.lowerBound, other.gap.upperBound..<other.range.upperBound]
        for part in parts {
            cover(part)
            let (target, source, count) = (place(of: part.lowerBound), other.place(of: part.lowerBound), part.count)
            precondition(target + count <= values.count && source + count <= other.values.count)
            unsafe other.values.withUnsafeBufferPointer { masses in
                unsafe values.withUnsafeMutableBufferPointer { values in
                    for index in 0..<count { unsafe values[target &+ index] += masses[source &+ index] }
                }
            }
        }
        range = low..<range.upperBound
    }

    /// Events that were taken out, whose masses stay in place until others are added.
    struct Taken {
        let steps: Range<Int>
        /// Where the mass of step 0 would be.
        fileprivate let origin: Int
        /// The mass that was left out.
        let lost: Double
    }

    /// Takes the steps before `end` out, but for what lies below `floor` at either side.
    mutating func take(before end: Int, floor: Double) -> Taken {
        let upper = min(range.upperBound, end)
        guard upper > range.lowerBound else { return Taken(steps: 0..<0, origin: 0, lost: 0) }
        if !gap.isEmpty, gap.lowerBound < upper { fillGap(until: min(upper, gap.upperBound)) }
        let origin = base - first
        var (low, high, lost) = (min(first, upper), upper, 0.0)
        precondition(low + origin >= 0 && high + origin <= values.count)
        unsafe values.withUnsafeBufferPointer { values in
            while low < high {
                let value = unsafe values[low &+ origin]
                guard value < floor else { break }
                lost += value
                low += 1
            }
            guard upper == range.upperBound else { return }
            while high > low {
                let value = unsafe values[high &- 1 &+ origin]
                guard value < floor else { break }
                lost += value
                high -= 1
            }
        }
        if upper > first { (base, first) = (base + upper - first, upper) }
        if !gap.isEmpty, gap.lowerBound <= first { (first, gap) = (gap.upperBound, 0..<0) }
        range = upper..<range.upperBound
        return Taken(steps: low..<high, origin: origin, lost: lost)
    }

    /// Of events that were taken out: splits `steps` by the shares of them that are covered, which begin at the step
    /// `first`. Of what is covered, `hazard` is received and goes into `histogram`, from its step `wait` on; the rest is
    /// lost. What is not covered stays.
    mutating func receive(
        _ steps: Range<Int>, of taken: Taken, shares: [Double], from first: Int, hazard: Double, after wait: Int,
        histogram: inout GapHistogram, lost: inout EventStretch
    ) {
        let (own, share, count) = (steps.lowerBound + taken.origin, steps.lowerBound - first, steps.count)
        precondition(own >= 0 && own + count <= values.count && share >= 0 && share + count <= shares.count)
        lost.span(steps)
        let missed = 1 - hazard
        unsafe lost.withMutableValues { lost in
            unsafe values.withUnsafeMutableBufferPointer { values in
                unsafe shares.withUnsafeBufferPointer { shares in
                    for index in 0..<count {
                        let inside = unsafe values[own &+ index] * shares[share &+ index]
                        unsafe values[own &+ index] -= inside
                        unsafe lost[index] = inside
                    }
                }
            }
            unsafe histogram.add(UnsafeBufferPointer(lost), times: hazard, at: wait)
            if missed > 0 {
                for index in 0..<count { unsafe lost[index] *= missed }
            }
        }
    }

    /// Adds the masses of events that were taken out to `stretch`.
    func put(_ taken: Taken, into stretch: inout EventStretch) {
        unsafe values.withUnsafeBufferPointer { values in
            let (low, high) = (taken.steps.lowerBound + taken.origin, taken.steps.upperBound + taken.origin)
            unsafe stretch.add(UnsafeBufferPointer(rebasing: values[low..<high]), at: taken.steps.lowerBound)
        }
    }

    /// Adds what follows the events of `stretch` one period later. `tapped` is working memory, kept from use to use.
    mutating func addSuccessors(of stretch: EventStretch, kernel: PeriodKernel, tapped: inout [Double]) {
        guard !stretch.isEmpty else { return }
        let next = stretch.start + kernel.steps
        let box = max(1, kernel.jitterSteps)
        let count = stretch.count + box + 1
        cover(next..<next + count)
        unsafe stretch.withValues { unsafe Self.tap($0, kernel.taps, box: box, into: &tapped) }
        Self.addSlidingSum(of: tapped, width: box, to: &values, at: place(of: next), count: count)
    }

    /// The values after the three taps of a period's kernel, with zeros as wide as its box before and after them.
    private static func tap(
        _ source: UnsafeBufferPointer<Double>, _ taps: (Double, Double, Double), box: Int, into target: inout [Double]
    ) {
        let count = source.count
        target.grow(to: box + count + 2 + box)
        unsafe target.withUnsafeMutableBufferPointer { target in
            for index in 0..<box {
                unsafe target[index] = 0
                unsafe target[box &+ count &+ 2 &+ index] = 0
            }
            unsafe target[box] = taps.0 * source[0]
            if count > 1 { unsafe target[box + 1] = taps.0 * source[1] + taps.1 * source[0] }
            if taps.2 == 0 {
                // Of a period of whole steps.
                for index in 2..<max(2, count) {
                    unsafe target[box &+ index] = taps.0 * source[index] + taps.1 * source[index &- 1]
                }
            } else {
                for index in 2..<max(2, count) {
                    unsafe target[box &+ index] =
                        taps.0 * source[index] + taps.1 * source[index &- 1] + taps.2 * source[index &- 2]
                }
            }
            let last = unsafe source[count - 1]
            let beforeLast = unsafe count > 1 ? source[count - 2] : 0
            unsafe target[box + count] = taps.1 * last + taps.2 * beforeLast
            unsafe target[box + count + 1] = taps.2 * last
        }
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
