internal import BeaconFrames
internal import BluetoothTypes
public import Configuration

/// A change of one value in a profile's file, as `pharos set lobby url=https://example.org` requests it.
public struct ProfileEdit: Sendable {
    /// The key as the user wrote it: `url`, `ibeacon.minor`, `advertisements[1].intervalMs` or
    /// `scanResponse.localName`.
    private let key: String
    private let value: String

    /// Parses `key=value`; `nil` if there is no key or no equals sign.
    public init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
        key = String(text[..<equals])
        value = String(text[text.index(after: equals)...])
    }

    /// Returns the file's contents with the new value. All other values stay as they are, with one exception: a new
    /// pattern removes the constant interval of its advertisement, and a new interval removes the pattern.
    ///
    /// - Throws: ``ProfileEditError`` if the profile has no such key, if several advertisements have it, or if the
    ///   changed profile has errors.
    public func applied(to octets: [UInt8]) throws(ProfileEditError) -> [UInt8] {
        let (root, faults) = JSONDocument.parse(octets)
        guard let root, faults.isEmpty else { throw .file(faults) }
        // If the file had errors before the edit, those errors are thrown, because the key and the new value may be
        // correct.
        let problemsBefore = BeaconProfile.decode(octets).problems.filter(\.isError)
        let place: JSONPath
        do throws(ProfileEditError) {
            place = try self.place(in: root)
        } catch {
            throw problemsBefore.isEmpty ? error : .file(problemsBefore)
        }
        var problems: [FileProblem] = []
        for edited in candidates(root, place) {
            let text = Array(edited.pretty.utf8)
            let (profile, candidateProblems) = BeaconProfile.decode(text)
            if profile != nil { return text }
            // The candidates are in order of probability. If all have errors, the errors of the first candidate whose
            // value has the right JSON type are shown; without such a candidate, the errors of the first candidate.
            let errors = candidateProblems.filter(\.isError)
            if problems.isEmpty || problems.contains(where: \.isAboutKind) && !errors.contains(where: \.isAboutKind) {
                problems = errors
            }
        }
        throw problemsBefore.isEmpty ? .problems(problems) : .file(problemsBefore)
    }

    /// The possible results of the edit, the most probable one first. The value `null` is written if the profile
    /// accepts `null` there. If not, the key is removed, so that its default applies.
    private func candidates(_ root: JSONNode, _ place: JSONPath) -> [JSONValue] {
        let profile = JSONValue(root)
        guard value == "null" else {
            return valueCandidates.map { candidate in
                let edited = profile.replacing(place.components[...], with: candidate)
                return Self.pathExcluded(by: place).map { edited.removing($0.components[...]) } ?? edited
            }
        }
        let removed = profile.removing(place.components[...])
        // If the scan response would be empty, it is removed too.
        return [profile.replacing(place.components[...], with: .null), removed]
            + (place.components.first == .key("scanResponse") ? [profile.removing(place.components.prefix(1))] : [])
    }

    /// Returns the place of the value that must be removed when a value is written at `place`: an advertisement has
    /// either a constant interval or a pattern, not both. `nil` for other values.
    private static func pathExcluded(by place: JSONPath) -> JSONPath? {
        let keys = [AdvertisementFormat.interval.name, AdvertisementFormat.pattern.name]
        guard case .key(let key)? = place.components.last, let index = keys.firstIndex(of: key) else { return nil }
        return JSONPath(place.components.dropLast() + [.key(keys[1 - index])])
    }

    /// The possible JSON values of the user's text, the most probable one first: an interval such as `1.28s` as a
    /// number of milliseconds; the text parsed as JSON; the text as a string.
    private var valueCandidates: [JSONValue] {
        var candidates: [JSONValue] = []
        if key.hasSuffix("intervalMs"),
            let interval = try? RequestedInterval(value, in: AdvertisingInterval.extendedRange)
        {
            candidates.append(.decimal(interval.milliseconds))
        }
        let (root, faults) = JSONDocument.parse(Array(value.utf8))
        if let root, faults.isEmpty { candidates.append(JSONValue(root)) }
        return candidates + [.string(value)]
    }

    private func place(in root: JSONNode) throws(ProfileEditError) -> JSONPath {
        let advertisements = root["advertisements"]?.elements ?? []
        let kinds = advertisements.map { $0["type"]?.string.flatMap(FrameKind.init) }
        let steps = key.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if steps.count == 2 {
            if steps[0] == "scanResponse" { return JSONPath([.key("scanResponse"), .key(steps[1])]) }
            // A type may be shortened to the part after "eddystone-", as in `pharos encode url`.
            let namedIndices = kinds.indices.filter { index in
                [kinds[index]?.rawValue, "advertisements[\(index)]"].contains(steps[0])
                    || kinds[index]?.rawValue == "eddystone-" + steps[0]
            }
            guard let index = namedIndices.first, namedIndices.count == 1 else {
                let advice =
                    namedIndices.isEmpty ? Self.listOfKinds(kinds) : Self.listOfChoices(steps[1], namedIndices)
                throw .unknown(key, advice: advice)
            }
            return Self.path(index, steps[1])
        }
        if ProfileFormat.keys.contains(key), !Self.fixedKeys.contains(key) {
            return JSONPath([.key(key)])
        }
        if key == "name" {
            throw .unknown(
                key, advice: "a beacon's name is fixed; install a profile with the new name, and remove this one")
        }
        if key == "localName" { return JSONPath([.key("scanResponse"), .key(key)]) }
        let indicesWithKey = kinds.indices.filter { index in
            kinds[index].map { AdvertisementFormat.keys(of: $0).contains(key) } == true && key != "type"
        }
        guard let index = indicesWithKey.first else {
            let allKeys = Set(
                ProfileFormat.keys + ["localName"] + kinds.compactMap(\.self).flatMap(AdvertisementFormat.keys(of:)))
            let editableKeys = allKeys.subtracting(Self.fixedKeys).sorted()
            let owners = FrameKind.allCases.filter { key != "type" && AdvertisementFormat.keys(of: $0).contains(key) }
            if !owners.isEmpty {
                throw .unknown(
                    key,
                    advice: "no advertisement of this profile has this key, which belongs to "
                        + "\(owners.map(\.rawValue).joined(separator: ", ")); known here: \(editableKeys.joined(separator: ", "))"
                )
            }
            let nearest = NearestWord.find(key, among: editableKeys).map { "did you mean \($0)?" }
            throw .unknown(key, advice: nearest ?? "known here: \(editableKeys.joined(separator: ", "))")
        }
        guard indicesWithKey.count == 1 else {
            throw .unknown(key, advice: Self.listOfChoices(key, indicesWithKey))
        }
        return Self.path(index, key)
    }

    /// The keys that cannot be edited, because their values are objects or lists, or must not change.
    private static let fixedKeys: Set = ["$schema", "version", "name", "advertisements", "scanResponse", "type"]

    private static func path(_ index: Int, _ key: String) -> JSONPath {
        JSONPath([.key("advertisements"), .index(index), .key(key)])
    }

    private static func listOfChoices(_ key: String, _ indices: [Int]) -> String {
        "several advertisements have this key; name one of them: "
            + indices.map { "advertisements[\($0)].\(key)" }.joined(separator: ", ")
    }

    private static func listOfKinds(_ kinds: [FrameKind?]) -> String {
        "the advertisements are " + kinds.compactMap { $0?.rawValue }.joined(separator: ", ")
    }
}

