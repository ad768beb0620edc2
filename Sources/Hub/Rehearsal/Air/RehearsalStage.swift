internal import Airtime
internal import BluetoothTypes
internal import Sites

/// The listening side of a rehearsal: moves the phones, and decides and counts what phones and receivers receive.
struct RehearsalStage {
    private let rehearsal: Rehearsal
    private let fleet: RehearsedFleet
    private let plan: VisitPlan
    private let end: Int
    private let partMicroseconds: Int
    private let shadowing: Double
    private var links: LinkTable
    private(set) var tallies: RehearsalTallies
    private(set) var playback: RehearsalPlayback?

    private var emitters: [Transmitters.Emitter] = []
    /// By beacon: the indices of the emitters that send its advertisements.
    private var emittersOf: [[Int]] = []
    private var reception: AirReception
    private let receivers: Int
    private var random: UInt64
    /// By emitter, then by slot in the emitter's ring (see ``AirPacket/payload``): the data of the last packets.
    private var payloads: [AirPayload?] = []

    // Phones.
    /// By phone: the generator of its visits.
    private var generators: [PhoneVisits] = []
    private var visits: [PhoneVisit?]
    private var upcoming: [(visit: PhoneVisit, random: SplitMix64, phase: Int)?]
    /// By phone: the indices of the beacons whose levels are set.
    private var rows: [[Int32]]
    /// By phone, then by beacon: the shadowing during a walk, in dB.
    private var shadows: [[Float]]
    /// By phone: the next time at which the phone moves or its visit begins or ends, in µs.
    private var due: [Int]
    /// The earliest time in ``due``.
    private var nextDue = 0
    /// By beacon: the reason why its times to detection are not compared with the plan; nil if they are.
    private var exclusions: [RehearsalTallies.Exclusion?] = []
    /// By beacon: the detections whose times are compared with the plan.
    private var detectionsOf: [RehearsalTallies.Detections]
    /// By part of the time: the detections whose times are compared with the plan, separately for beacons with sets
    /// of their own (`own`) and for beacons whose advertisements take turns on one set (`turns`).
    private var detectionsIn: [(own: RehearsalTallies.Detections, turns: RehearsalTallies.Detections)]

    // Receivers.
    /// By receiver, then by beacon: the index of the link in the receiver's tally; -1 for beacons that the receiver
    /// does not receive.
    private var linkOf: [[Int]]
    /// By receiver, link and advertisement: the probability in millionths that no other packet overlaps with a packet.
    private var clearOf: [[[Int]]] = []
    /// By receiver: the time of the last received packet, in µs.
    private var lastPacket: [Int]
    /// By receiver: the time at which a planted fault makes it deaf, in µs; `Int.max` without such a fault.
    private var deafAt: [Int]
    private var recordings: [ReceiverRecording] = []
    private var rooms: RehearsedRooms?

    // The period for the player.
    /// The beginning of the period that is stored for the player, in µs.
    private let playbackStart: Int
    /// The end of the period that is stored for the player, in µs.
    private let playbackEnd: Int
    /// By emitter: the index in ``playback`` of its current advertising event, and the time at which this event
    /// started, in µs.
    private var playbackEvents: [(index: Int, start: Int)] = []
    private var playbackPhones: [RehearsalPlayback.Phone]

    /// The name of the receivers' scanner: the passive scan of Pharos on Linux.
    private static let receiverScanner = "linux"
    /// The time between two changes of the levels of a phone that walks, in µs.
    private static let step = 1_000_000

    init(_ rehearsal: Rehearsal, end: Int, distance: Double?) throws {
        self.rehearsal = rehearsal
        fleet = rehearsal.fleet
        self.end = end
        partMicroseconds = max(1, end / RehearsalTallies.parts)
        shadowing = fleet.model.radio.shadowing
        links = LinkTable(fleet.model, distance: distance)
        let options = rehearsal.options
        let visits = Double(options.phones) * options.hours * 3600 / 30
        plan = try VisitPlan(fleet, scanners: rehearsal.scanners, visits: visits, links)
        receivers = fleet.site?.receivers.count ?? 0
        tallies = try RehearsalTallies(rehearsal, plan)
        let phones = options.phones
        self.visits = Array(repeating: nil, count: phones)
        upcoming = Array(repeating: nil, count: phones)
        rows = Array(repeating: [], count: phones)
        shadows = Array(repeating: [], count: phones)
        due = Array(repeating: 0, count: phones)
        detectionsOf = Array(repeating: .init(), count: fleet.beacons.count)
        detectionsIn = Array(repeating: (.init(), .init()), count: RehearsalTallies.parts)
        linkOf = Array(repeating: Array(repeating: -1, count: fleet.beacons.count), count: receivers)
        lastPacket = Array(repeating: 0, count: receivers)
        deafAt = Array(repeating: Int.max, count: receivers)
        random = RehearsalSeed.mix(options.seed, 5, 0)
        reception = .empty
        rooms = RehearsedRooms(rehearsal, end: end)
        if let range = options.playbackRange {
            playbackStart = Int(range.lowerBound * 1e6)
            playbackEnd = Int(range.upperBound * 1e6)
            playback = RehearsalPlayback(fromS: range.lowerBound, toS: range.upperBound)
        } else {
            (playbackStart, playbackEnd) = (Int.max, Int.max)
        }
        playbackPhones = []
    }

