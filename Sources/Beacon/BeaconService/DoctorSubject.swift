internal import Advertiser
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import HCITransports
internal import LinuxHost

/// A box, and the adapter on it that a beacon shall use.
struct DoctorSubject {
    /// By which way a beacon talks to the controller.
    enum Form: Equatable {
        case raw(String)
        case user(String)
        case mgmt(String)
        /// A controller that the kernel knows nothing of.
        case stream
        case virtual
    }

    /// `nil` where the box has no adapter.
    let name: AdapterName?
    let form: Form?
    let adapters: [BlueZAdapter]
    /// Where the file system begins.
    let root: String

    init(_ name: AdapterName?, _ adapters: [BlueZAdapter], root: String) {
        self.name = name
        self.adapters = adapters
        self.root = root
        form = name.map { Self.form($0.description) }
    }

    /// The hciN that is meant, where the kernel has it.
    var adapter: BlueZAdapter? { device.flatMap { device in adapters.first { $0.name == device } } }

    /// `hci0`; `nil` for controllers that the kernel knows nothing of.
    var device: String? {
        switch form {
        case .raw(let device), .user(let device), .mgmt(let device): device
        case .stream, .virtual, nil: nil
        }
    }

    /// Whether the kernel's Bluetooth plays no part.
    var isOutsideTheKernel: Bool { form == .stream || form == .virtual }

    private static func form(_ text: String) -> Form {
        if text == "virtual" { return .virtual }
        guard text.hasPrefix("hci") else { return .stream }
        let device = String(text.prefix { $0 != ":" })
        if text.hasSuffix(":user") { return .user(device) }
        return text.hasSuffix(":mgmt") ? .mgmt(device) : .raw(device)
    }
}

extension DoctorSubject {
    var kernel: [DoctorFinding] {
        if isOutsideTheKernel { return [.ok("kernel", "its Bluetooth is not needed for \(name?.description ?? "")")] }
        if BlueZAdapter.kernelHasBluetooth { return [.ok("kernel", "it has Bluetooth")] }
        return [
            .fail(
                "kernel", "this kernel has no Bluetooth, or this is a container without the host's network",
                "`sudo modprobe bluetooth`, or run where the host's network is; serial: and tcp: controllers, and "
                    + "--adapter virtual, need none")
        ]
    }

    /// Whether the adapter is there, and ready.
    var presence: [DoctorFinding] {
        guard !isOutsideTheKernel, BlueZAdapter.kernelHasBluetooth else { return [] }
        guard let device else {
            return [
                .fail(
                    "adapter", "no Bluetooth adapter with LE is there",
                    "plug one in; `lsusb` shows whether the box sees it, and `sudo dmesg | grep -i bluetooth` whether "
                        + "its driver wants a firmware file that is missing (package firmware-…)")
            ]
        }
        guard let adapter else {
            let names = adapters.map(\.name).joined(separator: ", ")
            return [
                .fail(
                    "adapter", "\(device) is not there",
                    names.isEmpty ? "plug it in; this box has no adapter at all" : "plug it in, or use \(names)")
            ]
        }
        let others = adapters.filter { $0.name != device }.map { "\($0.name) \($0.address)" }
        let also = others.isEmpty ? "" : "; also there: " + others.joined(separator: ", ")
        return [presence(adapter, also), firmware(adapter)].compactMap(\.self)
    }

    private func presence(_ adapter: BlueZAdapter, _ also: String) -> DoctorFinding {
        // A beacon that has it by the user channel has brought it up itself.
        if let owner = owner(of: adapter) {
            return .ok("adapter", "\(adapter.name) \(adapter.address): \(owner) sends with it\(also)")
        }
        if adapter.isUp, case .user = form {
            return .fail(
                "adapter", "\(adapter.name) \(adapter.address) is up, and the user channel needs it down\(also)",
                "`sudo hciconfig \(adapter.name) down`, and stop bluetoothd or set AutoEnable=false in its main.conf")
        }
        let state = adapter.isUp ? "is up" : "is down; it is brought up when a beacon starts"
        return .ok("adapter", "\(adapter.name) \(adapter.address) \(state)\(also)")
    }

    /// The kernel does not show in /sys whether a firmware file was missing; what follows from it is visible.
    private func firmware(_ adapter: BlueZAdapter) -> DoctorFinding? {
        guard adapter.address.octets.octets.allSatisfy({ $0 == 0 }) else { return nil }
        return .warn(
            "firmware", "\(adapter.name) has no address, as when its firmware file is missing or it was never up",
            "`sudo dmesg | grep -i -e bluetooth -e firmware` names a missing file, `apt-cache search firmware` packages"
        )
    }

