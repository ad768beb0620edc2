public import HCI

/// Does what a ``Supervisor`` decides, with a session on an adapter.
///
/// For one thread: it sends commands and waits for their answers. Between the calls nothing runs.
public final class BeaconKeeper {
    public private(set) var supervisor: Supervisor
    /// What is on the air, or was last.
    public private(set) var session: (any KeptSession)?
    /// Of the controller in use, or of the last one.
    public private(set) var capabilities: ControllerCapabilities?
    /// How it ended: `true` as wanted, `false` when nothing could be done. `nil` before.
    public private(set) var ended: Bool?

    private let surroundings: any BeaconSurroundings
    private var controller: OpenedController?

    /// What turning off may take, in microseconds: 0.8 s. A service manager, and whoever waits for it, wants an end.
    public static let farewell = 800_000
    /// Events that are taken in one go.
    private static let eventsInATurn = 256

    public init(_ supervisor: Supervisor, in surroundings: any BeaconSurroundings) {
        self.supervisor = supervisor
        self.surroundings = surroundings
    }

    /// When ``wake()`` wants to be called at the latest; `nil` when there is nothing to wait for.
    public var nextWakeUp: HCIInstant? {
        let renewal = supervisor.state == .onAir ? session?.nextWakeUp : nil
        return [supervisor.nextWakeUp, renewal].compactMap { $0 }.min()
    }

    /// Time has come: for the supervisor, for the session, or for both.
    public func wake() {
        perform(supervisor.wake(at: surroundings.now))
        guard supervisor.state == .onAir, let session else { return }
        attempt { () throws(AdvertisingError) in try session.wake() }
    }

    /// Tells the supervisor something, and does what it decides.
    public func handle(_ input: Supervisor.Input) {
        perform(supervisor.handle(input, at: surroundings.now))
    }

    /// Takes what the controller has sent by itself.
    public func receive() {
        for _ in 0..<Self.eventsInATurn {
            guard let host = controller?.host, let session else { return }
            var more = false
            attempt { () throws(AdvertisingError) in
                guard let event = try advertising({ try host.nextEvent(until: host.now) }) else { return }
                more = true
                if case .hardwareError(let code) = event { return self.reportHardwareError(code) }
                try session.handle(event)
            }
            if !more { return }
        }
    }

    private func reportHardwareError(_ code: UInt8) {
        handle(.failed(.hardwareError, "the controller reports a hardware error (code \(code))"))
    }

    private func attempt(_ body: () throws(AdvertisingError) -> Void) {
        do throws(AdvertisingError) {
            try body()
        } catch {
            handle(input(error))
        }
    }

    private func perform(_ actions: [Supervisor.Action]) {
        var queue = actions
        var next = 0
        while next < queue.count {
            if let answer = perform(queue[next]) { queue += supervisor.handle(answer, at: surroundings.now) }
            next += 1
        }
    }

    /// Does one thing, and returns what came of it, if that is of interest.
    private func perform(_ action: Supervisor.Action) -> Supervisor.Input? {
        switch action {
        case .open: return open()
        case .start: return start()
        case .verify: return verify()
        case .rearm: return rearm()
        case .close:
            controller = nil
            surroundings.close()
        case .turnOff: turnOff()
        case .readProfile: return surroundings.readProfile()
        case .adoptForNextStart: surroundings.adoptProfile()
        case .adopt: return adopt()
        case .log(let priority, let text): surroundings.log(priority, text)
        case .notify(let notice): surroundings.notify(notice)
        case .finish(let asWanted): ended = asWanted
        }
        return nil
    }

    private func open() -> Supervisor.Input {
        do throws(BeaconFault) {
            controller = try surroundings.open()
            return .opened
        } catch {
            return error.input
        }
    }

    private func start() -> Supervisor.Input {
        guard let controller else { return .failed(.adapterGone, "the adapter is closed") }
        return result { () throws(AdvertisingError) in
            let found = try advertising {
                try ControllerCapabilities.read(from: controller.host, isExclusive: controller.isExclusive)
            }
            capabilities = found
            let made = try surroundings.makeSession(controller, found)
            try made.start()
            session = made
            return .started(made.summary)
        }
    }

    /// A profile that this controller cannot send is refused before anything changes.
    private func adopt() -> Supervisor.Input {
        guard let controller, let capabilities else { return .failed(.adapterGone, "the adapter is closed") }
        let made: any KeptSession
        do throws(AdvertisingError) {
            made = try surroundings.makeNextSession(controller, capabilities)
        } catch {
            return .reloadBad("\(error)")
        }
        do throws(AdvertisingError) {
            // The old one is not stopped: starting takes its advertiser over, and the silence stays short.
            try made.start()
        } catch {
            guard error.isRefusal, let session, (try? session.rearm()) != nil else { return input(error) }
            return .reloadBad("\(error)")
        }
        session = made
        surroundings.adoptProfile()
        return .adopted(made.summary)
    }

    private func verify() -> Supervisor.Input {
        guard let session else { return .failed(.silent, "nothing is on the air") }
        return result { () throws(AdvertisingError) in
            try session.verify() ? .verified : .failed(.silent, "advertising was off, and nobody was seen to do it")
        }
    }

    private func rearm() -> Supervisor.Input {
        guard let session else { return .failed(.adapterGone, "nothing was on the air") }
        return result { () throws(AdvertisingError) in
            try session.rearm()
            return .rearmed
        }
    }

    private func turnOff() {
        guard let controller, let session else { return }
        controller.host.latestAnswer = surroundings.now.advanced(byMicroseconds: Self.farewell)
        try? session.stop()
    }

    private func result(_ body: () throws(AdvertisingError) -> Supervisor.Input) -> Supervisor.Input {
        do throws(AdvertisingError) {
            return try body()
        } catch {
            return input(error)
        }
    }

    /// What an error of a session means for the supervisor.
    private func input(_ error: AdvertisingError) -> Supervisor.Input {
        switch error {
        case .impossible(let reason), .payload(let reason): .impossible(reason)
        case .ended(let reason): .failed(.silent, reason)
        case .command(let command, _):
            switch command {
            case .refused, .malformedReturn: .failed(.refused, "\(error)")
            case .noAnswer, .notAccepted: .failed(.noAnswer, "\(error)")
            // Somebody wants us to end.
            case .channel(.interrupted): .stop
            case .channel(let channel): surroundings.explain(channel).input
            }
        }
    }
}

extension AdvertisingError {
    /// The controller lives, and does not do what was asked.
    fileprivate var isRefusal: Bool {
        switch self {
        case .impossible, .payload: true
        case .command(let error, _): error.isRefusal
        case .ended: false
        }
    }
}
