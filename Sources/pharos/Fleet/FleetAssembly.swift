internal import Fleet
internal import LinuxHost
internal import Synchronization

/// Makes and checks a fleet's files on all cores. Who makes which part changes nothing: the parts are taken in order.
final class FleetAssembly: Sendable {
    /// The files of beacons that follow each other.
    struct Part: Sendable {
        /// Names and contents; none where only manifests are wanted.
        var profiles: [(name: String, text: [UInt8])] = []
        var manifest: [UInt8] = []
        var table: [UInt8] = []
        /// What stands behind the last line of the manifest.
        var manifestEnd: [UInt8] = []
        var beacons = 0
    }

    private struct State {
        var next = 0
        var taken = 0
        var parts: [Int: Part] = [:]
        var report: FleetReport?
        var isStopped = false
    }

    private static let partSize = 4096
    /// Parts that are made ahead of the one that is being written.
    private static let window = 12

    private let fleet: Fleet
    private let allocation: FleetAllocation
    private let keys: FleetKeyFolder?
    private let manifestOnly: Bool
    private let state = Mutex(State())

    init(_ fleet: Fleet, _ allocation: FleetAllocation, keys: FleetKeyFolder?, manifestOnly: Bool) {
        self.fleet = fleet
        self.allocation = allocation
        self.keys = keys
        self.manifestOnly = manifestOnly
    }

    private var partCount: Int { (fleet.beaconCount + Self.partSize - 1) / Self.partSize }

    /// Hands all parts to `body`, in order, and says what the check found.
    func run(_ body: (Part) throws(SystemError) -> Void) throws(SystemError) -> FleetReport {
        defer { state.withLock { $0.isStopped = true } }
        try BackgroundThread.start { [self] in
            let report = fleet.check(allocation, keys: keys)
            state.withLock { state in
                state.report = report
                // What is made of a fleet with errors is of no use.
                if !report.isGood { state.isStopped = true }
            }
            work()
        }
        for _ in 1..<max(2, Processors.count) { try BackgroundThread.start { self.work() } }
        for number in 0..<partCount {
            guard let part = try wait({ $0.parts.removeValue(forKey: number) }) else { break }
            try body(part)
            state.withLock { $0.taken = number + 1 }
        }
        while true {
            if let report = state.withLock({ $0.report }) { return report }
            _ = try Poller.wait([], milliseconds: 1)
        }
    }

    /// Waits for something of the state; `nil` when all is stopped.
    private func wait<Value: Sendable>(_ find: (inout State) -> Value?) throws(SystemError) -> Value? {
        while true {
            let (value, isStopped) = state.withLock { (find(&$0), $0.isStopped) }
            if value != nil || isStopped { return value }
            _ = try Poller.wait([], milliseconds: 1)
        }
    }

    private func work() {
        while true {
            let (number, isOver) = state.withLock { state -> (Int?, Bool) in
                if state.isStopped || state.next >= partCount { return (nil, true) }
                guard state.next < state.taken + Self.window else { return (nil, false) }
                state.next += 1
                return (state.next - 1, false)
            }
            if isOver { return }
            guard let number else {
                _ = try? Poller.wait([], milliseconds: 1)
                continue
            }
            let part = make(number)
            state.withLock { $0.parts[number] = part }
        }
    }

    private func make(_ number: Int) -> Part {
        let start = number * Self.partSize
        let generator = FleetGenerator(fleet, allocation, range: start..<min(start + Self.partSize, fleet.beaconCount))
        var part = Part()
        while generator.next() {
            if !manifestOnly { part.profiles.append((generator.name, generator.profile)) }
            part.manifest += generator.manifestLine
            part.table += generator.tableLines
        }
        part.manifestEnd = generator.manifestEnd
        part.beacons = generator.count
        return part
    }
}