    /// A beacon that has this adapter already.
    func owner(of adapter: BlueZAdapter) -> String? {
        AdapterLock.holder(of: adapter.address, in: root + StatusFile.defaultDirectory)?.instance
    }
}

extension DoctorSubject {
    /// What the controller says of itself, where it can be asked without disturbing anybody.
    var controller: [DoctorFinding] {
        guard let name else { return [] }
        if isOutsideTheKernel {
            if let owner = instanceUsing(name) {
                return [.ok("controller", "\(owner) sends with it, so it is not asked")]
            }
            do {
                return findings(try AdapterReport(asking: name))
            } catch BeaconServiceError.transport(let error) {
                return [.fail("controller", "\(error)", "plug it in or start it, then ask again")]
            } catch {
                let remedy = "unplug it and plug it in again; is it an HCI controller?"
                return [.fail("controller", "\(name): \(error)", remedy)]
            }
        }
        guard let adapter else { return [] }
        if case .user = form, let owner = owner(of: adapter) {
            return [.ok("controller", "\(owner) has it for itself, so it is not asked")]
        }
        guard adapter.isUp else {
            return [
                .warn(
                    "controller", "\(adapter.name) is down, so what it can do is not known",
                    "`sudo hciconfig \(adapter.name) up`, then ask again")
            ]
        }
        return findings(AdapterReport(adapter))
    }

    private func findings(_ report: AdapterReport) -> [DoctorFinding] {
        guard let found = report.capabilities else {
            let note = report.note ?? "it says nothing"
            if note == "no LE" {
                return [
                    .fail(
                        "controller", "\(report.name) has no Bluetooth Low Energy, which beacons are made of",
                        "use an adapter of Bluetooth 4.0 or later")
                ]
            }
            return [.warn("controller", "what it can do is not known: \(note)", "`sudo pharos doctor` may see more")]
        }
        return [
            .ok("controller", "\(found.version), \(found.manufacturer)"), advertising(found), interval(found),
            power(found), listening(report, found), antenna(found), losses(report),
        ].compactMap(\.self)
    }

    /// Whether it can hear others, and its own beacon's neighbours while that is sent.
    private func listening(_ report: AdapterReport, _ found: ControllerCapabilities) -> DoctorFinding {
        guard report.canListen == true else {
            return .warn(
                "listening", "this adapter cannot scan", "use another adapter for `pharos scan`")
        }
        let what = found.hasExtendedAdvertising ? "legacy and extended advertisements" : "legacy advertisements"
        let who = report.listener.map { "; \($0) listens" } ?? ""
        switch (report.canListenWhileSending, form) {
        case (_, .mgmt(let device)):
            return .ok(
                "listening", "it tells which beacons are there, not how often; \(device) hears each advertisement\(who)"
            )
        case (false, _):
            return .warn(
                "listening", "it hears \(what), and not while a beacon is sent\(who)",
                "use another adapter for `pharos scan` than for `pharos run`")
        case (true, _): return .ok("listening", "it hears \(what), also while a beacon is sent\(who)")
        case (nil, _):
            return .ok("listening", "it hears \(what); whether also while a beacon is sent it does not say\(who)")
        }
    }

    /// A Raspberry Pi's own radio has one antenna for both.
    private func antenna(_ found: ControllerCapabilities) -> DoctorFinding? {
        guard [CompanyIdentifier.broadcom, .cypress].contains(found.manufacturer),
            Files.firstLine(root + "/proc/device-tree/model")?.hasPrefix("Raspberry Pi") == true
        else { return nil }
        return .ok(
            "antenna",
            "2.4 GHz Wi-Fi shares it, and is slow while `pharos scan` listens: --scan-window-ms 30 leaves it half of the "
                + "time")
    }

    /// What the kernel could make nothing of, for example from a UART that is too fast for its line.
    private func losses(_ report: AdapterReport) -> DoctorFinding? {
        guard let errors = report.receiveErrors, errors > 0 else { return nil }
        return .warn(
            "losses", "\(errors) packets from the controller were lost on their way to the kernel",
            "`sudo dmesg | grep -i bluetooth` says more; a slower serial line, or another USB port, may help")
    }

    private func advertising(_ found: ControllerCapabilities) -> DoctorFinding {
        if found.hasExtendedAdvertising {
            let sets = found.advertisingSets == 1 ? "1 set" : "\(found.advertisingSets) sets"
            return .ok("advertising", "extended, \(sets): each advertisement may have its own interval and power")
        }
        return .ok("advertising", "legacy, 1 set: several advertisements take turns, with one interval and power")
    }

