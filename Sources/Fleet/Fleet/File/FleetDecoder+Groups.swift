internal import Configuration

extension FleetDecoder {
    /// The groups of a list, and those in them.
    mutating func declare(_ node: JSONNode?, in parent: Int) {
        guard let node, let elements = decoder.list(node, of: "groups") else { return }
        guard groups[parent].path.count < Fleet.depthLimit else {
            decoder.error("groups are sites, floors and rooms; a room has no groups in it", at: node)
            return
        }
        hasDeclaredChildren.insert(parent)
        for element in elements {
            guard let object = decoder.object(element, keys: Fleet.groupKeys, hint: Self.groupHint) else { continue }
            let level = Fleet.levelNames[groups[parent].path.count]
            guard let name = name(decoder.required("name", in: object, "what this \(level) is called")) else {
                continue
            }
            if let first = groupNumbers[.init(parent: parent, name: name)] {
                let place = groups[first].node.map { ", first at \($0.position)" } ?? ""
                decoder.error(
                    "the \(level) \"\(name)\" is there twice\(place): put them together", at: object["name"] ?? object)
                continue
            }
            let number = add(group: name, in: parent, node: object)
            groups[number].was = self.name(object["was"])
            groups[number].variables = variables(object["variables"], spread: object["intervalSpread"])
            groups[number].controller = decoder.word(object["controller"], of: ControllerKind.self)
            declare(object["groups"], in: number)
        }
    }

    private static func groupHint(_ key: String) -> String? {
        switch key {
        case "rooms", "floors", "sites": "groups in a group are \"groups\""
        case "intervalMs", "url", "radioPowerDbm": "what differs between groups stands in \"variables\""
        default: nil
        }
    }

    /// The beacons of groups, in the order of the file.
    mutating func nestedBeacons(_ node: JSONNode?, in parent: Int, table: (String) -> Fleet.TableFile) {
        guard case .array(let elements) = node?.value else { return }
        for element in elements {
            guard let name = element["name"]?.string, let number = groupNumbers[.init(parent: parent, name: name)],
                groups[number].node?.position == element.position
            else { continue }
            beacons(element["beacons"], in: number, table: table)
            nestedBeacons(element["groups"], in: number, table: table)
        }
    }

    private mutating func add(group name: String, in parent: Int, node: JSONNode?) -> Int {
        groupNumbers[.init(parent: parent, name: name)] = groups.count
        groups.append(
            Fleet.Group(name: name, parent: parent, path: groups[parent].path + [name], node: node))
        return groups.count - 1
    }

    /// Why there is no such group.
    enum GroupFault: Error {
        case name(String)
        case tooDeep
        case unknown(String)

        var description: String {
            switch self {
            case .name(let fault), .unknown(let fault): fault
            case .tooDeep: "groups are sites, floors and rooms: no more than three names behind each other"
            }
        }
    }

    /// The group with these names below `start`, a new one where a table may add one.
    mutating func group(_ names: [String], from start: Int) throws(GroupFault) -> Int {
        var number = start
        for name in names {
            if let known = groupNumbers[.init(parent: number, name: name)] {
                number = known
                continue
            }
            if let fault = NameRule.fault(name) { throw .name(fault) }
            let depth = groups[number].path.count
            guard depth < Fleet.depthLimit else { throw .tooDeep }
            if hasDeclaredChildren.contains(number) {
                let known = groups.filter { $0.parent == number && $0.path.count == depth + 1 }.map(\.name)
                let nearest = NearestWord.find(name, among: known).map { "did you mean \"\($0)\"?" }
                throw .unknown(
                    "the \(Fleet.levelNames[depth]) \(ProblemText.quoted(name)) is not among the groups of the fleet "
                        + "file; " + (nearest ?? "add it there"))
            }
            number = add(group: name, in: number, node: nil)
        }
        return number
    }
}
