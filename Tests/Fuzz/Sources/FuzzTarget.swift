/// The fuzz targets. Each takes any octets, and ends the program if a rule does not hold.
///
/// The raw value is the target's name on the command line and the name of its folder in the corpus.
enum FuzzTarget: String, CaseIterable {
    /// AD structures, explained and checked.
    case structures
    /// Frames, decoded and encoded again.
    case frames
    /// A stream of H4 packets, cut into pieces.
    case h4
    /// One event packet.
    case events
    /// One command packet.
    case commands
    /// All packets that a controller sends while a host talks to it.
    case host
    /// A capture in any of the formats.
    case captures
    /// Event packets over time, which a receiver gets.
    case sightings
    /// A profile file.
    case profiles
    /// A listener file, including the parts that only the service uses.
    case listeners
    /// The values of command-line options.
    case text

    func run(_ octets: [UInt8]) {
        switch self {
        case .structures: fuzzStructures(octets)
        case .frames: fuzzFrames(octets)
        case .h4: fuzzH4(octets)
        case .events: fuzzEvent(octets)
        case .commands: fuzzCommand(octets)
        case .host: fuzzHost(octets)
        case .captures: fuzzCapture(octets)
        case .sightings: fuzzSightings(octets)
        case .profiles: fuzzProfile(octets)
        case .listeners: fuzzListener(octets)
        case .text: fuzzText(octets)
        }
    }

    /// The target, which is chosen by `--target=NAME`: libFuzzer ignores options that start with two dashes.
    static let selected: FuzzTarget = {
        let option = "--target="
        let name = CommandLine.arguments.last { $0.hasPrefix(option) }?.dropFirst(option.count)
        guard let target = name.flatMap({ FuzzTarget(rawValue: String($0)) }) else {
            fatalError("give --target= and one of \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return target
    }()
}

/// libFuzzer calls this function for every input.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.selected.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// Ends the program, which libFuzzer counts as a crash, if the rule does not hold.
func check(_ holds: Bool, _ fact: @autoclosure () -> String, line: UInt = #line, file: StaticString = #file) {
    guard !holds else { return }
    fatalError("does not hold: \(fact())", file: file, line: line)
}
