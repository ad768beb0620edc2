internal import Configuration

/// An inventory for Ansible: the machines of a fleet in groups, with the beacons of each machine.
///
/// In the inventory, a machine has the name of its first beacon, and the value of `host` as its address. Ansible
/// evaluates text in double braces, so the texts in the inventory may only contain letters, digits, `.`, `_`, `-` and
/// `:`.
public struct AnsibleInventory {
    /// The inventory as JSON, which Ansible's `yaml` plugin reads from a file that ends with `.json`.
    public let text: String
    /// The names of the beacons without `host`. Ansible cannot connect to their machines, so they are left out of the
    /// inventory.
    public let withoutHost: [String]
    /// The names of the beacons in the inventory.
    public let beacons: [String]
    /// The number of machines.
    public let machineCount: Int
    /// The names of the identity keys that the machines need.
    public let keys: [String]

    /// The group of all machines.
    private static let allMachines = "pharos"
    /// The directories, as written in profiles, from which the service may read keys.
    private static let keyFolders = ["/etc/pharos/keys/", "keys/", "./keys/"]

    /// - Throws: ``AnsibleInventoryError`` if a name, a host, a key file or a hash cannot be used in an inventory.
    public init(_ manifest: FleetManifest) throws(AnsibleInventoryError) {
        try Self.check(manifest.fleet, of: manifest.fleet)
        var indexOfHost: [String: Int] = [:]
        var hosts: [(name: String, host: String, beacons: [JSONValue])] = []
        var tree = GroupTree()
        var keys: [String] = []
        for beacon in manifest.beacons {
            guard let host = beacon.host else { continue }
            if let fault = NameRule.beaconFault(beacon.name) { throw AnsibleInventoryError(fault, of: beacon.name) }
            guard NameRule.isWord(host) else {
                throw AnsibleInventoryError(
                    "\(ProblemText.quoted(host)) is not a host name or address", of: beacon.name)
            }
            let beaconKeys = try Self.keys(of: beacon)
            keys += beaconKeys
            let record = try Self.record(beacon, keys: beaconKeys)
            let index = indexOfHost[host] ?? hosts.count
            indexOfHost[host] = index
            if index == hosts.count { hosts.append((beacon.name, host, [])) }
            hosts[index].beacons.append(record)
            for name in beacon.group { try Self.check(name, of: beacon.name) }
            tree.add(hosts[index].name, to: beacon.group)
        }
        let hostMembers = hosts.map { machine in
            JSONValue.Member(
                machine.name,
                .object([
                    .init("ansible_host", .string(machine.host)), .init("pharos_beacons", .array(machine.beacons)),
                ]))
        }
        var group: [JSONValue.Member] = [
            .init("vars", .object([.init("pharos_fleet", .string(manifest.fleet))])),
            .init("hosts", .object(hostMembers)),
        ]
        if let children = tree.children() { group.append(.init("children", children)) }
        text = JSONValue.object([.init(Self.allMachines, .object(group))]).pretty
        withoutHost = manifest.beacons.filter { $0.host == nil }.map(\.name)
        beacons = manifest.beacons.filter { $0.host != nil }.map(\.name)
        machineCount = hosts.count
        self.keys = keys
    }

    /// Returns the name of the fleet from an inventory; `nil` for a text that Pharos did not write.
    public static func fleet(of inventory: [UInt8]) -> String? {
        JSONDocument.parse(inventory).root?[allMachines]?["vars"]?["pharos_fleet"]?.string
    }

    /// Returns the names of the beacons in an inventory.
    public static func beacons(of inventory: [UInt8]) -> [String] {
        let hosts = JSONDocument.parse(inventory).root?[allMachines]?["hosts"]?.members ?? []
        return hosts.flatMap { $0.value["pharos_beacons"]?.elements ?? [] }.compactMap { $0["name"]?.string }
    }

