public import Configuration

/// What an update has kept, replaced and added, as text and as JSON.
public struct UpdateReport: Sendable {
    private let changes: [MapUpdate.Change]
    private let fit: FitReport

    /// - Parameter fit: What the new map holds.
    public init(_ update: MapUpdate, _ fit: FitReport) {
        changes = update.changes
        self.fit = fit
    }

    /// One line for each kind of change, then what the new map holds.
    public var text: String {
        let kinds: [(MapUpdate.Kind, String)] = [
            (.placeKept, "kept beside the new"), (.placeReplaced, "replaced"), (.placeNew, "new"),
            (.beaconMoved, "moved, or with another power, whose old readings are left out"),
            (.beaconGone, "not heard any more, and left out"), (.beaconNew, "new"),
        ]
        var text = ""
        for (kind, what) in kinds {
            let found = changes.filter { $0.kind == kind }
            guard !found.isEmpty else { continue }
            let word = kind.rawValue.prefix { $0 != " " }
            let names = found.prefix(12).map { change in
                MapText.line(change.subject)
                    + (change.difference.map { " (\(Int($0.rounded())) dB)" } ?? "")
            }
            let rest = found.count > names.count ? " and \(found.count - names.count) more" : ""
            text +=
                "\(MapText.count(found.count, String(word))) \(what): \(names.joined(separator: ", "))\(rest)\n"
        }
        return text + "\n" + fit.text
    }

    /// The same for programs.
    public var json: JSONValue {
        .record([
            (
                "changes",
                .array(
                    changes.map {
                        .record([
                            ("kind", .string($0.kind.rawValue)), ("subject", .string($0.subject)),
                            ("differenceDb", JSONValue.rounded($0.difference)),
                        ])
                    })
            ),
            ("fit", fit.json),
        ])
    }
}
