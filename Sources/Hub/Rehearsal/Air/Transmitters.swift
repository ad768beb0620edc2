internal import Airtime
internal import BluetoothTypes
internal import LinuxHost

/// Runs all machines of a rehearsal on several threads, one slice of time after the other.
///
/// The packets do not depend on the number of threads: each machine has its own air and its own random numbers.
final class Transmitters: Sendable {
    /// The packets that a group of machines sent in a slice of time.
    struct Slice: Sendable {
        /// The packets in the order of the machines, and for each machine in the order of time.
        var packets: [AirPacket]
        var payloads: [AirPayload]
    }

    /// A device that sends: the machine of a beacon, or a device that sends a clone of its advertisements.
    struct Emitter: Sendable {
        /// The index of the beacon whose advertisements the device sends.
        let beacon: Int
        let isClone: Bool
        /// The time at which the device is switched on, in µs from the beginning of the rehearsal.
        let begin: Int
    }

    private struct State: Sendable {
        /// The finished slices of each group, the oldest first.
        var slices: [[Slice]]
        /// The counts of the ideal receivers, by the indices of the emitters.
        var tallies: [Int: RehearsalTallies.Beacon] = [:]
        /// The number of groups that have finished.
        var finished = 0
        var isStopped = false
    }

    /// The length of a slice in µs.
    static let sliceMicroseconds = 5_000_000
    /// The largest number of finished slices of a group that wait to be processed.
    private static let waitingSlices = 3

    /// The machines of the beacons in the order of the fleet, followed by the devices that send clones.
    let emitters: [Emitter]
    private let groups: Int
    private let state: Monitor<State>

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - tallies: The empty counts of each beacon.
    ///   - end: The end of the rehearsal in µs.
    init(
        _ fleet: RehearsedFleet, tallies: [RehearsalTallies.Beacon], faults: [RehearsalFault], seed: UInt64, end: Int,
        threads: Int
    ) throws(SystemError) {
        let clones = faults.filter { $0.kind == .clone }
        var emitters = fleet.beacons.indices.map { index in
            // The machines are switched on at random times, because machines that start together send at the same times
            // for hours: only advDelay moves them apart.
            var random = SplitMix64(seed: RehearsalSeed.mix(seed, 3, index))
            let begin = Int(random.nextUnit() * fleet.beacons[index].spreadMicroseconds(end: end)) + 1
            return Emitter(beacon: index, isClone: false, begin: begin)
        }
        for clone in clones {
            guard let beacon = fleet.beacons.firstIndex(where: { $0.name == clone.subject }) else { continue }
            emitters.append(Emitter(beacon: beacon, isClone: true, begin: Int(clone.atS * 1e6) + 1))
        }
        self.emitters = emitters
        groups = max(1, min(threads, emitters.count))
        let groups = groups
        let state = Monitor(State(slices: Array(repeating: [], count: groups)))
        self.state = state
        let allEmitters = emitters
        for group in 0..<groups {
            try BackgroundThread.start {
                let machines = stride(from: group, to: allEmitters.count, by: groups).map { emitter in
                    let beacon = fleet.beacons[allEmitters[emitter].beacon]
                    let isClone = allEmitters[emitter].isClone
                    let machineFaults = isClone ? [] : faults.filter { $0.subject == beacon.name }
                    return RehearsedMachine(
                        beacon, emitter: emitter, isClone: isClone, faults: machineFaults, seed: seed,
                        begin: allEmitters[emitter].begin, endMicroseconds: end,
                        startUnixSeconds: fleet.startUnixSeconds, tally: tallies[allEmitters[emitter].beacon])
                }
                Self.work(
                    machines, indices: Array(stride(from: group, to: allEmitters.count, by: groups)), group, end, state)
            }
        }
    }

    deinit { stop() }

    private static func work(
        _ machines: [RehearsedMachine], indices: [Int], _ group: Int, _ end: Int, _ state: Monitor<State>
    ) {
        var now = 0
        while now < end {
            now = min(end, now + sliceMicroseconds)
            var slice = Slice(packets: [], payloads: [])
            for machine in machines {
                machine.run(until: now)
                slice.packets += machine.packets
                slice.payloads += machine.payloads
            }
            let finishedSlice = slice
            let mayContinue = state.wait { state -> Bool? in
                if state.isStopped { return false }
                return state.slices[group].count < waitingSlices ? true : nil
            }
            guard mayContinue == true else { return }
            state.change { $0.slices[group].append(finishedSlice) }
        }
        for machine in machines { machine.finish() }
        let tallies = zip(indices, machines.map(\.tally)).map { ($0, $1) }
        state.change { state in
            for (emitter, tally) in tallies { state.tallies[emitter] = tally }
            state.finished += 1
        }
    }

    /// Waits for the next slice of all groups.
    ///
    /// - Returns: its packets in the order of their starts; nil after the end.
    func next() -> Slice? {
        let groupSlices = state.wait { state -> [Slice]?? in
            if state.slices.allSatisfy({ !$0.isEmpty }) {
                return .some(state.slices.indices.map { state.slices[$0].removeFirst() })
            }
            return state.finished == state.slices.count || state.isStopped ? .some(nil) : nil
        }
        guard let groupSlices = groupSlices ?? nil else { return nil }
        var slice = Slice(
            packets: groupSlices.flatMap(\.packets), payloads: groupSlices.flatMap(\.payloads))
        slice.packets.sort { ($0.start, $0.emitter) < ($1.start, $1.emitter) }
        return slice
    }

    /// The counts of the ideal receivers after the end, by the indices of the emitters.
    var tallies: [Int: RehearsalTallies.Beacon] { state.change { $0.tallies } }

    /// Ends the threads.
    func stop() { state.change { $0.isStopped = true } }
}
