internal import HCI

/// Turning off, under all circumstances.
extension BeaconSession {
    /// Returns why advertising may still be on, if it may.
    func turnOff() -> AdvertisingError? {
        var failure: AdvertisingError?
        silence(since: host.now)
        for index in sets.indices {
            // A controller that is gone or does not answer is not asked about every set.
            if let failure, failure.isHopeless { break }
            failure = disableDespiteSignals(index) ?? failure
        }
        if plan.isExclusive {
            // A reset is the state in which we found it, and the only way back for what has no off switch.
            do throws(HCICommandError) {
                _ = try host.execute(HCIReset())
                return nil
            } catch {
                return failure
            }
        }
        for set in sets {
            do throws(AdvertisingError) {
                try set.commands.release(set.plan, host)
            } catch {
                if error.isHopeless { break }
            }
        }
        return failure
    }

    /// Takes sets off the air that are not needed any more, as far as the controller lets us.
    func release(_ sets: [ActiveSet]) {
        for set in sets {
            do throws(AdvertisingError) {
                try set.commands.disable(host)
                try set.commands.release(set.plan, host)
            } catch {
                if error.isHopeless { return }
            }
        }
    }

    /// A second Ctrl-C while the first one is obeyed must not leave the beacon on.
    private func disableDespiteSignals(_ index: Int) -> AdvertisingError? {
        for _ in 0..<2 {
            do throws(AdvertisingError) {
                try disable(index)
                return nil
            } catch {
                guard case .command(.channel(.interrupted), _) = error else { return error }
            }
        }
        return .command(.channel(.interrupted), remedy: nil)
    }
}

extension AdvertisingError {
    /// The controller will answer the next command no better.
    fileprivate var isHopeless: Bool {
        guard case .command(let error, _) = self else { return false }
        switch error {
        case .refused, .malformedReturn, .channel(.interrupted): return false
        case .noAnswer, .notAccepted, .channel: return true
        }
    }
}