    /// Prepares the phones and receivers. Call it when the emitters are known.
    mutating func begin(_ emitters: [Transmitters.Emitter]) throws {
        self.emitters = emitters
        let options = rehearsal.options
        emittersOf = fleet.beacons.indices.map { beacon in
            emitters.indices.filter { emitters[$0].beacon == beacon }
        }
        reception = AirReception(
            emitters: emitters.count, listeners: receivers + options.phones,
            sensitivity: fleet.model.radio.sensitivity, captureDecibels: options.captureDecibels,
            background: fleet.model.background, isExtended: fleet.isExtended)
        payloads = Array(repeating: nil, count: emitters.count * RehearsedMachine.ringSize)
        playbackEvents = Array(repeating: (-1, Int.min), count: emitters.count)
        let faulty = Set(options.faults.map(\.subject))
        exclusions = fleet.beacons.map { beacon in
            if faulty.contains(beacon.name) { return .fault }
            if beacon.hasDependentCycle(end: end) { return .pattern }
            return fleet.model.background.loads.isEven ? nil : .channels
        }
        for receiver in 0..<receivers { try beginReceiver(receiver) }
        generators = (0..<options.phones).map { PhoneVisits(plan, phone: $0, seed: options.seed) }
        for phone in generators.indices {
            // The plan is about beacons that are on the air, so no visit begins before all machines are switched on.
            let next = generators[phone].next(after: fleet.startMicroseconds(end: end))
            upcoming[phone] = next
            due[phone] = next.visit.begin
        }
        nextDue = due.min() ?? Int.max
        playbackPhones = generators.map { _ in RehearsalPlayback.Phone(scanner: "") }
        for fault in options.faults {
            let beacon = fleet.beacons.firstIndex { $0.name == fault.subject }
            playback?.changes.append(RehearsalPlayback.Change(atS: fault.atS, beacon: beacon, text: fault.text))
        }
    }

    /// Draws random shadowing for all emitters at a listener, and sets their levels. The shadowing of clones is drawn
    /// last, so that a planted clone does not change the level of any other emitter.
    ///
    /// - Returns: The indices of the beacons whose level reaches the sensitivity of the listener.
    private mutating func drawLevels(_ row: LinkTable.Row, at listener: Int, _ random: inout SplitMix64) -> [Int] {
        var audible: [Int] = []
        for isClone in [false, true] {
            for (beacon, mean) in zip(row.beacons, row.levels) {
                for emitter in emittersOf[Int(beacon)] where emitters[emitter].isClone == isClone {
                    let level = mean + Float(shadowing * random.nextNormal())
                    reception.setLevel(level, of: emitter, at: listener)
                    if !isClone, level >= reception.sensitivity { audible.append(Int(beacon)) }
                }
            }
        }
        return audible
    }

