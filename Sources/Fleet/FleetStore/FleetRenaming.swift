internal import Configuration
public import Fleet
internal import LinuxHost

/// One run of `fleet rename`: changes the name of a group or a beacon in the fleet file, in its tables and in the lock.
/// The files of a beacon's identity key get the new name as well.
///
/// If the fleet file or its table already has the new name, only the lock is changed. So a run that was killed can be
/// repeated, and a beacon whose name was changed in a spreadsheet gets its identities back.
public struct FleetRenaming: Sendable {
    public let kind: FleetNameChange.Kind
    public let old: String
    public let new: String
    /// The files that were changed.
    public let files: [String]
    /// The number of beacons that keep their identities under the new name.
    public let beacons: Int
    /// The name under which the lock keeps the retired identities that the new name had until now; `nil` if it had no
    /// identities.
    public let asideName: String?

    /// - Parameters:
    ///   - old: The name of a beacon, or the path of a group such as `museum/ground`.
    ///   - new: The new name.
    ///   - kind: Whether `old` is a beacon or a group; `nil` to find this by the name.
    /// - Throws: ``FleetStoreError/Kind/request`` for a name that does not exist or cannot be used.
    public init(
        _ file: String, _ old: String, to new: String, kind: FleetNameChange.Kind?
    ) throws(FleetStoreError) {
        let lockFile = FleetFiles.lockFile(of: file)
        let changeLock = try FleetFileLock.acquire(
            FleetFiles.changeLock(of: lockFile), of: file, purpose: "pharos fleet rename")
        defer { changeLock?.release() }
        let octets = try SourceFile.readArgument(file, limit: FleetFiles.fleetLimit)
        var oldFiles = try FleetFiles(file)
        guard !oldFiles.hasErrors, let fleet = oldFiles.fleet else { throw oldFiles.refusal }
        let change: FleetNameChange
        do throws(FleetNameChange.Fault) {
            change = try FleetNameChange(old, to: new, kind: kind, in: fleet, oldFiles.lock)
        } catch {
            throw Self.refusal(error, old, new, file)
        }
        (self.kind, self.old, self.new) = (change.kind, change.old, change.new)
        let directory = Files.directory(of: file)
        var texts = change.edits(of: octets).map { edit in
            (path: edit.table.map { $0.hasPrefix("/") ? $0 : directory + $0 } ?? file, octets: edit.octets)
        }
        asideName = oldFiles.lock.flatMap { change.asideName(in: $0) }
        if var lock = oldFiles.lock {
            change.apply(to: &lock)
            // The lock is replaced last. If the run ends before this, the same command can be repeated.
            texts.append((lockFile, lock.text))
        }
        let edited = Dictionary(texts.map { ($0.path, $0.octets) }) { first, _ in first }
        var newFiles = try FleetFiles(file, withEdits: edited)
        let allocation = try newFiles.allocated()
        beacons = allocation.count(of: change)
        let keys = change.kind == .beacon ? Self.keyFiles(change, &oldFiles, allocation, newFiles.keyDirectories) : []
        // The keys are copied first, and the files with the old names are removed last. If the run ends in between, the
        // same command can be repeated.
        for key in keys { try key.copy() }
        for (path, text) in texts {
            do throws(SystemError) {
                try Files.replace(path, with: text, keepsRights: true)
            } catch {
                throw FleetStoreError(error, at: path)
            }
        }
        for key in keys { try key.removeOld() }
        files = texts.map(\.path) + keys.map(\.new)
    }

    /// The files of the renamed beacon's identity key and public key, if their names depend on the name of the beacon.
    private static func keyFiles(
        _ change: FleetNameChange, _ oldFiles: inout FleetFiles, _ newAllocation: FleetAllocation,
        _ directories: [String]
    ) -> [RenamedKeyFile] {
        guard let newName = newAllocation.keyName(of: change.new) else { return [] }
        let recordedName = change.isOldNameInFiles ? (try? oldFiles.allocated())?.keyName(of: change.old) : nil
        // If the fleet file already has the new name, the old name of the key file can only be derived from its new
        // name.
        let oldName = recordedName ?? newName.replacing(change.new, with: change.old)
        guard oldName != newName else { return [] }
        return directories.flatMap { directory in
            ["", ".pub"].map { RenamedKeyFile(old: directory + oldName + $0, new: directory + newName + $0) }
        }.filter { Files.exists($0.old) }
    }

