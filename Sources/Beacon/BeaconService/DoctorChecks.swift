internal import Advertiser
internal import BluetoothTypes
internal import Configuration
internal import HCI
internal import HCITransports
internal import LinuxHost

/// The checks of `pharos doctor`: of this machine, and of the adapter that a beacon will use.
struct DoctorChecks {
    /// The adapter that the beacon will use; `nil` if the machine has none.
    private let name: AdapterName?
    private let adapters: [BlueZAdapter]
    /// The directory that contains /sys, /etc, /usr and /run.
    private let root: String

    init(_ name: AdapterName?, _ adapters: [BlueZAdapter], root: String) {
        self.name = name
        self.adapters = adapters
        self.root = root
    }

    /// The kernel's adapter; `nil` if it is missing, or if the controller does not belong to the kernel.
    private var adapter: BlueZAdapter? { device.flatMap { device in adapters.first { $0.name == device } } }

    /// `hci0`; `nil` for a controller that does not belong to the kernel.
    private var device: String? { name?.kernelIndex.map { "hci\($0)" } }

    /// `true` if the controller does not belong to the kernel: a stream, or the virtual adapter.
    private var isOutsideTheKernel: Bool { name != nil && device == nil }

    private var isUserChannel: Bool {
        if case .user = name { true } else { false }
    }

    private var isManaged: Bool {
        if case .managed = name { true } else { false }
    }
}

// MARK: The kernel and its adapters

extension DoctorChecks {
    var kernel: [DoctorFinding] {
        if isOutsideTheKernel {
            return [.ok("kernel", "\(name?.description ?? "") does not need the kernel's Bluetooth")]
        }
        if BlueZAdapter.kernelHasBluetooth { return [.ok("kernel", "it supports Bluetooth")] }
        return [
            .fail(
                "kernel", "this kernel has no Bluetooth, or this is a container without the host's network",
                "`sudo modprobe bluetooth`, or use the host's network; serial:, tcp: and virtual adapters need no "
                    + "Bluetooth in the kernel")
        ]
    }

    /// Checks that the adapter is present and ready.
    var presence: [DoctorFinding] {
        guard !isOutsideTheKernel, BlueZAdapter.kernelHasBluetooth else { return [] }
        guard let device else {
            return [
                .fail(
                    "adapter", "this machine has no Bluetooth adapter with LE",
                    "plug one in; `lsusb` lists the USB devices, and `sudo dmesg | grep -i bluetooth` shows a missing "
                        + "firmware file (package firmware-…)")
            ]
        }
        guard let adapter else {
            let names = adapters.map(\.name).joined(separator: ", ")
            return [
                .fail(
                    "adapter", "\(device) is missing",
                    names.isEmpty ? "plug it in; this machine has no adapter" : "plug it in, or use \(names)")
            ]
        }
        let others = adapters.filter { $0.name != device }.map { "\($0.name) \($0.address)" }
        let otherAdapters = others.isEmpty ? "" : "; other adapters: " + others.joined(separator: ", ")
        return [presence(adapter, otherAdapters), firmware(adapter)].compactMap(\.self)
    }

    private func presence(_ adapter: BlueZAdapter, _ otherAdapters: String) -> DoctorFinding {
        // If a beacon uses the adapter on the user channel, the adapter is up because the beacon has powered it on.
        if let owner = owner(of: adapter) {
            return .ok("adapter", "\(adapter.name) \(adapter.address): the beacon \(owner) uses it\(otherAdapters)")
        }
        if adapter.isUp, isUserChannel {
            return .fail(
                "adapter",
                "\(adapter.name) \(adapter.address) is up, but the user channel needs it down\(otherAdapters)",
                "`sudo hciconfig \(adapter.name) down`, and stop bluetoothd or set AutoEnable=false in its main.conf")
        }
        let state = adapter.isUp ? "is up" : "is down; a beacon powers it on when it starts"
        return .ok("adapter", "\(adapter.name) \(adapter.address) \(state)\(otherAdapters)")
    }