    private func interval(_ found: ControllerCapabilities) -> DoctorFinding {
        let least = found.intervalRange(for: .nonconnectable).lowerBound
        if case .mgmt(let device) = form, !found.hasExtendedAdvertising {
            return .warn(
                "interval", "the kernel sends every 100...150 ms on this controller, whatever a profile asks for",
                "use \(device) or \(device):user for another interval")
        }
        return .ok("interval", "\(least) at least")
    }

    private func power(_ found: ControllerCapabilities) -> DoctorFinding {
        let range = found.transmitPowerRange.map { ", \($0.lowerBound.dBm)...\($0.upperBound.dBm) dBm" } ?? ""
        if case .mgmt(let device) = form, !found.hasExtendedAdvertising {
            return .warn(
                "radio power", "the kernel does not set it on this controller",
                "use \(device) or \(device):user, or leave radioPowerDbm out")
        }
        if found.powerControl == .none {
            return .warn(
                "radio power", "it cannot be set on this controller\(range)",
                "leave radioPowerDbm out, and calibrate at the power that it has; a controller with extended "
                    + "advertising can set it")
        }
        return .ok("radio power", "it is set by \(found.powerControl)\(range)")
    }

    /// The name of an instance that runs on a controller outside the kernel.
    private func instanceUsing(_ name: AdapterName) -> String? {
        let found = try? StatusFile.all(in: root + StatusFile.defaultDirectory)
        let user = found?.status.instances.first { $0.adapter == name.description && $0.state != .off }
        return name == .virtual ? nil : user?.name
    }
}

extension DoctorSubject {
    /// rfkill's switches for Bluetooth: the adapter's own, and those of the box that stand for any adapter.
    var radioSwitches: [DoctorFinding] {
        if isOutsideTheKernel { return [] }
        let folder = root + "/sys/class/rfkill"
        let switches = Files.names(in: folder).map { "\(folder)/\($0)" }.filter { path in
            let name = Files.firstLine(path + "/name") ?? ""
            return Files.firstLine(path + "/type") == "bluetooth"
                && (!name.hasPrefix("hci") || device == nil || name == device)
        }
        let findings = switches.compactMap { path -> DoctorFinding? in
            let name = Files.firstLine(path + "/name") ?? "the switch"
            if Files.firstLine(path + "/hard") == "1" {
                return .fail(
                    "rfkill", "\(name) is switched off by hardware",
                    "turn on the radio with the box's own switch or key, or in its firmware settings")
            }
            if Files.firstLine(path + "/soft") == "1" {
                return .fail("rfkill", "\(name) is switched off by software", "`sudo rfkill unblock bluetooth`")
            }
            return nil
        }
        if !findings.isEmpty { return findings }
        return [.ok("rfkill", switches.isEmpty ? "no switch stands before the radio" : "the radio is switched on")]
    }

    var bluetoothd: [DoctorFinding] {
        guard let device else { return [] }
        let running = Privileges.processes(named: "bluetoothd").map(String.init).joined(separator: ", ")
        guard !running.isEmpty else { return [.ok("bluetoothd", "it does not run, and is not needed")] }
        let who = "it runs (process \(running))"
        switch form {
        case .mgmt:
            return [.ok("bluetoothd", "\(who), and \(device):mgmt works beside it")]
        case .user:
            return [
                .warn(
                    "bluetoothd", "\(who), and may bring \(device) up before a beacon takes it",
                    "AutoEnable=false in /etc/bluetooth/main.conf, or `sudo systemctl disable --now bluetooth`")
            ]
        default:
            return [
                .warn(
                    "bluetoothd", "\(who), and whatever advertises or connects through it disturbs \(device)",
                    "nothing to do where nobody uses it: `run` takes the radio back within seconds; "
                        + "\(device):mgmt shares it, `sudo systemctl disable --now bluetooth` ends it")
            ]
        }
    }