    private mutating func beginReceiver(_ receiver: Int) throws {
        guard let siteReceiver = fleet.site?.receivers[receiver],
            let preset = ScannerPreset(named: Self.receiverScanner)
        else { return }
        let options = rehearsal.options
        var random = SplitMix64(seed: RehearsalSeed.mix(options.seed, 6, receiver))
        var scan = AirReception.Scan(
            preset, phase: -Int(random.nextUnit() * Double(AirReception.Scan.cycle(preset))))
        (scan.receivesExtended, scan.receivesCoded) = (true, true)
        reception.scans[receiver] = scan
        let audible = drawLevels(links.exactRow(at: siteReceiver.position), at: receiver, &random)
        var clear: [[Int]] = []
        for beacon in audible {
            linkOf[receiver][beacon] = tallies.receivers[receiver].links.count
            let mean = links.level(of: beacon, at: siteReceiver.position)
            tallies.receivers[receiver].links.append(
                RehearsalTallies.Link(beacon: beacon, expectedLevel: Int((mean * 100).rounded())))
            clear.append(clearShares(of: beacon, among: audible))
        }
        clearOf.append(clear)
        let rate = audible.reduce(0.0) { $0 + fleet.beacons[$1].sent.reduce(0) { $0 + 1e6 / $1.periodMicroseconds } }
        tallies.receivers[receiver].meanGap = rate > 0 ? Int(1e6 / rate) : 0
        for fault in options.faults where fault.kind == .deaf && fault.subject == siteReceiver.name {
            deafAt[receiver] = Int(fault.atS * 1e6)
        }
        for fault in options.faults where fault.kind == .brokerAway {
            let absence = min(Int(fault.forS * 1e6), end - Int(fault.atS * 1e6))
            guard absence > tallies.receivers[receiver].longestAbsence else { continue }
            tallies.receivers[receiver].longestAbsence = absence
            tallies.receivers[receiver].absentFrom = Int(fault.atS * 1e6)
        }
        if let directory = options.recordDirectory {
            recordings.append(try ReceiverRecording("\(directory)/\(siteReceiver.name).btsnoop"))
        }
    }

    /// For each advertisement of a beacon, the probability in millionths that no packet of another audible beacon or of
    /// a device outside the fleet overlaps with its packet; for extended advertising, with a packet on a primary channel
    /// and all auxiliary packets of its event.
    private func clearShares(of beacon: Int, among audible: [Int]) -> [Int] {
        fleet.beacons[beacon].sent.map { sent in
            var sum = fleet.model.background.logClearProbability(ofEventOf: sent.group)
            for other in audible where other != beacon {
                for otherSent in fleet.beacons[other].sent {
                    sum += otherSent.group.logClearProbability(ofEventOf: sent.group)
                }
            }
            return Int((exp(sum) * 1e6).rounded())
        }
    }

    // MARK: Time

    /// Processes the packets that were sent in a slice of time.
    mutating func take(_ slice: Transmitters.Slice) throws {
        for payload in slice.payloads {
            payloads[Int(payload.emitter) * RehearsedMachine.ringSize + Int(payload.slot)] = payload
        }
        var failure: RehearsalError?
        // The reception is moved to a local variable, so that its callback may change the counts.
        var hearing = AirReception.empty
        swap(&hearing, &reception)
        var random = self.random
        for packet in slice.packets {
            if packet.start >= nextDue {
                swap(&hearing, &reception)
                changePhones(at: packet.start)
                swap(&hearing, &reception)
            }
            if packet.start >= playbackStart, packet.start < playbackEnd, !packet.isAuxiliary { notePlayback(packet) }
            hearing.add(packet, &random) { packet, listener, level, outcome in
                decide(packet, listener, level, outcome, &failure)
            }
        }
        self.random = random
        swap(&hearing, &reception)
        if let failure { throw failure }
    }

    /// Advances the phones and the collector to a time in µs, even if no packet was sent until then.
    mutating func advance(to now: Int) throws {
        if now >= nextDue { changePhones(at: now) }
        rooms?.advance(to: now)
    }

    // MARK: What is received

    /// Counts the outcome of a packet at a listener.
    ///
    /// - Returns: true if the listener received the packet.
    private mutating func decide(
        _ packet: AirPacket, _ listener: Int, _ level: Float, _ outcome: AirReception.Outcome,
        _ failure: inout RehearsalError?
    ) -> Bool {
        let emitter = emitters[Int(packet.emitter)]
        if packet.start >= playbackStart, packet.start < playbackEnd { notePlayback(packet, outcome) }
        if listener < receivers {
            receive(packet, emitter, listener, level, outcome, &failure)
        } else {
            receive(packet, emitter, phone: listener - receivers, outcome)
        }
        return outcome.isReceived
    }

