internal import BluetoothTypes
internal import Configuration
internal import HCITransports
internal import LinuxHost

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