    private static func refusal(
        _ fault: FleetNameChange.Fault, _ old: String, _ new: String, _ file: String
    ) -> FleetStoreError {
        let subject = "\(file): \(ProblemText.quoted(old))"
        let message =
            switch fault {
            case .unknown(let nearest):
                "\(subject) is neither a group nor a beacon of the fleet or its lock"
                    + (nearest.map { "; did you mean \"\($0)\"?" }
                        ?? "; write a group with its path, as in museum/ground")
            case .ambiguous: "\(subject) is both a group and a beacon; add `--group` or `--beacon`"
            case .name(let fault): "the new name: \(fault)"
            case .otherParent:
                "\(subject) cannot become \(ProblemText.quoted(new)), which is in another group; give only the new name"
            case .taken:
                "\(file): the fleet has both \(ProblemText.quoted(old)) and \(ProblemText.quoted(new)); each name "
                    + "can be used only once"
            case .notInLock: "\(subject) has no identities in the lock"
            case .same: "\(subject) is both the current and the new name; give two different names"
            case .notInFleet(let nearest):
                "\(subject) is only in the lock, and \(ProblemText.quoted(new)) is neither in the fleet file nor in its "
                    + "tables" + (nearest.map { "; did you mean \"\($0)\"?" } ?? "; write the new name there first")
            case .inUse(let nearest):
                "\(subject) and \(ProblemText.quoted(new)) were in use at the same time, so the lock has identities of "
                    + "both, and \(ProblemText.quoted(new)) keeps its own"
                    + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
            }
        return FleetStoreError(.request, message)
    }

    /// The report in one line.
    public var text: String {
        let sentence = kind == .group ? "The group \(old) is now \(new)" : "The beacon \(old) is now \(new)"
        let count = beacons == 1 ? "1 beacon keeps its identity" : "\(beacons) beacons keep their identities"
        let aside = asideName.map { " The identities that \(new) had until now are retired as \($0)." } ?? ""
        return "\(sentence); \(count). Changed \(files.joined(separator: ", ")).\(aside)\n"
    }
}

/// A file of an identity key that gets the new name of its beacon.
private struct RenamedKeyFile {
    let old: String
    let new: String

    /// Copies the key to the new name. An existing file with the new name is not changed.
    ///
    /// - Throws: ``FleetStoreError/Kind/request`` if the file with the new name contains another key.
    func copy() throws(FleetStoreError) {
        do throws(SystemError) {
            let octets = try Files.read(old, limit: SecretFile.sizeLimit)
            guard Files.exists(new) else {
                return new.hasSuffix(".pub")
                    ? try Files.replace(new, with: octets, mode: 0o644) : try Files.createSecret(new, with: octets)
            }
            guard try Files.read(new, limit: SecretFile.sizeLimit) != octets else { return }
        } catch {
            throw FleetStoreError(error, at: new)
        }
        throw FleetStoreError(
            .request,
            "\(new): this key exists and differs from \(old); nothing was changed; move the key that the beacon does "
                + "not use to another directory")
    }

    func removeOld() throws(FleetStoreError) {
        do throws(SystemError) { try Files.remove(old) } catch { throw FleetStoreError(error, at: old) }
    }
}

extension FleetAllocation {
    /// The name of the file with the identity key of a beacon; `nil` if the beacon does not exist or needs no key.
    fileprivate func keyName(of name: String) -> String? {
        guard let index = (0..<count).first(where: { beacon($0).name == name }),
            let manifestBeacon = beacon(index).beacon, let rotation = try? BeaconRotation(manifestBeacon)
        else { return nil }
        return rotation.keyName
    }
}
