public import BluetoothTypes

/// Everything that advertising data holds, kept so that nothing is lost: what no known frame explains stays as an AD
/// structure.
public struct DecodedAdvertisingData: Hashable, Sendable {
    /// The AD structures before the end of the significant part, of known and of unknown types.
    public let structures: [ADStructure]
    /// What follows them: nothing, the zeros of an early termination, or a truncated structure.
    public let remainder: [UInt8]
    /// All frames, in their order.
    public let frames: [BeaconFrame]
    /// The rules that the octets break.
    public let problems: [LintProblem]

    /// Any octets can be decoded; what is wrong with them stands in ``problems``.
    ///
    /// - Parameter limit: How many octets the advertisement may hold: 31 for the legacy PDUs.
    public init(_ data: AdvertisingData, limit: Int = AdvertisingData.legacyLimit) {
        var structures: [ADStructure] = []
        var frames: [BeaconFrame] = []
        var cursor = ADStructureCursor(data.octets.indices)
        while let element = cursor.next(in: data.octets.span) {
            structures.append(ADStructure(element.type, Array(data.octets[element.data])))
            if let frame = BeaconFrame(element, in: data.octets.span) { frames.append(frame) }
        }
        self.structures = structures
        self.frames = frames
        remainder = Array(data.octets[cursor.offset...])
        problems = data.lint(limit: limit)
    }

    /// The octets again, exactly as they were.
    public var data: AdvertisingData {
        var octets: [UInt8] = []
        for structure in structures {
            octets.append(UInt8(truncatingIfNeeded: structure.data.count + 1))
            octets.append(structure.type.rawValue)
            octets += structure.data
        }
        return AdvertisingData(octets: octets + remainder)
    }
}
