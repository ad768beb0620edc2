internal import Advertiser
public import Airtime
public import BluetoothTypes
internal import Fleet
internal import HCI

extension SharedTurns {
    /// The number of slots, after which the turns repeat for the models.
    private static let slotCount = 512

    /// The turns of one of a machine's advertisements, as Pharos gives them on a controller with one advertising set; nil
    /// if each advertisement has its own set, and if the machine cannot send them all.
    ///
    /// - Parameters:
    ///   - advertisement: A position in `intervals`.
    ///   - controller: The kind of controller in the fleet file; nil if it is not known.
    public init?(of advertisement: Int, in intervals: [AdvertisingInterval], on controller: String?) {
        guard intervals.count > 1, let kind = controller.flatMap({ ControllerKind(rawValue: $0) }), kind.hasOneSet,
            var schedule = FrameScheduler(intervals)
        else { return nil }
        let start = HCIInstant(nanoseconds: 0)
        schedule.start(at: start)
        // The first slot began half a slot earlier.
        var next = schedule.slotMicroseconds / 2
        var isOwn: [Bool] = []
        while isOwn.count < Self.slotCount {
            isOwn.append(schedule.current == advertisement)
            _ = schedule.turn(at: start.advanced(byMicroseconds: next))
            next += schedule.slotMicroseconds
        }
        guard let turns = try? SharedTurns(setInterval: schedule.setInterval, isOwn: isOwn) else { return nil }
        self = turns
    }
}
