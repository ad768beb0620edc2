internal import BluetoothTypes
public import Configuration

extension FleetAllocation {
    /// A beacon that has another identity than in the lock before the allocation.
    public struct Renumbered: Hashable, Sendable {
        public var name: String
        /// The differing values of the old identity, such as `minor 7`.
        public var before: String
        /// The differing values of the new identity, such as `minor 8`.
        public var after: String
        /// The name of the beacon in the lock before the allocation.
        var was: String
        /// The path of the group in which the beacon was numbered before; empty for the whole fleet.
        var groupBefore: String
        /// The path of the group in which the beacon is numbered now; empty for the whole fleet.
        var groupAfter: String
        /// The sign that the beacon has a new name; `nil` if the lock has the beacon under the same name.
        var sign: RenamedBeacons.Sign?
        /// What the lock has lost; `nil` if the lock has the old identity.
        var loss: Loss?
        /// The position of the beacon in the fleet.
        var beaconIndex: Int

        /// A part of the lock that is missing.
        enum Loss: Hashable, Sendable {
            /// The line with the major number of the beacon's group.
            case group
            /// The line of the beacon or of its group. The manifest at this path has the old identity.
            case entry(manifest: String)
        }
    }

    /// `true` if the identities may change only at the user's request. This is so when a beacon seems to be renamed,
    /// the lock has lost an identity, or more than one beacon would get another identity.
    public var needsRenumberOption: Bool {
        renumbered.count > 1 || renumbered.contains { $0.sign != nil || $0.loss != nil }
    }

    /// Compares the new identities with a manifest that was generated earlier. A beacon that has another identity there
    /// is added to ``renumbered``, because the lock must have lost the identity.
    ///
    /// - Parameter path: The path of the manifest, for messages.
    public mutating func compareNewIdentities(with manifest: FleetManifest, at path: String) {
        guard !newIndices.isEmpty, let earlier = try? FleetLock(adopting: manifest, for: fleet) else { return }
        let depth = fleet.rules.minor?.within.depth ?? 0
        let scopes = fleet.groups.map { $0.path.prefix(depth).joined(separator: "/") }
        let knownNames = Set(renumbered.map(\.name))
        for var beacon in IdentitiesInUse(earlier, fleet.rules).renumbered(self, scopes: scopes, formerNames: [:])
        where newIndices.contains(beacon.beaconIndex) && beacon.sign == nil && !knownNames.contains(beacon.name) {
            beacon.loss = .entry(manifest: path)
            renumbered.append(beacon)
        }
    }

    /// `true` if beacons got new entries in the lock, or groups new major numbers.
    public var hasNewIdentities: Bool { !newIndices.isEmpty }