    private mutating func receive(
        _ packet: AirPacket, _ emitter: Transmitters.Emitter, _ receiver: Int, _ level: Float,
        _ outcome: AirReception.Outcome, _ failure: inout RehearsalError?
    ) {
        guard packet.start < deafAt[receiver] else { return }
        if outcome.isReceived {
            let gap = packet.start - lastPacket[receiver]
            if gap > tallies.receivers[receiver].longestDeafness {
                tallies.receivers[receiver].longestDeafness = gap
                tallies.receivers[receiver].deafFrom = lastPacket[receiver]
            }
            // An event of extended advertising is received later than the next packets of other emitters.
            lastPacket[receiver] = max(lastPacket[receiver], packet.start)
            if emitter.isClone { tallies.beacons[emitter.beacon].foreignPackets += 1 }
            if recordings.indices.contains(receiver), failure == nil {
                let index = Int(packet.emitter) * RehearsedMachine.ringSize + Int(packet.payload)
                if packet.payload >= 0, let payload = payloads[index] {
                    do throws(RehearsalError) {
                        try recordings[receiver].add(
                            payload, level: level,
                            unixMicroseconds: fleet.startUnixSeconds * 1_000_000 + packet.start
                                + Int(packet.airtime))
                    } catch {
                        failure = error
                    }
                }
            }
        }
        if outcome.isReceived, packet.advertisement >= 0 {
            rooms?.receive(emitter.beacon, by: receiver, level: level, at: packet.start)
        }
        let link = linkOf[receiver][emitter.beacon]
        guard link >= 0, !emitter.isClone, packet.advertisement >= 0 else { return }
        tallies.receivers[receiver].links[link].copies.add(
            outcome, clearShare: clearOf[receiver][link][Int(packet.advertisement)])
        guard outcome.isReceived else { return }
        let part = min(RehearsalTallies.parts - 1, packet.start / partMicroseconds)
        tallies.receivers[receiver].links[link].count[part] += 1
        tallies.receivers[receiver].links[link].levelSum[part] += Int((level * 100).rounded())
    }

    private mutating func receive(
        _ packet: AirPacket, _ emitter: Transmitters.Emitter, phone: Int, _ outcome: AirReception.Outcome
    ) {
        guard let visit = visits[phone] else { return }
        let event = packet.event
        let isBest =
            visit.bestBeacon == emitter.beacon && !emitter.isClone
            && Int(packet.advertisement) == fleet.beacons[emitter.beacon].fastest
        if isBest, !visit.isCounted {
            visits[phone]?.isCounted = true
            tallies.phoneCopies.add(outcome, clearShare: visit.clearShares[Int(packet.advertisement)])
        }
        guard outcome.isReceived, event >= visit.begin else { return }
        if emitter.isClone { tallies.beacons[emitter.beacon].foreignPackets += 1 }
        let beacon = Int32(emitter.beacon)
        if !visit.found.contains(beacon) {
            visits[phone]?.found.insert(beacon)
            if packet.start >= playbackStart, packet.start < playbackEnd {
                playbackPhones[phone].discoveries.append(
                    RehearsalPlayback.Discovery(atS: Double(packet.start) / 1e6, beacon: emitter.beacon))
            }
        }
        guard isBest, case .stand(let place) = visit.kind else { return }
        let seconds = Double(event - visit.begin) / 1e6
        if !visit.isDetected {
            visits[phone]?.isDetected = true
            if seconds <= plan.target.seconds, plan.target.beacons == 1 { tallies.places[place].detected += 1 }
        }
        if outcome == .clear, !visit.isDetectedClear {
            visits[phone]?.isDetectedClear = true
            compare(visit, seconds)
        }
        if outcome == .clear, seconds > plan.target.seconds || plan.target.beacons == 1 {
            visits[phone]?.end = packet.start
            due[phone] = packet.start
            nextDue = min(nextDue, packet.start)
        }
    }

    /// Compares a time to detection in s with the 95th percentile that the plan expects. The time is infinite if the
    /// best beacon was not detected.
    private mutating func compare(_ visit: PhoneVisit, _ seconds: Double) {
        // Visits that the end of the rehearsal cuts short are left out, because only short times could be measured in
        // them.
        guard visit.end <= end else { return }
        guard visit.bestBeacon >= 0 else { return }
        if let exclusion = exclusions[visit.bestBeacon] { return tallies.exclude(exclusion) }
        guard let seconds95 = visit.detectionSeconds95, seconds95 > 0 else { return tallies.exclude(.late) }
        let ratio = seconds / seconds95
        let part = min(RehearsalTallies.parts - 1, visit.begin / partMicroseconds)
        detectionsOf[visit.bestBeacon].add(ratio: ratio)
        if fleet.beacons[visit.bestBeacon].sharesSet {
            tallies.turnRatios.add(ratio)
            detectionsIn[part].turns.add(ratio: ratio)
        } else {
            tallies.ratios.add(ratio)
            detectionsIn[part].own.add(ratio: ratio)
        }
    }

