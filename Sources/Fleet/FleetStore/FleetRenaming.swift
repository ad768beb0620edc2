internal import Configuration
public import Fleet
internal import LinuxHost

/// One run of `fleet rename`: gives a group or a beacon another name in the fleet file, in its tables and in the lock.
///
/// If the fleet file or its table has the new name already, only the lock is changed. So a run that was killed can be
/// repeated, and a name that was changed in a spreadsheet gets its identities back.
public struct FleetRenaming: Sendable {
    public let kind: FleetNameChange.Kind
    public let old: String
    public let new: String
    /// The files that were changed.
    public let files: [String]
    /// The number of beacons that keep their identities under the new name.
    public let beacons: Int

    /// - Parameters:
    ///   - old: The name of a beacon, or the path of a group such as `museum/ground`.
    ///   - new: The new name.
    ///   - kind: `nil` if the name decides.
    /// - Throws: ``FleetStoreError/Kind/request`` for a name that does not exist or cannot be used.
    public init(
        _ file: String, _ old: String, to new: String, kind: FleetNameChange.Kind?
    ) throws(FleetStoreError) {
        let lockFile = FleetFiles.lockFile(beside: file)
        let claim = try FleetClaim.take(FleetFiles.claim(of: lockFile), of: file, purpose: "pharos fleet rename")
        defer { claim?.release() }
        let octets = try SourceFile.readNamed(file, limit: FleetFiles.fleetLimit)
        let before = try FleetFiles(file)
        guard !before.hasErrors, let fleet = before.fleet else { throw before.refusal }
        let change: FleetNameChange
        do throws(FleetNameChange.Fault) {
            change = try FleetNameChange(old, to: new, kind: kind, in: fleet, before.lock)
        } catch {
            throw Self.refusal(error, old, new, file)
        }
        (self.kind, self.old, self.new) = (change.kind, change.old, change.new)
        let directory = SourceFile.directory(of: file)
        var texts = change.edits(of: octets).map { edit in
            (path: edit.table.map { $0.hasPrefix("/") ? $0 : directory + $0 } ?? file, octets: edit.octets)
        }
        if var lock = before.lock {
            change.apply(to: &lock)
            // The lock comes last: until then, the same command can be repeated.
            texts.append((lockFile, lock.text))
        }
        let edited = Dictionary(texts.map { ($0.path, $0.octets) }) { first, _ in first }
        var after = try FleetFiles(file, instead: edited)
        let allocation = try after.allocated()
        beacons = allocation.count(of: change)
        for (path, text) in texts {
            do throws(SystemError) {
                try Files.replace(path, with: text, keepsRights: true)
            } catch {
                throw FleetStoreError(error, at: path)
            }
        }
        files = texts.map(\.path)
    }

    private static func refusal(
        _ fault: FleetNameChange.Fault, _ old: String, _ new: String, _ file: String
    ) -> FleetStoreError {
        let quoted = "\(file): \(ProblemText.quoted(old))"
        let message =
            switch fault {
            case .unknown(let nearest):
                "\(quoted) is no group and no beacon of the fleet or its lock"
                    + (nearest.map { "; did you mean \"\($0)\"?" }
                        ?? "; write a group with its path, as in museum/ground")
            case .ambiguous: "\(quoted) is a group and a beacon; add `--group` or `--beacon`"
            case .name(let fault): "the new name: \(fault)"
            case .otherParent:
                "\(quoted) cannot become \(ProblemText.quoted(new)), which is in another group; give only the new name"
            case .taken:
                "\(file): the fleet has both \(ProblemText.quoted(old)) and \(ProblemText.quoted(new)); a name can be "
                    + "given only once"
            case .notInLock: "\(quoted) has no identities in the lock"
            }
        return FleetStoreError(.request, message)
    }

    /// A line for the reader.
    public var text: String {
        let what = kind == .group ? "The group \(old) is now \(new)" : "The beacon \(old) is now \(new)"
        let count = beacons == 1 ? "1 beacon keeps its identity" : "\(beacons) beacons keep their identities"
        return "\(what); \(count). Changed \(files.joined(separator: ", ")).\n"
    }
}
