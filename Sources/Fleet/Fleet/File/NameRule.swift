internal import BluetoothTypes
internal import Configuration

/// Which names may become names of files, units, hosts, rows of a spreadsheet and labels of a metric: letters, digits,
/// `.`, `_` and `-`, with a letter or digit first. Nothing of that means anything to a shell, a unit file, a playbook
/// or a spreadsheet.
enum NameRule {
    static let limit = 64

    /// What is wrong with a name; `nil` for a good one.
    static func fault(_ text: [UInt8], _ range: Range<Int>) -> String? {
        let span = text.span
        guard range.lowerBound >= 0, range.upperBound <= span.count, !range.isEmpty else { return "the name is empty" }
        var isGood = range.count <= limit
        for index in range where !isPlain(span[index]) {
            isGood = false
            break
        }
        if isGood, isLetterOrDigit(span[range.lowerBound]) { return nil }
        return reason(Array(text[range]))
    }

    static func fault(_ name: String) -> String? {
        let octets = Array(name.utf8)
        return fault(octets, 0..<octets.count)
    }

    /// What is wrong with the name of a beacon, which must also be free where the fleet's files and Ansible's hosts are
    /// named after it; `nil` for a good one.
    static func beaconFault(_ text: [UInt8], _ range: Range<Int>) -> String? {
        if let fault = fault(text, range) { return fault }
        let name = text[range]
        guard let taken = taken.first(where: { $0.isPrefix ? name.starts(with: $0.name) : name.elementsEqual($0.name) })
        else { return nil }
        let shown = ProblemText.quoted(String(decoding: name, as: UTF8.self))
        return "\(shown) cannot be a beacon's name: \(taken.reason); choose another one"
    }

    static func beaconFault(_ name: String) -> String? {
        let octets = Array(name.utf8)
        return beaconFault(octets, 0..<octets.count)
    }

    private static let taken: [(name: [UInt8], isPrefix: Bool, reason: String)] = [
        (Array("manifest".utf8), false, "manifest.json, beside the profiles, lists all beacons"),
        (Array("pharos".utf8), false, "it is the group of all boxes in the inventory for Ansible"),
        (Array("all".utf8), false, "it is a group that every inventory for Ansible has"),
        (Array("ungrouped".utf8), false, "it is a group that every inventory for Ansible has"),
        (Array("localhost".utf8), false, "it is the machine that Ansible runs on"),
        (Array("site_".utf8), true, "site_… are the fleet's groups in the inventory for Ansible"),
    ]

    private static func reason(_ name: [UInt8]) -> String {
        let text = String(decoding: name, as: UTF8.self)
        let shown = ProblemText.quoted(text)
        let rule = "; a name has letters, digits, \".\", \"_\" and \"-\", with a letter or digit first"
        if name.count > limit { return "\(shown) has \(name.count) octets, more than the \(limit) of a name" }
        for octet in name {
            switch octet {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"): return "\(shown) would lead into another directory" + rule
            case UInt8(ascii: "%"): return "\(shown) has a \"%\", which unit files replace by something else" + rule
            case 0..<0x20, 0x7F:
                return "\(shown) has the control character \(Hexadecimal.number(octet, width: 2)) in it" + rule
            case UInt8(ascii: " "): return "\(shown) has a space in it" + rule
            case 0x80...: return "\(shown) has letters beyond ASCII in it" + rule
            default: break
            }
        }
        switch name.first {
        case UInt8(ascii: "."): return "\(shown) begins with a dot and would be hidden" + rule
        case UInt8(ascii: "-"): return "\(shown) begins with a dash and would be taken for an option" + rule
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "@"):
            return "\(shown) would be taken for a formula by a spreadsheet" + rule
        default: return "\(shown) is no good name for files and units" + rule
        }
    }

    /// A host's name or address, or a serial number: as names, and `:` as well.
    static func isWord(_ text: [UInt8], _ range: Range<Int>) -> Bool {
        let span = text.span
        guard range.lowerBound >= 0, range.upperBound <= span.count, (1...limit).contains(range.count),
            isLetterOrDigit(span[range.lowerBound])
        else { return false }
        for index in range where !isPlain(span[index]) && span[index] != UInt8(ascii: ":") { return false }
        return true
    }

    @inline(__always)
    static func isPlain(_ octet: UInt8) -> Bool {
        isLetterOrDigit(octet) || octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "_")
    }

    @inline(__always)
    static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        let lower = octet | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
            || octet >= UInt8(ascii: "0") && octet <= UInt8(ascii: "9")
    }
}
