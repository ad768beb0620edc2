package import ArgumentParser

/// The options that both forms of `find` have, with a map and without a map.
package struct FindOptions: ParsableArguments {
    @Flag(help: "Ring the terminal's bell, faster for a stronger beacon.")
    package var sound = false

    @Option(help: ArgumentHelp("Path-loss exponent, 1...6; 2 in free space.", valueName: "n"))
    package var pathLossExponent: Double = 2

    @Option(parsing: .unconditional, help: .timeLimitInSeconds, transform: OptionValue.duration)
    package var durationS: Int?

    @Flag(help: "Print a line with one JSON object every 500 ms.")
    package var json = false

    package init() {}

    /// Throws an error if an option is out of range or cannot be combined with the source.
    package func check(with source: BeaconSourceOptions) throws {
        try OptionValue.check("--path-loss-exponent", pathLossExponent, in: 1...6)
        if source.replay != nil, durationS != nil {
            throw ValidationError("--replay reads a file to its end: leave out --duration-s.")
        }
    }
}