    private static func record(
        _ beacon: FleetManifest.Beacon, keys: [String]
    ) throws(AnsibleInventoryError) -> JSONValue {
        guard !beacon.profileHash.isEmpty, beacon.profileHash.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw AnsibleInventoryError("its profileHash is not a hexadecimal number", of: beacon.name)
        }
        return .object([
            .init("name", .string(beacon.name)), .init("hash", .string(beacon.profileHash)),
            .init("form", .string(form(of: beacon.adapter))), .init("keys", .array(keys.map { .string($0) })),
        ])
    }

    /// Returns the form of the adapter's name: `hci`, `hci:user`, `hci:mgmt`, `serial`, `tcp`, `unix` or `virtual`. The
    /// rights that the service needs depend on this form.
    private static func form(of adapter: String?) -> String {
        guard let adapter else { return "hci" }
        for form in ["serial", "tcp", "unix"] where adapter.hasPrefix(form + ":") { return form }
        for channel in ["user", "mgmt"] where adapter.hasSuffix(":" + channel) { return "hci:" + channel }
        return adapter == "virtual" ? adapter : "hci"
    }

    /// Returns the names of the files with the beacon's identity keys.
    private static func keys(of beacon: FleetManifest.Beacon) throws(AnsibleInventoryError) -> [String] {
        var names: [String] = []
        for file in beacon.advertisements.compactMap(\.identityKeyFile) {
            guard let folder = keyFolders.first(where: { file.hasPrefix($0) }),
                case let name = String(file.dropFirst(folder.count)), NameRule.fault(name) == nil
            else {
                throw AnsibleInventoryError(
                    "its identity key \(ProblemText.quoted(file)) is not a file directly in /etc/pharos/keys, where the "
                        + "service "
                        + "reads keys",
                    of: beacon.name)
            }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func check(_ name: String, of beacon: String) throws(AnsibleInventoryError) {
        if let fault = NameRule.fault(name) { throw AnsibleInventoryError(fault, of: beacon) }
    }
}

/// The reason why a beacon cannot be rolled out.
public struct AnsibleInventoryError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ reason: String, of beacon: String) {
        description = "\(ProblemText.shortened(beacon)): \(reason)"
    }
}

/// Sites, floors and rooms as groups of an inventory.
private struct GroupTree {
    private struct Node {
        let name: String
        var children: [Int] = []
        var hosts: [String] = []
    }

    private var nodes = [Node(name: "")]
    /// The position of each group in ``nodes``, by its path.
    private var indices: [[String]: Int] = [[]: 0]
    /// The group names that are already used.
    private var names: Set<String> = []

    mutating func add(_ host: String, to path: [String]) {
        guard !path.isEmpty else { return }
        let index = node(path)
        if !nodes[index].hosts.contains(host) { nodes[index].hosts.append(host) }
    }

    private mutating func node(_ path: [String]) -> Int {
        if let index = indices[path] { return index }
        let parent = node(path.dropLast())
        nodes.append(Node(name: identifier(path)))
        indices[path] = nodes.count - 1
        nodes[parent].children.append(nodes.count - 1)
        return nodes.count - 1
    }

    /// Returns the name of a group for Ansible, with letters, digits and `_`. If the name is already used, a number is
    /// appended.
    private mutating func identifier(_ path: [String]) -> String {
        let baseName =
            "site_" + path.joined(separator: "_").map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
        var name = baseName
        var number = 2
        while !names.insert(name).inserted {
            name = "\(baseName)_\(number)"
            number += 1
        }
        return name
    }

    /// Returns the subgroups of the group at `index`; `nil` if it has no subgroups.
    func children(of index: Int = 0) -> JSONValue? {
        guard !nodes[index].children.isEmpty else { return nil }
        return .object(
            nodes[index].children.map { child in
                var members: [JSONValue.Member] = []
                let hosts = nodes[child].hosts
                if !hosts.isEmpty { members.append(.init("hosts", .object(hosts.map { .init($0, .object([])) }))) }
                if let children = children(of: child) { members.append(.init("children", children)) }
                return .init(nodes[child].name, .object(members))
            })
    }
}