    /// A warning for each cause of changed identities: how many beacons would get other identities, and what to do.
    public var renumberingWarnings: [FileProblem] {
        let isCurrent = Set(fleet.groups.map(\.pathText))
        let revived = Set(changes.revived)
        var warnings: [FileProblem] = []
        let kinds = Dictionary(grouping: renumbered) { beacon -> [String] in
            switch beacon.loss {
            case .group: ["loss", beacon.groupAfter]
            case .entry: ["loss"]
            case nil:
                beacon.sign.map { ["sign \($0)"] }
                    ?? (revived.contains(beacon.name)
                        ? ["back", beacon.groupBefore, beacon.groupAfter]
                        : Self.nesting(beacon) ?? [beacon.groupBefore, beacon.groupAfter])
            }
        }
        for beacons in kinds.values.sorted(by: { $0[0].beaconIndex < $1[0].beaconIndex }) {
            let first = beacons[0]
            let (old, new) = (first.groupBefore, first.groupAfter)
            let effect =
                beacons.count == 1
                ? "the beacon \"\(first.name)\" would get another identity (\(first.before) → \(first.after))"
                : "\(beacons.count) beacons would get other identities: "
                    + beacons.prefix(3).map(\.name).joined(separator: ", ")
                    + (beacons.count > 3 ? " and \(beacons.count - 3) more" : "") + rows(of: beacons)
            let renaming = "`pharos fleet rename \(fleet.file)"
            let reason: String
            let these = beacons.count == 1 ? "this beacon" : "these beacons"
            if let loss = first.loss {
                reason =
                    switch loss {
                    case .group:
                        "; the lock has \(these), but not the major number of the group \"\(new)\", as after a merge that "
                            + "lost lines: restore the lock from version control to keep the identities"
                    case .entry(let manifest):
                        "; \(manifest) has the old values of \(these), and the lock has lost these values, as after a merge that "
                            + "lost lines: restore the lock from version control to keep the identities"
                    }
            } else if let sign = first.sign {
                reason = Self.reason(beacons, sign, renaming)
            } else if old != new, revived.contains(first.name) {
                reason =
                    "; \(these) had \(beacons.count == 1 ? "this identity" : "these identities") before, in "
                    + (new.isEmpty ? "the whole fleet" : "the group \"\(new)\"")
            } else if beacons.count > 1, let nesting = Self.nesting(first)?.last {
                func name(_ group: String) -> String { group.isEmpty ? "the whole fleet" : "\"\(group)\"" }
                reason =
                    "; the lock numbers them within \(nesting) groups, for example within \(name(old)), and the fleet file "
                    + "now within \(name(new)): if identities.major.per or identities.minor.within was changed, undo the "
                    + "change to keep the identities; otherwise move the beacons back"
            } else if old == new {
                reason =
                    "; the lock has other numbers for \(old.isEmpty ? "the fleet" : "the group \"\(old)\""): undo the "
                    + "change of the rules or of \"was\" to keep the identities"
            } else if old.isEmpty || new.isEmpty || isCurrent.contains(old) {
                let part = old.isEmpty ? "the whole fleet" : "the group \"\(old)\""
                reason =
                    beacons.count == 1
                    ? "; its number in the lock belongs to \(part): move the beacon back to keep the identity"
                    : "; their numbers in the lock belong to \(part): move the beacons back to keep the identities"
            } else {
                reason =
                    "; they are in the group \"\(new)\" now, and in the lock in \"\(old)\", which the fleet no longer has: "
                    + "if the group was renamed, run \(renaming) \(old) \(new)`, which keeps the identities"
            }
            let place = fleet.place(of: fleet.beacons[first.beaconIndex])
            warnings.append(place.problem(effect + reason, severity: .warning))
        }
        return warnings
    }

    /// A key by which warnings collect beacons that are now numbered in a subgroup of their former group, or in a group
    /// around it. This happens after a change of the rules. Returns `nil` for other beacons.
    private static func nesting(_ beacon: Renumbered) -> [String]? {
        let (old, new) = (beacon.groupBefore, beacon.groupAfter)
        guard old != new else { return nil }
        if old.isEmpty || FleetLock.isIn(new, old) { return ["nested", "larger"] }
        if new.isEmpty || FleetLock.isIn(old, new) { return ["nested", "smaller"] }
        return nil
    }

    /// The rows of beacons of one table, as part of a sentence; empty for beacons of a list.
    private func rows(of beacons: [Renumbered]) -> String {
        let lines = beacons.compactMap { fleet.beacons[$0.beaconIndex].row?.line }
        guard lines.count == beacons.count, let first = lines.min(), let last = lines.max() else { return "" }
        return " (rows \(first) to \(last))"
    }

    /// The end of a warning: the sign that beacons were renamed, and how they keep their identities.
    private static func reason(_ beacons: [Renumbered], _ sign: RenamedBeacons.Sign, _ renaming: String) -> String {
        let first = beacons[0]
        let signText =
            switch sign {
            case .serial, .host: "the lock has \"\(first.was)\" on the machine of \"\(first.name)\""
            case .title: "the lock has \"\(first.was)\" in the group and with the title of \"\(first.name)\""
            case .name: "the lock has \"\(first.was)\", which is almost the name \"\(first.name)\""
            }
        let hasLostZeros = beacons.allSatisfy {
            $0.was.hasPrefix("0") && $0.was.hasSuffix($0.name) && $0.was != $0.name
        }
        let zeros =
            hasLostZeros ? "; a spreadsheet may have removed the leading zeros: format that column as text" : ""
        guard beacons.count > 1 else {
            return "; \(signText): if the beacon was renamed, run \(renaming) \(first.was) \(first.name)`, which keeps "
                + "its identity\(zeros)"
        }
        return "; \(signText), and the same is true of the others: if they were renamed by accident, restore their "
            + "names; otherwise run \(renaming) \(first.was) \(first.name)` for each, or add a column \"was\" with the former "
            + "names, to keep the identities\(zeros)"
    }
}

