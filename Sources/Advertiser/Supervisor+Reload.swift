internal import HCI

extension Supervisor {
    mutating func handleReload(_ input: Input, _ now: HCIInstant) -> [Action] {
        switch (input, reload) {
        case (.reloadRequested, .adopting):
            // It is told apart by its answer; the operator will see which profile it became.
            return []
        case (.reloadRequested, _):
            reload = .reading
            return (hasBeenOnAir ? [.notify(.reloading)] : []) + [.readProfile]
        case (.reloadGood(let name), .reading):
            refusal = nil
            reload = .ready
            return name == adapter ? continueReload(now) : changeAdapter(name, now)
        case (.reloadBad(let reason), .some):
            refusal = reason
            return [.log(.error, "reload refused, the old profile stays: \(reason)")] + finishReload()
        case (.adopted(let text), .adopting):
            summary = text
            lastVerified = now
            return [.log(.notice, "reloaded: \(text)")] + finishReload()
        default:
            return []
        }
    }

    /// A good profile waits until nothing else is under way.
    mutating func continueReload(_ now: HCIInstant) -> [Action] {
        guard reload == .ready else { return [] }
        switch phase {
        case .onAir:
            reload = .adopting
            return [.adopt]
        case .closed:
            return [.adoptForNextStart] + finishReload()
        default:
            return []
        }
    }

    private mutating func finishReload() -> [Action] {
        reload = nil
        return (hasBeenOnAir ? [.notify(.ready)] : []) + [.notify(.status(statusLine))]
    }

    /// The new profile names another adapter: this one is left in order.
    private mutating func changeAdapter(_ name: String, _ now: HCIInstant) -> [Action] {
        let leaving: [Action] = phase == .closed ? [] : [.turnOff, .close]
        phase = .closed
        adapter = name
        attempt = 0
        lastPowerUp = nil
        episode = Episode(since: now)
        onAirSince = nil
        nextAttempt = now
        return leaving + continueReload(now) + wake(at: now)
    }
}