    // MARK: Phones

    private mutating func changePhones(at now: Int) {
        for phone in due.indices where due[phone] <= now { change(phone, at: now) }
        nextDue = due.min() ?? Int.max
    }

    private mutating func change(_ phone: Int, at now: Int) {
        if let visit = visits[phone] {
            guard now >= visit.end else {
                move(phone, visit, at: now)
                return
            }
            endVisit(phone, visit, isWhole: true)
            let next = generators[phone].next(after: now)
            upcoming[phone] = next
            due[phone] = next.visit.begin
            guard next.visit.begin <= now else { return }
        }
        guard let next = upcoming[phone] else { return }
        beginVisit(phone, next.visit, next.random, next.phase, at: now)
    }

    private mutating func beginVisit(
        _ phone: Int, _ new: PhoneVisit, _ random: SplitMix64, _ phase: Int, at now: Int
    ) {
        var (visit, random) = (new, random)
        let listener = receivers + phone
        reception.scans[listener] = AirReception.Scan(
            plan.scanners.parts[visit.scanner].scanner, phase: phase, phy: rehearsal.options.scannerPHY)
        upcoming[phone] = nil
        switch visit.kind {
        case .stand(let place):
            let row = plan.places[place].links
            let audible = drawLevels(row, at: listener, &random)
            rows[phone] = row.beacons
            tallies.places[place].visits += 1
            if visit.bestBeacon >= 0, audible.contains(visit.bestBeacon) {
                visit.clearShares = clearShares(of: visit.bestBeacon, among: audible)
            } else {
                // The best beacon is too weak in this visit, so the visit does not need to be longer than the target
                // time.
                visit.bestBeacon = -1
                visit.end = min(visit.end, visit.begin + Int(plan.target.seconds * 1e6))
            }
            due[phone] = visit.end
        case .walk, .wander:
            shadows[phone] = fleet.beacons.indices.map { _ in Float(shadowing * random.nextNormal()) }
            if case .walk(let path) = visit.kind { tallies.paths[path].walks += 1 }
            due[phone] = now + Self.step
        }
        visits[phone] = visit
        if visit.corners.count > 1 { place(phone, at: visit.position(after: max(0, now - visit.begin))) }
        notePlaybackVisit(phone, visit)
    }

    private mutating func move(_ phone: Int, _ visit: PhoneVisit, at now: Int) {
        guard visit.corners.count > 1 else {
            due[phone] = visit.end
            return
        }
        place(phone, at: visit.position(after: now - visit.begin))
        due[phone] = min(visit.end, now + Self.step)
    }

    /// Sets the levels of all beacons at a phone that walks, for its position.
    private mutating func place(_ phone: Int, at position: FloorPosition) {
        let listener = receivers + phone
        let row = links.row(near: position)
        clearLevels(phone, except: row.beacons)
        for (beacon, mean) in zip(row.beacons, row.levels) {
            for emitter in emittersOf[Int(beacon)] {
                reception.setLevel(mean + shadows[phone][Int(beacon)], of: emitter, at: listener)
            }
        }
        rows[phone] = row.beacons
    }

    private mutating func clearLevels(_ phone: Int, except kept: [Int32]) {
        // Both lists of beacons are in ascending order.
        var index = 0
        for beacon in rows[phone] {
            while index < kept.count, kept[index] < beacon { index += 1 }
            if index < kept.count, kept[index] == beacon { continue }
            for emitter in emittersOf[Int(beacon)] {
                reception.setLevel(-.infinity, of: emitter, at: receivers + phone)
            }
        }
    }

    /// Ends a visit and counts it.
    ///
    /// - Parameter isWhole: False if the rehearsal ended before the visit.
    private mutating func endVisit(_ phone: Int, _ visit: PhoneVisit, isWhole: Bool) {
        switch visit.kind {
        case .stand(let place):
            let isLong = visit.end - visit.begin >= Int(plan.target.seconds * 1e6) || visit.isDetected
            if !isWhole && !isLong {
                tallies.places[place].visits -= 1
            } else if plan.target.beacons > 1, visit.found.count >= plan.target.beacons {
                tallies.places[place].detected += 1
            }
            // If the beacon was not detected, its time to detection is longer than the visit.
            if isWhole, visit.bestBeacon >= 0, !visit.isDetectedClear { compare(visit, .infinity) }
        case .walk(let path):
            if isWhole {
                if !visit.found.isEmpty { tallies.paths[path].detected += 1 }
                tallies.paths[path].beacons += visit.found.count
            } else {
                tallies.paths[path].walks -= 1
            }
        case .wander: break
        }
        clearLevels(phone, except: [])
        rows[phone] = []
        reception.scans[receivers + phone] = nil
        visits[phone] = nil
    }