    /// Checks for missing firmware: /sys does not show the firmware, but without it the adapter has no address.
    private func firmware(_ adapter: BlueZAdapter) -> DoctorFinding? {
        guard adapter.address.octets.octets.allSatisfy({ $0 == 0 }) else { return nil }
        return .warn(
            "firmware", "\(adapter.name) has no address: its firmware file is missing, or the adapter was never up",
            "`sudo dmesg | grep -i -e bluetooth -e firmware` names a missing file; `apt-cache search firmware` lists "
                + "the packages"
        )
    }

    /// The beacon that uses this adapter; `nil` for none.
    private func owner(of adapter: BlueZAdapter) -> String? {
        AdapterLock.holder(of: LockedAdapter(adapter.address), in: root + StatusFile.defaultDirectory)?.purpose
    }
}

// MARK: The controller

extension DoctorChecks {
    /// Checks the controller's capabilities, unless that would disturb a beacon.
    var controller: [DoctorFinding] {
        guard let name else { return [] }
        if isOutsideTheKernel {
            if let owner = instanceUsing(name) {
                return [.ok("controller", "not checked, because the beacon \(owner) uses it")]
            }
            do {
                return findings(try AdapterReport(asking: name))
            } catch BeaconServiceError.transport(let error) {
                return [.fail("controller", "\(error)", "plug it in or start it, then run doctor again")]
            } catch {
                let remedy = "unplug it and plug it in again; check that it is an HCI controller"
                return [.fail("controller", "\(name): \(error)", remedy)]
            }
        }
        guard let adapter else { return [] }
        if isUserChannel, let owner = owner(of: adapter) {
            return [.ok("controller", "not checked, because the beacon \(owner) uses it")]
        }
        guard adapter.isUp else {
            return [
                .warn(
                    "controller", "\(adapter.name) is down, so its capabilities are unknown",
                    "`sudo hciconfig \(adapter.name) up`, then run doctor again")
            ]
        }
        return findings(AdapterReport(adapter))
    }

    private func findings(_ report: AdapterReport) -> [DoctorFinding] {
        guard let capabilities = report.capabilities else {
            let note = report.note ?? "no reason given"
            if note == "no LE" {
                return [
                    .fail(
                        "controller", "\(report.name) has no Bluetooth Low Energy, which beacons need",
                        "use an adapter with Bluetooth 4.0 or later")
                ]
            }
            return [.warn("controller", "its capabilities are unknown: \(note)", "`sudo pharos doctor` may show more")]
        }
        return [
            .ok("controller", "\(capabilities.version), \(capabilities.manufacturer)"), advertising(capabilities),
            interval(capabilities), power(capabilities), listening(report, capabilities), antenna(capabilities),
            losses(report),
        ].compactMap(\.self)
    }

    /// Checks that the controller can scan, also while it advertises.
    private func listening(_ report: AdapterReport, _ capabilities: ControllerCapabilities) -> DoctorFinding {
        guard report.canListen == true else {
            return .warn(
                "listening", "this adapter cannot scan", "use another adapter for `pharos scan`")
        }
        let received =
            capabilities.hasExtendedAdvertising ? "legacy and extended advertisements" : "legacy advertisements"
        let listener = report.listener.map { "; \($0) is listening" } ?? ""
        if isManaged, let device {
            return .ok(
                "listening",
                "the kernel reports which beacons are present, but not each advertisement; \(device) receives "
                    + "all\(listener)"
            )
        }
        switch report.canListenWhileSending {
        case false?:
            return .warn(
                "listening", "it receives \(received), but not while it advertises\(listener)",
                "use different adapters for `pharos scan` and `pharos run`")
        case true?: return .ok("listening", "it receives \(received), also while it advertises\(listener)")
        case nil:
            return .ok(
                "listening",
                "it receives \(received); it is unknown whether it also receives while it advertises\(listener)")
        }
    }

