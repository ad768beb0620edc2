internal import HCI

extension Supervisor {
    /// Begins what was waited for, if its time has come.
    mutating func attemptIfDue(_ now: HCIInstant) -> [Action] {
        guard let due = nextAttempt, due <= now else { return [] }
        nextAttempt = nil
        attempt += 1
        switch phase {
        case .closed:
            phase = .opening(now)
            lastPowerUp = now
            return [.open]
        case .held:
            phase = .rearming(now)
            return [.rearm]
        default:
            return []
        }
    }

    /// The watchdog's schedule is the only one that a beacon without a fault wakes up for. It is fed while advertising
    /// is known to be on, and while recovery is on its own schedule; not while an action hangs.
    mutating func tick(_ now: HCIInstant) -> [Action] {
        nextTick = now.advanced(byMicroseconds: pacing.verification)
        switch phase {
        case .onAir:
            phase = .verifying(now)
            return [.verify]
        case .closed, .held:
            return [.notify(.watchdog)]
        case .opening(let since), .starting(let since), .rearming(let since), .verifying(let since):
            return now.microseconds(since: since) < pacing.longestAction ? [.notify(.watchdog)] : []
        case .off:
            return []
        }
    }

    mutating func enterAir(_ text: String, _ now: HCIInstant) -> [Action] {
        phase = .onAir
        summary = text
        lastVerified = now
        onAirSince = now
        nextAttempt = nil
        var actions: [Action] = []
        if !hasBeenOnAir {
            attempt = 0
            actions = [.log(.notice, text), .notify(.ready)]
        } else if let episode, let cause = episode.weightiest {
            let outage = Outage(cause: cause, from: episode.since, until: now)
            lastOutage = outage
            rearms[cause, default: 0] += 1
            actions = [.log(.notice, "back on the air after \(Self.seconds(outage.microseconds)) s: \(text)")]
        } else {
            actions = [.log(.notice, text)]
        }
        hasBeenOnAir = true
        hasSlept = false
        episode = nil
        return actions + [.notify(.status(statusLine)), .notify(.watchdog)]
    }

    /// The beacon is off the air, or an attempt to bring it back has failed.
    mutating func fail(_ cause: SupervisorCause, _ text: String, _ now: HCIInstant) -> [Action] {
        guard matters(cause) else { return [] }
        var actions: [Action] = phase == .closed || cause.leavesAdapterOpen ? [] : [.close]
        // Verification came in time, and recovery begins in time.
        if case .verifying = phase { actions.append(.notify(.watchdog)) }
        if let since = onAirSince, now.microseconds(since: since) >= pacing.stability { attempt = 0 }
        onAirSince = nil
        let isNews = episode?.cause != cause || lastError != text
        note(cause, text, now)
        phase = cause.leavesAdapterOpen ? .held : .closed
        let sincePowerUp = lastPowerUp.map { now.microseconds(since: $0) }
        nextAttempt = pacing.delay(cause, attempt: attempt, sincePowerUp: sincePowerUp)
            .map { now.advanced(byMicroseconds: $0) }
        // The same trouble again is told ever more seldom: after 1, 2, 4, 8 and so on attempts.
        if isNews || attempt & (attempt - 1) == 0 { actions.append(.log(.warning, text)) }
        actions.append(.notify(.status(statusLine)))
        if reload == .adopting { reload = .ready }
        return actions + continueReload(now) + wake(at: now)
    }

    private mutating func note(_ cause: SupervisorCause, _ text: String, _ now: HCIInstant) {
        lastError = text
        var current = episode ?? Episode(since: now)
        current.cause = cause
        for cause in hasSlept ? [cause, .suspended] : [cause] where cause.weight > current.weightiest?.weight ?? -1 {
            current.weightiest = cause
        }
        episode = current
    }

    /// Whether it changes anything: what happens to an adapter that is not open is of interest only where it changes
    /// what is waited for.
    private func matters(_ cause: SupervisorCause) -> Bool {
        switch phase {
        case .onAir, .verifying: true
        case .opening, .starting: !cause.leavesAdapterOpen
        case .held, .rearming: !cause.leavesAdapterOpen || cause == .suspended
        case .closed: [.rfkill, .adapterGone, .adapterMissing].contains(cause) && episode?.cause != cause
        case .off: false
        }
    }

    private static let endsWithArrival: Set<SupervisorCause> = [.adapterMissing, .adapterGone, .peerGone, .rfkill]

    /// Something came for which a wait can be cut short.
    mutating func hurry(_ input: Input, _ now: HCIInstant) -> [Action] {
        switch phase {
        case .onAir where input == .resumed:
            // It slept so shortly, or so deeply, that nothing was noticed: look.
            hasSlept = true
            phase = .verifying(now)
            return [.verify]
        case .closed, .held:
            // An adapter that others power down is raised on its own schedule, and one that is there and fails on its.
            if input != .resumed, episode?.cause == .poweredDown { return [] }
            if input == .adapterArrived, let cause = episode?.cause, !Self.endsWithArrival.contains(cause) { return [] }
            nextAttempt = now
            return wake(at: now)
        default:
            return []
        }
    }

    /// Tenths, for people.
    private static func seconds(_ microseconds: Int) -> String {
        let tenths = (max(0, microseconds) + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
