public import Fleet
internal import LinuxHost

/// A directory for Ansible, which may also contain files of the user.
public struct AnsibleFolder: Sendable {
    /// The path without a slash at the end.
    public let path: String
    /// The name of the fleet.
    public let fleet: String

    /// - Parameter path: The path of the directory, with or without a slash at the end. The directory is not read yet.
    public init(_ path: String, fleet: String) {
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
        self.fleet = fleet
    }

    private static let inventory = "inventory.json"
    /// Files that users may change. Pharos writes them only if they do not exist.
    private static let settings: [(path: String, text: [UInt8])] = [
        ("ansible.cfg", PackageResources.ansible_cfg), (".ansible-lint", PackageResources.lint_json),
    ]
    /// The files of the playbook and its role. Every export replaces them.
    private static let role: [(path: String, text: [UInt8])] = [
        ("rollout.json", PackageResources.rollout_json),
        ("roles/pharos/defaults/main.json", PackageResources.defaults_json),
        ("roles/pharos/vars/main.json", PackageResources.vars_json),
        ("roles/pharos/tasks/main.json", PackageResources.main_json),
        ("roles/pharos/tasks/record.json", PackageResources.record_json),
        ("roles/pharos/tasks/root.json", PackageResources.root_json),
        ("roles/pharos/tasks/package.json", PackageResources.package_json),
        ("roles/pharos/tasks/program.json", PackageResources.program_json),
        ("roles/pharos/tasks/gone.json", PackageResources.gone_json),
        ("roles/pharos/tasks/beacons.json", PackageResources.beacons_json),
        ("roles/pharos/tasks/air.json", PackageResources.air_json),
        ("roles/pharos/tasks/image.json", PackageResources.image_json),
        ("roles/pharos/files/pharos@.service", PackageResources.pharos__service),
        ("roles/pharos/files/pharos.target", PackageResources.pharos_target),
        ("roles/pharos/files/60-pharos.rules", PackageResources.pharos_rules),
        ("roles/pharos/files/pharos.sysusers", PackageResources.pharos_sysusers),
        ("roles/pharos/files/pharos.tmpfiles", PackageResources.pharos_tmpfiles),
        ("roles/pharos/files/serial.conf", PackageResources.serial_conf),
        ("roles/pharos/files/tcp.conf", PackageResources.tcp_conf),
        ("roles/pharos/files/unix.conf", PackageResources.unix_conf),
    ]

    /// Writes all files. The inventory is written last, because it names the other files.
    ///
    /// - Throws: ``FleetStoreError`` when a file cannot be written, and when the directory contains files of another
    ///   fleet or of other programs.
    public func write(
        _ inventory: AnsibleInventory, _ profiles: [(name: String, text: [UInt8])]
    ) throws(FleetStoreError) {
        try refuseForeignFiles()
        do throws(SystemError) {
            try Files.makeDirectory(path)
            for (name, text) in Self.role { try put(name, text) }
            for (name, text) in Self.settings where !Files.exists("\(path)/\(name)") { try put(name, text) }
            let folder = try FolderReplacement("\(path)/profiles")
            do throws(SystemError) {
                for (name, text) in profiles { try folder.put(name + ".json", text) }
                _ = try folder.commit()
            } catch {
                folder.discard()
                throw error
            }
            try put(Self.inventory, Array(inventory.text.utf8))
        } catch {
            guard error.errno != SystemError.notADirectory, error.errno != SystemError.alreadyThere else {
                throw FleetStoreError(.missing, "\(path): this must be a directory, not a file")
            }
            throw FleetStoreError(error)
        }
    }

    private func put(_ name: String, _ text: [UInt8]) throws(SystemError) {
        let file = "\(path)/\(name)"
        if let folder = name.lastIndex(of: "/") { try Files.makeDirectory("\(path)/\(name[..<folder])") }
        if let old = try? Files.read(file, limit: text.count + 1), old == text { return }
        try Files.replace(file, with: text)
    }

    /// Throws an error if the directory of profiles contains files that the last export did not make, because the new
    /// export would remove them.
    private func refuseForeignProfiles(_ exported: [String]) throws(FleetStoreError) {
        let expectedNames = Set(exported.map { $0 + ".json" })
        guard let foreignName = Files.names(in: "\(path)/profiles").first(where: { !expectedNames.contains($0) })
        else { return }
        throw FleetStoreError(
            .invalid,
            "\(path)/profiles/\(foreignName): `pharos fleet export ansible` did not make this file; move it elsewhere")
    }

    /// Throws an error if the directory contains files of another fleet or of other programs.
    private func refuseForeignFiles() throws(FleetStoreError) {
        let file = "\(path)/\(Self.inventory)"
        if Files.exists(file) {
            let old = try SourceFile.read(file, limit: 1 << 30)
            let owner = AnsibleInventory.fleet(of: old)
            guard owner != fleet else { return try refuseForeignProfiles(AnsibleInventory.beacons(of: old)) }
            throw FleetStoreError(
                .invalid,
                owner.map { "\(path): this directory contains the fleet \($0), not \(fleet); choose another directory" }
                    ?? "\(file): `pharos fleet export ansible` did not make this inventory; choose another directory"
            )
        }
        for name in ["rollout.json", "profiles", "roles/pharos"] where Files.exists("\(path)/\(name)") {
            throw FleetStoreError(
                .invalid,
                "\(path)/\(name): `pharos fleet export ansible` did not make this; choose another directory")
        }
    }
}