    // MARK: The end

    /// Ends the visits and the recordings, and returns the complete counts.
    ///
    /// - Parameter ideal: The counts of the ideal receivers, by emitter.
    mutating func finish(_ ideal: [Int: RehearsalTallies.Beacon]) throws -> RehearsalTallies {
        for phone in visits.indices {
            if let visit = visits[phone] { endVisit(phone, visit, isWhole: end >= visit.end) }
        }
        for receiver in 0..<receivers where end - lastPacket[receiver] > tallies.receivers[receiver].longestDeafness {
            tallies.receivers[receiver].longestDeafness = end - lastPacket[receiver]
            tallies.receivers[receiver].deafFrom = lastPacket[receiver]
        }
        for recording in recordings { try recording.flush() }
        for beacon in fleet.beacons.indices {
            guard var counted = ideal[beacon] else { continue }
            counted.foreignPackets = tallies.beacons[beacon].foreignPackets
            if let finding = rooms?.findings[beacon] {
                counted.falseExits = finding.falseExits
                counted.roomSeconds = finding.roomSeconds
                counted.wrongRoomSeconds = finding.wrongSeconds
                counted.expectedWrongMilliseconds = finding.expectedWrong
            }
            tallies.beacons[beacon] = counted
        }
        // The machines of the beacons are the first emitters, in the order of the fleet.
        tallies.countBatteries(rehearsal, begins: emitters.prefix(fleet.beacons.count).map(\.begin))
        if let rooms, rooms.end < end {
            tallies.notes.append(
                "The collector ran for the first \(NumberFormat.significant(Double(rooms.end) / 3600e6)) h, because it takes "
                    + "more computing time than the rest of the rehearsal.")
        }
        for (beacon, detections) in zip(fleet.beacons, detectionsOf) {
            if beacon.sharesSet {
                tallies.turnRatios.beacons.add(detections)
            } else {
                tallies.ratios.beacons.add(detections)
            }
        }
        for detections in detectionsIn {
            tallies.ratios.times.add(detections.own)
            tallies.turnRatios.times.add(detections.turns)
        }
        if playback != nil {
            playback?.phones = playbackPhones
            playback?.changes.sort { $0.atS < $1.atS }
        }
        return tallies
    }

    // MARK: The period for the player

    private mutating func notePlayback(_ packet: AirPacket) {
        let emitter = Int(packet.emitter)
        let start = packet.event
        guard playbackEvents[emitter].start != start || playbackEvents[emitter].index < 0 else { return }
        playbackEvents[emitter] = (playback?.events.count ?? 0, start)
        playback?.events.milliseconds.append(Double(start) / 1000)
        playback?.events.beacons.append(emitters[emitter].beacon)
        playback?.events.received.append(0)
        playback?.events.collided.append(0)
    }

    private mutating func notePlayback(_ packet: AirPacket, _ outcome: AirReception.Outcome) {
        let (index, start) = playbackEvents[Int(packet.emitter)]
        guard index >= 0, start == packet.event else { return }
        if outcome.isReceived {
            playback?.events.received[index] += 1
        } else if outcome == .collided {
            playback?.events.collided[index] += 1
        }
    }

    private mutating func notePlaybackVisit(_ phone: Int, _ visit: PhoneVisit) {
        guard visit.end >= playbackStart, visit.begin < playbackEnd else { return }
        playbackPhones[phone].scanner = plan.scanners.parts[visit.scanner].scanner.name
        var at = Double(visit.begin) / 1e6
        playbackPhones[phone].track.append(RehearsalPlayback.TrackPoint(atS: at, visit.corners[0]))
        for (from, to) in zip(visit.corners, visit.corners.dropFirst()) {
            at += from.distance(to: to) / visit.speed
            playbackPhones[phone].track.append(RehearsalPlayback.TrackPoint(atS: at, to))
        }
        if visit.corners.count == 1 {
            playbackPhones[phone].track.append(
                RehearsalPlayback.TrackPoint(atS: Double(visit.end) / 1e6, visit.corners[0]))
        }
    }
}
