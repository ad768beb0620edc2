internal import BluetoothTypes
internal import Configuration

/// The declaration of a file in which the user describes scanners.
enum ScannerFileFormat {
    static let name = Key(
        "name", .name, "Name of this list of scanners, such as \"our-visitors\".", isRequired: true)
    static let scanners = Key(
        "scanners",
        .list("scanners", 1...1000, of: .section(ScannerKeys.named).defined(as: "scanner")),
        "The scanners, for --scanner and --scanners.", isRequired: true)
    static let section = Section(
        "Scanners for the planner, with names of your own.", [FileHeader.schema, FileHeader.version, name, scanners])
}

/// The keys of a scanner.
enum ScannerKeys {
    static let name = Key(
        "name", .name, "Name for --scanner and --scanners. It must differ from the names of the known scanners.",
        isRequired: true)
    static let window = Key(
        "windowMs", .real(2.5...40_959.375, unit: "ms"), "Time for which the receiver listens in each scan interval.",
        isRequired: true)
    static let interval = Key(
        "intervalMs", .real(2.5...40_959.375, unit: "ms"),
        "Time from the start of one scan window to the start of the next.",
        isRequired: true)
    static let gap = Key(
        "windowGapMs", .real(0...1000, unit: "ms"),
        "Part of each scan window that the receiver loses while it changes the channel.", default: 0)
    static let deadTime = Key(
        "deadTimeMs", .real(0...1000, unit: "ms"),
        "Time after each received packet in which the receiver cannot receive.",
        default: 0)
    static let source = Key("source", .text, "Source of these values, and how certain they are.")

    static let section = Section("A scan window and interval.", [window, interval])
    static let named = Section("A scanner.", [name, window, interval, gap, deadTime, source])
}

/// The keys of a scanner in a mix.
enum MixKeys {
    static let scanner = Key(
        "scanner", SiteFormat.scannerType, "The name of a known scanner, or its scan window and interval.",
        isRequired: true)
    static let weight = Key(
        "weight", .real(0.001...1_000_000),
        "Number of visitors with this scanner, on any scale: only the proportions count.", isRequired: true)
    static let section = Section("Visitors with one kind of scanner.", [scanner, weight])
}