    /// The capabilities of this process. The service has its own, whatever the user who asks may do.
    var rights: [DoctorFinding] {
        let needed: [Privileges.Capability] =
            switch form {
            case .raw: [.netRaw, .netAdmin]
            case .user, .mgmt: [.netAdmin]
            case .stream, .virtual, nil: []
            }
        guard let name, !needed.isEmpty else { return [] }
        let missing = needed.filter { !Privileges.effective.contains($0) }.map(\.description)
        if missing.isEmpty {
            let names = needed.map(\.description).joined(separator: " and ")
            return [.ok("rights", "\(names) for \(name)")]
        }
        let message = "this user has no " + missing.joined(separator: " and no ") + ", which \(name) needs"
        let remedy = "`sudo pharos …`, or `sudo setcap cap_net_raw,cap_net_admin+ep` on the pharos binary"
        guard unitPath != nil else { return [.fail("rights", message, remedy)] }
        return [.warn("rights", message, "the installed service has them; for the command line " + remedy)]
    }

    var sensors: [DoctorFinding] {
        let tree = SensorTree(root: root + "/sys")
        func finding(_ topic: String, _ quantity: SensorQuantity, _ unit: (Int) -> String) -> DoctorFinding {
            let names = tree.sensors(of: quantity).map(\.name.description)
            guard let best = tree.best(quantity), let value = best.read() else {
                let there = names.isEmpty ? "" : " (by name: \(names.joined(separator: ", ")))"
                return .ok(topic, "no sensor for auto\(there); telemetry sends it as unknown")
            }
            let others = names.filter { $0 != best.name.description }
            let rest = others.isEmpty ? "" : "; also there: " + others.joined(separator: ", ")
            return .ok(topic, "\(best.name) reads \(unit(value))\(rest)")
        }
        return [
            finding("temperature", .temperature) { DecimalText.thousandths($0) + " °C" },
            finding("battery", .voltage) { "\($0) mV" },
        ]
    }

    var units: [DoctorFinding] {
        guard let unitPath else {
            return [
                .warn(
                    "unit", "pharos@.service is not installed: no beacon starts with the box",
                    "install the package, or copy systemd/pharos@.service to /etc/systemd/system")
            ]
        }
        let enabled = enabledInstances
        if enabled.isEmpty {
            return [
                .warn(
                    "unit", "\(unitPath) is installed, and no beacon is enabled",
                    "`sudo systemctl enable --now pharos@NAME` keeps the profile /etc/pharos/NAME.json on the air")
            ]
        }
        return [.ok("unit", "\(unitPath) is installed, enabled for \(enabled.joined(separator: ", "))")]
            + enabled.compactMap { name in
                Files.exists("\(root)/etc/pharos/\(name).json")
                    ? nil
                    : .warn(
                        "unit", "pharos@\(name) is enabled and has no profile",
                        "write /etc/pharos/\(name).json, or `sudo systemctl disable pharos@\(name)`")
            }
    }

    private var unitPath: String? {
        ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"].map { $0 + "/pharos@.service" }
            .first { Files.exists(root + $0) }
    }

    /// The instances that start with the box, by the links that `systemctl enable` makes.
    private var enabledInstances: [String] {
        let folder = root + "/etc/systemd/system"
        let wants = Files.names(in: folder).filter { $0.hasSuffix(".wants") }
        let names = wants.flatMap { Files.names(in: "\(folder)/\($0)") }.filter {
            $0.hasPrefix("pharos@") && $0.hasSuffix(".service")
        }.map {
            String($0.dropFirst("pharos@".count).dropLast(".service".count))
        }
        return Set(names).sorted()
    }

    /// The machine's clock, and the beacons whose own clock does not agree with it.
    var clock: [DoctorFinding] {
        let found = try? StatusFile.all(in: root + StatusFile.defaultDirectory)
        return wallClock
            + (found?.status.instances ?? []).filter { $0.state != .off }.compactMap { status in
                guard let ahead = status.eidClockAhead else { return nil }
                let name = TerminalText.line(status.name)
                return .warn(
                    "clock", "\(name): \(StatusText.eidClock(ahead: ahead)), so its ids are resolved by nobody",
                    "let NTP keep the clock (`sudo timedatectl set-ntp true`): it is set right by itself then; or "
                        + "`sudo systemctl stop pharos@\(name)`, remove /var/lib/pharos/\(name).json, and start it again"
                )
            }
    }

    private var wallClock: [DoctorFinding] {
        switch WallClock.synchronization(root: root) {
        case .synchronized: [.ok("clock", "it is kept right")]
        case .unsynchronized:
            [
                .warn(
                    "clock", "nobody keeps it right; only ephemeral ids (EID) care",
                    "`sudo timedatectl set-ntp true`, or install chrony; a box without network needs a clock with a "
                        + "battery")
            ]
        case .unknown: [.ok("clock", "whether it is kept right cannot be asked here; only ephemeral ids (EID) care")]
        }
    }
}