/// The reason why a value of a profile cannot be changed.
public enum ProfileEditError: Error, Sendable {
    /// The profile has no such key, or several advertisements have it. `advice` tells the user what to do.
    case unknown(String, advice: String)
    /// The changed profile would have these problems.
    case problems([FileProblem])
    /// The file already had these problems before the edit.
    case file([FileProblem])

    /// One sentence for each problem.
    public var messages: [String] {
        switch self {
        case .unknown(let key, let advice): ["\(ProblemText.quoted(key)): \(advice)"]
        case .problems(let problems): problems.map { "\($0.path): \($0.message)" }
        case .file(let problems): problems.map(\.description)
        }
    }
}

extension JSONValue {
    /// Returns this value without the value at `path`, if there is one.
    fileprivate func removing(_ path: ArraySlice<JSONPath.Component>) -> JSONValue {
        guard let step = path.first else { return self }
        let remainder = path.dropFirst()
        switch (step, self) {
        case (.key(let key), .object(let members)):
            return .object(
                members.compactMap { member in
                    guard member.key == key else { return member }
                    return remainder.isEmpty ? nil : .init(key, member.value.removing(remainder))
                })
        case (.index(let index), .array(let elements)):
            return .array(elements.indices.map { $0 == index ? elements[$0].removing(remainder) : elements[$0] })
        default: return self
        }
    }

    /// Returns this value with `new` at `path`. Missing objects on the path are added.
    fileprivate func replacing(_ path: ArraySlice<JSONPath.Component>, with new: JSONValue) -> JSONValue {
        guard let step = path.first else { return new }
        let remainder = path.dropFirst()
        switch (step, self) {
        case (.key(let key), .object(let members)):
            guard members.contains(where: { $0.key == key }) else {
                return .object(members + [.init(key, JSONValue.object([]).replacing(remainder, with: new))])
            }
            return .object(
                members.map { $0.key == key ? .init(key, $0.value.replacing(remainder, with: new)) : $0 })
        case (.index(let index), .array(let elements)):
            return .array(
                elements.indices.map { $0 == index ? elements[$0].replacing(remainder, with: new) : elements[$0] })
        default: return self
        }
    }
}
