internal import Advertiser
internal import Airtime
internal import BeaconFrames
internal import BluetoothTypes
internal import Sites

extension RehearsalTallies {
    /// The tallies at the beginning of a rehearsal: all counts are zero, and the expected values are set.
    init(_ rehearsal: Rehearsal, _ plan: VisitPlan) throws {
        let (fleet, options) = (rehearsal.fleet, rehearsal.options)
        subject = Subject(
            fleet: fleet.name, arguments: options.arguments, file: fleet.file,
            milliseconds: Int((options.hours * 3_600_000).rounded()), phones: options.phones,
            scanners: rehearsal.scanners.name, targetTime: Int(plan.target.seconds * 1e6),
            targetShare: Int((plan.target.probability * 1e6).rounded()), hasFloor: fleet.site != nil,
            hasRooms: !(fleet.site?.rooms.isEmpty ?? true) && !(fleet.site?.receivers.isEmpty ?? true),
            shadowing: Int((fleet.model.radio.shadowing * 100).rounded()))
        seeds = [Int(clamping: options.seed)]
        beacons = try fleet.beacons.map { beacon in
            var tally = Beacon(
                name: beacon.name,
                position: beacon.hasPosition
                    ? [beacon.place.position.x, beacon.place.position.y].map { Int(($0 * 1000).rounded()) } : [],
                room: fleet.site?.rooms.first { $0.outline.contains(beacon.place.position) }?.name ?? "",
                advertisements: beacon.sent.map { sent in
                    Advertisement(
                        type: sent.type, period: Int(sent.periodMicroseconds.rounded()),
                        longestPeriod: Int(sent.longestMicroseconds) + 10_000,
                        hasPattern: sent.source.advertisement.pattern != nil, isShared: beacon.sharesSet)
                })
            tally.duePerDay = Int(
                beacon.sent.reduce(0.0) { $0 + 86_400e9 / $1.periodMicroseconds }.rounded())
            tally.plannedLife = try Self.life(beacon, options, periods: beacon.sent.map(\.periodMicroseconds))
            return tally
        }
        receivers = (fleet.site?.receivers ?? []).map { Receiver(name: $0.name, links: [], meanGap: 0) }
        places = plan.places.map { place in
            Place(
                name: place.name, beacon: max(0, place.bestBeacon),
                expected: Int((place.detectedShare * 1e6).rounded()))
        }
        paths = plan.paths.map { path in
            Path(
                name: path.name, expected: Int((path.detectedShare * 1e6).rounded()),
                expectedBeacons: Int((path.detectedBeacons * 1000).rounded()))
        }
        faults = options.faults.map {
            Fault(kind: $0.kind.rawValue, subject: $0.subject, at: Int(($0.atS * 1000).rounded()), text: $0.text)
        }
        notes = fleet.notes
    }

    /// Computes the battery lives from the numbers of events that were sent.
    ///
    /// - Parameter begins: The time at which the machine of each beacon was switched on, in µs.
    mutating func countBatteries(_ rehearsal: Rehearsal, begins: [Int]) {
        guard rehearsal.options.battery != nil else { return }
        let end = Double(subject.milliseconds) * 1000
        for index in beacons.indices {
            let time = end - Double(begins[index])
            // A machine sends its first events as soon as it is switched on. So the number of events is larger than the
            // number of periods, by half an event on average.
            let periods = beacons[index].advertisements.map { time / (Double(max(1, $0.events.reduce(0, +))) - 0.5) }
            beacons[index].rehearsedLife =
                (try? Self.life(rehearsal.fleet.beacons[index], rehearsal.options, periods: periods)) ?? 0
        }
    }

    /// The battery life of a beacon in thousandths of a day; 0 without a battery.
    ///
    /// - Parameter periods: The mean time between two events of each advertisement, in µs.
    private static func life(
        _ beacon: RehearsedBeacon, _ options: Rehearsal.Options, periods: [Double]
    ) throws -> Int {
        guard let (chip, battery) = options.battery else { return 0 }
        func model(_ index: Int, companions: [EnergyModel] = []) throws -> EnergyModel {
            let interval = AdvertisingInterval(
                rawValue: UInt32(min(16_777_215, max(32, ((periods[index] - 5000) / 625).rounded()))))
            return try EnergyModel(
                chip: chip, battery: battery, interval: interval, payloadOctets: beacon.sent[index].payloadOctets,
                extended: beacon.sent[index].group.extended, companions: companions)
        }
        guard !periods.isEmpty else { return 0 }
        let energyModel = try model(0, companions: try periods.indices.dropFirst().map { try model($0) })
        return Int(min(energyModel.lifeDays, BeaconBattery.shelfLifeDays) * 1000)
    }
}
