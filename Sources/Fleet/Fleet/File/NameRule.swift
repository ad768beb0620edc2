internal import BluetoothTypes
internal import Configuration

/// The rule for names: at most 64 letters, digits, `.`, `_` and `-`, beginning with a letter or a digit.
///
/// Names are used for files, systemd units and hosts, in the rows of spreadsheets and in the labels of metrics. These
/// characters have no special meaning to a shell, a unit file, a playbook or a spreadsheet.
enum NameRule {
    static let limit = 64

    /// Returns the reason why a name is invalid; `nil` for a valid name.
    static func fault(_ name: String) -> String? {
        guard let first = name.utf8.first else { return "the name is empty" + rule }
        let isGood = name.utf8.count <= limit && first.isASCIILetterOrDigit && name.utf8.allSatisfy(isPlain)
        return isGood ? nil : reason(Array(name.utf8))
    }

    /// Returns the reason why the name of a beacon is invalid; `nil` for a valid name. Files, and hosts in the
    /// inventory for Ansible, are named after beacons, so some names are reserved.
    static func beaconFault(_ name: String) -> String? {
        if let fault = fault(name) { return fault }
        guard
            let reserved = reservedNames.first(where: { $0.isPrefix ? name.hasPrefix($0.name) : name == $0.name })
        else { return nil }
        return "\(ProblemText.quoted(name)) cannot be a beacon's name: \(reserved.reason); choose another one"
    }

    /// The maximum number of characters of a title, which is a name for display.
    static let titleLimit = 100

    /// Returns the reason why a text cannot be a title: it is empty, too long, or has control characters. Returns `nil`
    /// for a valid title.
    static func titleFault(_ text: String) -> String? {
        if text.isEmpty { return "the title is empty" }
        let count = text.unicodeScalars.count
        if count > titleLimit { return "the title has \(count) characters, more than the maximum of \(titleLimit)" }
        let isControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isControl ? "the title has control characters, such as line ends: remove them" : nil
    }

    private static let reservedNames: [(name: String, isPrefix: Bool, reason: String)] = [
        ("manifest", false, "manifest.json, next to the profiles, lists all beacons"),
        ("pharos", false, "the inventory for Ansible uses it for the group of all machines"),
        ("all", false, "it is a group that every inventory for Ansible has"),
        ("ungrouped", false, "it is a group that every inventory for Ansible has"),
        ("localhost", false, "it is the machine that Ansible runs on"),
        ("site_", true, "the inventory for Ansible uses names with site_ for the fleet's groups"),
    ]

    private static let rule =
        "; a name has letters (a-z, A-Z), digits, \".\", \"_\" and \"-\", with a letter or digit first"

    /// Returns a valid name that is similar to `text`, with ASCII letters, and with dashes between words; `nil` if
    /// there is no such name.
    static func suggestion(for text: String) -> String? {
        let octets = PlainLetters.text(text).utf8.map { isPlain($0) ? $0 : UInt8(ascii: "-") }
        let words = String(decoding: octets, as: UTF8.self).split(separator: "-")
        let name = String(words.joined(separator: "-").drop { $0 == "." || $0 == "_" }.prefix(limit))
        return fault(name) == nil ? name : nil
    }

    private static func example(_ text: String) -> String {
        suggestion(for: text).map { "; for example \(ProblemText.quoted($0))" } ?? ""
    }

    private static func reason(_ name: [UInt8]) -> String {
        let text = String(decoding: name, as: UTF8.self)
        let quotedName = ProblemText.quoted(text)
        if name.count > limit {
            return "\(quotedName) has \(name.count) bytes, more than the maximum of \(limit)" + rule
        }
        for octet in name {
            switch octet {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"): return "\(quotedName) would lead into another directory" + rule
            case UInt8(ascii: "%"):
                return "\(quotedName) has a \"%\", which has a special meaning in unit files" + rule
            case 0..<0x20, 0x7F:
                return "\(quotedName) has the control character \(Hexadecimal.number(octet, width: 2)) in it" + rule
            case UInt8(ascii: " "): return "\(quotedName) has a space in it" + rule + example(text)
            case 0x80...: return "\(quotedName) has letters beyond ASCII in it" + rule + example(text)
            default: break
            }
        }
        switch name.first {
        case UInt8(ascii: "."): return "\(quotedName) begins with a dot and would be hidden" + rule
        case UInt8(ascii: "-"): return "\(quotedName) begins with a dash and would be read as an option" + rule
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "@"):
            return "\(quotedName) would be read as a formula by a spreadsheet" + rule
        default: return "\(quotedName) is not a suitable name for files and units" + rule
        }
    }

    /// Returns whether a text can be a host's name or address, or a serial number. The rule is the rule for names,
    /// except that `:` is allowed as well.
    static func isWord(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= limit, first.isASCIILetterOrDigit else { return false }
        return text.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: ":") }
    }

    static func isPlain(_ octet: UInt8) -> Bool {
        octet.isASCIILetterOrDigit || "-._".utf8.contains(octet)
    }
}
