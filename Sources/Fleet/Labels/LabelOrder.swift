/// In which order the labels of a fleet come off the printer.
public enum LabelOrder: String, CaseIterable, Sendable {
    /// Site by site, floor by floor and room by room, each in the order in which the fleet first names it.
    case group
    /// By name, where a number counts as a number: `hall-2` before `hall-10`.
    case name
    /// As the fleet lists its beacons.
    case file

    /// The beacons in this order. What is equal in it stays in the fleet's order.
    public func sorted(_ beacons: [FleetManifest.Beacon]) -> [FleetManifest.Beacon] {
        switch self {
        case .file: return beacons
        case .name:
            return beacons.enumerated().sorted { first, second in
                let names = (Self.parts(first.element.name), Self.parts(second.element.name))
                return names.0 == names.1 ? first.offset < second.offset : names.0.lexicographicallyPrecedes(names.1)
            }
            .map(\.element)
        case .group:
            var ranks: [[String]: Int] = [:]
            let places = beacons.map { beacon in
                beacon.group.indices.map { depth -> Int in
                    let path = Array(beacon.group[...depth])
                    let rank = ranks[path] ?? ranks.count
                    ranks[path] = rank
                    return rank
                }
            }
            return beacons.indices.sorted { first, second in
                places[first] == places[second]
                    ? first < second : places[first].lexicographicallyPrecedes(places[second])
            }
            .map { beacons[$0] }
        }
    }

    /// A piece of a name: numbers come before letters, and shorter numbers before longer ones.
    private struct Part: Comparable {
        let isText: Bool
        let length: Int
        let text: Substring

        static func < (first: Part, second: Part) -> Bool {
            if first.isText != second.isText { return second.isText }
            let isByText = first.isText || first.length == second.length
            return isByText ? first.text < second.text : first.length < second.length
        }
    }

    private static func parts(_ name: String) -> [Part] {
        var parts: [Part] = []
        var rest = name[...]
        while let first = rest.first {
            let isNumber = first.isWholeNumber
            let piece = rest.prefix { $0.isWholeNumber == isNumber }
            let digits = isNumber ? piece.drop { $0 == "0" } : piece
            parts.append(Part(isText: !isNumber, length: digits.count, text: digits))
            rest = rest[piece.endIndex...]
        }
        return parts
    }
}