/// The identities in a lock that are in use.
struct IdentitiesInUse {
    /// The entry in use and the major number of each beacon, by its name.
    private let entries: [String: (entry: FleetLock.Entry, major: Int?)]
    /// The path of the group with each major number.
    private let paths: [Int: String]
    private let rules: AllocationRules
    /// All entries of the lock, including the retired entries.
    private let lockEntries: [FleetLock.Entry]

    init(_ lock: FleetLock, _ rules: AllocationRules) {
        self.rules = rules
        var majors: [String: Int] = [:]
        var paths: [Int: String] = [:]
        for group in lock.groups {
            guard let major = group.major else { continue }
            majors[group.path] = major
            paths[major] = group.path
        }
        var entries: [String: (FleetLock.Entry, Int?)] = [:]
        for entry in lock.entries where !entry.isRetired {
            let major = entry.major ?? (rules.majorFollowsFromScope ? majors[entry.scope] : nil)
            entries[entry.name] = (entry, major)
        }
        (self.entries, self.paths, lockEntries) = (entries, paths, lock.entries)
    }

    /// The beacons whose identities an allocation has changed.
    ///
    /// - Parameters:
    ///   - scopes: For each group, the path of the group in which the minor numbers of its beacons are counted.
    ///   - formerNames: The former names of beacons that were renamed in this allocation.
    func renumbered(
        _ allocation: FleetAllocation, scopes: [String], formerNames: [String: String]
    ) -> [FleetAllocation.Renumbered] {
        let fleet = allocation.fleet
        let renamed = RenamedBeacons(lockEntries, fleet, renamed: formerNames).formerNames
        var renumbered: [FleetAllocation.Renumbered] = []
        for (index, beacon) in fleet.beacons.enumerated() {
            var name = formerNames[beacon.name] ?? beacon.name
            if entries[name] == nil { name = beacon.name }
            var sign: RenamedBeacons.Sign?
            if entries[name] == nil, let former = renamed[beacon.name] { (name, sign) = former }
            guard let (old, oldMajor) = entries[name] else { continue }
            let new = allocation.lock.entries[allocation.entryIndices[index]]
            let newMajor = allocation.groupMajors[beacon.group]
            var before: [String] = []
            var after: [String] = []
            func compare<Value: Equatable>(_ noun: String, _ old: Value?, _ new: Value?, _ text: (Value) -> String) {
                guard let old, let new, old != new else { return }
                before.append("\(noun) \(text(old))")
                after.append("\(noun) \(text(new))")
            }
            // The line of the group with its major number is missing, although the lock has such lines.
            let isGroupLost =
                rules.majorFollowsFromScope && oldMajor == nil && old.scope == scopes[beacon.group] && !paths.isEmpty
            if isGroupLost, let newMajor {
                before.append("an unknown major")
                after.append("major \(newMajor)")
            }
            compare("major", rules.major == nil ? nil : oldMajor, newMajor) { "\($0)" }
            compare("minor", rules.minor == nil ? nil : old.minor, new.minor) { "\($0)" }
            compare("instance", rules.instance == nil ? nil : old.instance, new.instance) { FleetLock.instanceText($0) }
            compare("address", fleet.template.hasAddress ? old.address : nil, new.address) { "\($0)" }
            guard !before.isEmpty else { continue }
            var groups = (old.scope, scopes[beacon.group])
            if groups.0 == groups.1, let oldMajor, let per = rules.major?.per {
                let path = fleet.groups[beacon.group].path.prefix(per.depth).joined(separator: "/")
                groups = (paths[oldMajor] ?? "", path)
            }
            groups = Self.outermost(groups.0, groups.1)
            renumbered.append(
                .init(
                    name: beacon.name, before: before.joined(separator: ", "), after: after.joined(separator: ", "),
                    was: name, groupBefore: groups.0, groupAfter: groups.1, sign: sign,
                    loss: isGroupLost ? .group : nil, beaconIndex: index))
        }
        return renumbered
    }

    /// The two paths without the equal names at their ends: the outermost groups that differ.
    private static func outermost(_ old: String, _ new: String) -> (String, String) {
        var (before, after) = (old.split(separator: "/"), new.split(separator: "/"))
        guard before.count == after.count, before != after else { return (old, new) }
        while let last = before.last, last == after.last {
            before.removeLast()
            after.removeLast()
        }
        return (before.joined(separator: "/"), after.joined(separator: "/"))
    }
}
