internal import ArgumentParser
internal import Fleet
internal import FleetStore
internal import LinuxHost

struct FleetExportAnsible: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ansible",
        abstract: "Write the inventory, role and playbook that bring each box its program, profiles and keys.",
        discussion: """
            Next, in that directory, from the machine that reaches the boxes by ssh:

              ansible-playbook rollout.json -e pharos_package=pharos_\(Pharos.version)_arm64.deb

            One box first, then ten, then a quarter of them at a time. A box whose beacons do not come on the air ends it. \
            What is right already is left as it is; profiles, keys and drop-ins of earlier roll-outs that the fleet no \
            longer has are removed, and no other files. Variables, all optional (-e, or group_vars/all.json):

              pharos_package         the Debian package to install, or
              pharos_binary          the static program alone, with its units
              pharos_keys_directory  the directory that `pharos fleet keys` fills
              pharos_keys            or the keys: {"NAME.key": "32 digits"}, in a
                                     file that ansible-vault encrypts
              pharos_batches         how many boxes at a time: [1, 10, "25%"]
              pharos_wait_s          for a box to come on the air: 60
              pharos_root            a mounted image, such as an SD card, that is
                                     made ready for its first boot
            """)

    @OptionGroup var source: FleetArgument

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The directory to write into; what else is in it stays.", valueName: "directory"), completion: .directory)
    var output: String

    func run() throws {
        let manifest = try source.manifest()
        let inventory: AnsibleInventory
        do throws(AnsibleInventoryError) {
            inventory = try AnsibleInventory(manifest)
        } catch {
            throw Failure(.configuration, "\(error)")
        }
        guard inventory.boxes > 0 else {
            throw Failure(
                .configuration, "\(source.fleet): no beacon has a host: Ansible could reach none of the boxes")
        }
        let profiles = try NamedFleet(path: source.fleet).profiles(of: manifest.beacons.filter { $0.host != nil })
        try AnsibleFolder(output, fleet: manifest.fleet).write(inventory, profiles)
        FleetExport.warn(inventory.withoutHost, "without a host, which Ansible cannot reach, left out")
        let keys = inventory.keys.isEmpty ? "" : " -e pharos_keys_directory=FOLDER"
        Terminal.write(
            """
            \(output): \(Self.count(inventory.beacons.count, "beacon")) on \(Self.count(inventory.boxes, "box", "boxes")).
            Next, there: ansible-playbook rollout.json -e pharos_package=FILE.deb\(keys)

            """)
    }

    private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }
}