    /// Reports that a Raspberry Pi's Bluetooth and Wi-Fi share one antenna.
    private func antenna(_ capabilities: ControllerCapabilities) -> DoctorFinding? {
        guard [CompanyIdentifier.broadcom, .cypress].contains(capabilities.manufacturer),
            Files.firstLine(root + "/proc/device-tree/model")?.hasPrefix("Raspberry Pi") == true
        else { return nil }
        return .ok(
            "antenna",
            "Bluetooth and 2.4 GHz Wi-Fi share one antenna, so Wi-Fi is slow during `pharos scan`; with --scan-window-ms 30 "
                + "Wi-Fi has half of the time"
        )
    }

    /// Checks for packets that the kernel could not read, for example from a UART that is too fast for its line.
    private func losses(_ report: AdapterReport) -> DoctorFinding? {
        guard let errors = report.receiveErrors, errors > 0 else { return nil }
        return .warn(
            "losses", "\(errors) packets from the controller were lost on their way to the kernel",
            "try a slower serial line or another USB port; `sudo dmesg | grep -i bluetooth` shows details")
    }

    private func advertising(_ capabilities: ControllerCapabilities) -> DoctorFinding {
        if capabilities.hasExtendedAdvertising {
            let sets = NumberFormat.count(capabilities.advertisingSets, "set")
            return .ok("advertising", "extended, \(sets): each advertisement may have its own interval and power")
        }
        return .ok("advertising", "legacy, 1 set: advertisements take turns, each at its own interval, with one power")
    }

    private func interval(_ capabilities: ControllerCapabilities) -> DoctorFinding {
        let shortest = capabilities.intervalRange(for: .nonconnectable).lowerBound
        if isManaged, let device, !capabilities.hasExtendedAdvertising {
            return .warn(
                "interval", "on this controller the kernel always uses 100...150 ms, not the profile's interval",
                "use \(device) or \(device):user for other intervals")
        }
        return .ok("interval", "at least \(shortest)")
    }

    private func power(_ capabilities: ControllerCapabilities) -> DoctorFinding {
        let range =
            capabilities.transmitPowerRange.map { " (range \($0.lowerBound.dBm)...\($0.upperBound.dBm) dBm)" } ?? ""
        if isManaged, let device, !capabilities.hasExtendedAdvertising {
            return .warn(
                "radio power", "the kernel cannot set it on this controller",
                "use \(device) or \(device):user, or remove radioPowerDbm from the profile")
        }
        if capabilities.powerControl == .none {
            return .warn(
                "radio power", "it cannot be set on this controller\(range)",
                "remove radioPowerDbm from the profile and calibrate at the controller's power, or use a controller with "
                    + "extended advertising")
        }
        return .ok("radio power", "it is set by \(capabilities.powerControl)\(range)")
    }

    /// The name of the beacon that uses a controller outside the kernel; `nil` for none.
    private func instanceUsing(_ name: AdapterName) -> String? {
        let files = try? StatusFile.all(in: root + StatusFile.defaultDirectory)
        let user = files?.status.instances.first { $0.adapter == name.description && $0.state != .off }
        return name.isVirtual ? nil : user?.name
    }
}

// MARK: Other programs on the adapter

extension DoctorChecks {
    /// Checks what other programs do with the adapter now.
    var sharing: [DoctorFinding] {
        guard let adapter, adapter.isUp else { return [] }
        return [kernelAdvertisement(adapter), foreignInstances(adapter), foreignScan(adapter)].compactMap(\.self)
    }

    /// Checks for the kernel's own advertisement, which keeps all instances of its advertising manager off the air.
    private func kernelAdvertisement(_ adapter: BlueZAdapter) -> DoctorFinding? {
        guard
            let settings = try? management(adapter)?.execute(ReadControllerInformation(), index: adapter.index).current,
            settings.contains(.advertising)
        else { return nil }
        let message = "a program has turned on the kernel's own advertisement on \(adapter.name)"
        let remedy = "`sudo btmgmt --index \(adapter.index) advertising off`"
        guard isManaged else { return .warn("sharing", message + ", which disturbs beacons", remedy) }
        return .fail("sharing", message + ", which keeps a beacon on \(adapter.name):mgmt off the air", remedy)
    }

    /// Checks for instances of the kernel's advertising manager that belong to no beacon of this machine, such as
    /// instances that remain after `bluetoothctl advertise` has failed.
    private func foreignInstances(_ adapter: BlueZAdapter) -> DoctorFinding? {
        guard isManaged, owner(of: adapter) == nil,
            let features = try? management(adapter)?.execute(ReadAdvertisingFeatures(), index: adapter.index),
            !features.instances.isEmpty
        else { return nil }
        let numbers = features.instances.map { "\($0)" }.joined(separator: ", ")
        return .warn(
            "sharing",
            "the kernel has advertising instances of other programs (\(numbers)); on a controller with one set they take "
                + "turns with a beacon, which is then received less often. An instance may be empty, left by a failed "
                + "`bluetoothctl advertise`",
            "end the program that made them, or run `sudo btmgmt --index \(adapter.index) rm-adv NUMBER`")
    }

    /// The time for which the check waits for reports of another program's scan, in microseconds.
    private static let scanMicroseconds = 500_000

    /// Checks for a scan of another program: its advertising reports arrive at every raw channel.
    private func foreignScan(_ adapter: BlueZAdapter) -> DoctorFinding? {
        guard !isUserChannel, let channel = try? BlueZChannel(raw: adapter.index) else { return nil }
        let host = HCIHost(channel: channel)
        let deadline = host.now.advanced(byMicroseconds: Self.scanMicroseconds)
        while let event = try? host.nextEvent(until: deadline) {
            guard event.isAdvertisingReport else { continue }
            return .warn(
                "sharing",
                "a program scans on \(adapter.name): some kernels turn advertising off when a scan begins, and `run` turns "
                    + "it on again within half a second; until the scan ends the beacon may have another address",
                "if the address matters, scan with another adapter")
        }
        return nil
    }

    private func management(_ adapter: BlueZAdapter) -> ManagementHost? {
        (try? ManagementSocket(adapter.name)).map { ManagementHost(channel: $0) }
    }
}

extension HCIEvent {
    /// `true` for an advertising report of a scan.
    fileprivate var isAdvertisingReport: Bool {
        switch self {
        case .advertisingReports, .extendedAdvertisingReports: true
        default: false
        }
    }
}

// MARK: The machine

extension DoctorChecks {
    /// Checks rfkill's switches for Bluetooth: the adapter's own switch, and switches for all adapters of the machine.
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
                    "turn the radio on with the machine's switch or key, or in its firmware settings")
            }
            if Files.firstLine(path + "/soft") == "1" {
                return .fail("rfkill", "\(name) is switched off by software", "`sudo rfkill unblock bluetooth`")
            }
            return nil
        }
        if !findings.isEmpty { return findings }
        return [.ok("rfkill", switches.isEmpty ? "the radio has no rfkill switch" : "the radio is switched on")]
    }

    var bluetoothd: [DoctorFinding] {
        guard let device else { return [] }
        let processes = Privileges.processes(named: "bluetoothd").map(String.init).joined(separator: ", ")
        guard !processes.isEmpty else { return [.ok("bluetoothd", "it is not running, and not needed")] }
        let state = "it is running (process \(processes))"
        if isManaged { return [.ok("bluetoothd", "\(state); \(device):mgmt works together with it")] }
        if isUserChannel {
            return [
                .warn(
                    "bluetoothd", "\(state) and may power \(device) on before the beacon opens the adapter",
                    "AutoEnable=false in /etc/bluetooth/main.conf, or `sudo systemctl disable --now bluetooth`")
            ]
        }
        return [
            .warn(
                "bluetoothd", "\(state); programs that advertise or connect through it disturb \(device)",
                "if no program uses it, do nothing: `run` recovers within seconds; otherwise use \(device):mgmt, or "
                    + "`sudo systemctl disable --now bluetooth`")
        ]
    }

    /// Checks the capabilities of this process. The installed service has capabilities of its own.
    var rights: [DoctorFinding] {
        let capabilities: [Privileges.Capability] =
            switch name {
            case .raw: [.netRaw, .netAdmin]
            case .user, .managed: [.netAdmin]
            case .tcp, .unix, .serial, .virtual, .virtualTour, nil: []
            }
        guard let name, !capabilities.isEmpty else { return [] }
        let missing = capabilities.filter { !Privileges.effective.contains($0) }.map(\.description)
        if missing.isEmpty {
            let names = capabilities.map(\.description).joined(separator: " and ")
            return [.ok("rights", "this user has \(names), which \(name) needs")]
        }
        let message = "\(name) needs " + missing.joined(separator: " and ") + ", which this user does not have"
        let remedy =
            "`sudo pharos …`, or `\(ThisProgram.capabilityCommand)`, and the same for pharos-hub, which has the other "
            + "receiving commands"
        guard unitPath != nil else { return [.fail("rights", message, remedy)] }
        return [.warn("rights", message, "the installed service has these rights; for the command line: " + remedy)]
    }

    var sensors: [DoctorFinding] {
        let tree = SensorTree(root: root + "/sys")
        func finding(_ topic: String, _ quantity: SensorQuantity, _ unit: (Int) -> String) -> DoctorFinding {
            let names = tree.sensors(of: quantity).map(\.name.description)
            guard let best = tree.best(quantity), let value = best.read() else {
                let available = names.isEmpty ? "" : " (available by name: \(names.joined(separator: ", ")))"
                return .ok(topic, "no sensor for \"auto\"\(available); telemetry sends this value as unknown")
            }
            let others = names.filter { $0 != best.name.description }
            let otherSensors = others.isEmpty ? "" : "; other sensors: " + others.joined(separator: ", ")
            return .ok(topic, "\(best.name) reads \(unit(value))\(otherSensors)")
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
                    "unit", "pharos@.service is not installed, so no beacon starts at boot",
                    "install the package pharos, or run `sudo make install` in the source tree")
            ]
        }
        let instances = enabledInstances
        if instances.isEmpty {
            return [
                .warn(
                    "unit", "\(unitPath) is installed, but no beacon is enabled",
                    "`sudo systemctl enable --now pharos@NAME` keeps the profile /etc/pharos/NAME.json on the air")
            ]
        }
        return [.ok("unit", "\(unitPath) is installed, enabled for \(instances.joined(separator: ", "))")]
            + instances.compactMap { name in
                Files.exists("\(root)/etc/pharos/\(name).json")
                    ? nil
                    : .warn(
                        "unit", "pharos@\(name) is enabled, but has no profile",
                        "write /etc/pharos/\(name).json, or `sudo systemctl disable pharos@\(name)`")
            }
    }

    private var unitPath: String? {
        ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].map { $0 + "/systemd/system/pharos@.service" }
            .first { Files.exists(root + $0) }
    }

    /// The instances that start at boot, from the links that `systemctl enable` makes.
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

    /// Checks the machine's clock, and the beacons whose own clock differs from it.
    var clock: [DoctorFinding] {
        let files = try? StatusFile.all(in: root + StatusFile.defaultDirectory)
        return wallClock
            + (files?.status.instances ?? []).filter { $0.state != .off }.compactMap { status in
                guard let ahead = status.eidClockAhead else { return nil }
                let name = TerminalText.line(status.name)
                return .warn(
                    "clock", "\(name): \(StatusText.eidClock(ahead: ahead)), so receivers cannot resolve its ids",
                    "`sudo timedatectl set-ntp true` synchronises the machine's clock, and the beacon's clock is then "
                        + "corrected automatically; or `sudo systemctl stop pharos@\(name)`, remove "
                        + "/var/lib/pharos/\(name).state.json, and start it again"
                )
            }
    }

    private var wallClock: [DoctorFinding] {
        switch WallClock.synchronization(root: root) {
        case .synchronized: [.ok("clock", "it is synchronised")]
        case .unsynchronized:
            [
                .warn(
                    "clock", "it is not synchronised, which matters only for ephemeral ids (EID)",
                    "`sudo timedatectl set-ntp true`, or install chrony; a machine without network needs a clock with a "
                        + "battery")
            ]
        case .unknown: [.ok("clock", "synchronisation is unknown, which matters only for ephemeral ids (EID)")]
        }
    }
}
