public import Airtime
internal import BluetoothTypes
public import Configuration

/// A file in which the user describes scanners.
public enum ScannerFile {
    /// Reads the file.
    ///
    /// - Returns: its scanners, `nil` if the file has an error, and every problem in the order of the file.
    public static func decode(_ octets: [UInt8]) -> (scanners: [ScannerPreset]?, problems: [FileProblem]) {
        let (scanners, problems) = ConfigurationDecoder.decode(octets) { $0.scannerFile($1) }
        return (scanners, problems)
    }

    /// The text of `profiles/schema/scanners.schema.json` (JSON Schema, draft 2020-12).
    public static var schema: String { ScannerFileFormat.section.schemaFile(title: "Pharos scanners") }
}

extension ConfigurationDecoder {
    fileprivate mutating func scannerFile(_ node: JSONNode) -> [ScannerPreset]? {
        guard expect(.scanners, node), let root = open(ScannerFileFormat.section, node) else { return nil }
        _ = read(FileHeader.schema, in: root)
        _ = read(FileHeader.version, in: root)
        _ = read(ScannerFileFormat.name, in: root)
        var scanners: [ScannerPreset] = []
        var indices: [String: Int] = [:]
        for (index, object) in (read(ScannerFileFormat.scanners, in: root) ?? []).enumerated() {
            guard let scanner = namedScanner(object) else { continue }
            if ScannerPreset(named: scanner.name) != nil {
                error("\"\(scanner.name)\" is a known scanner: choose another name", at: object["name"] ?? object)
            } else if let first = indices[scanner.name] {
                error("\"\(scanner.name)\" is also the name of scanners[\(first)]", at: object["name"] ?? object)
            } else {
                indices[scanner.name] = index
            }
            scanners.append(scanner)
        }
        return scanners
    }

    private mutating func namedScanner(_ object: JSONNode) -> ScannerPreset? {
        let name = read(ScannerKeys.name, in: object)
        let pattern = scanPattern(object)
        let gap = read(ScannerKeys.gap, in: object)
        let deadTime = read(ScannerKeys.deadTime, in: object)
        let source = read(ScannerKeys.source, in: object)
        guard let name, let pattern, let gap, let deadTime else { return nil }
        guard gap * 1000 < Double(pattern.windowMicroseconds) else {
            error(
                "the gap must be shorter than the scan window",
                at: object["windowGapMs"] ?? object)
            return nil
        }
        return ScannerPreset(
            name: name, pattern: pattern, windowGapMicroseconds: gap * 1000, deadTimeMicroseconds: deadTime * 1000,
            source: source ?? "")
    }

    private mutating func scanPattern(_ object: JSONNode) -> ScanPattern? {
        guard let window = read(ScannerKeys.window, in: object), let interval = read(ScannerKeys.interval, in: object)
        else { return nil }
        guard
            let pattern = try? ScanPattern(
                windowMicroseconds: Int((window * 1000).rounded()),
                intervalMicroseconds: Int((interval * 1000).rounded()))
        else {
            error("the scan window is longer than the scan interval", at: object)
            return nil
        }
        return pattern
    }

    /// Reads a scanner of a site file: a name, or a scan window and interval.
    mutating func scanner(_ node: JSONNode) -> ScannerPreset? {
        if case .string(let name) = node.value {
            if let preset = ScannerPreset(named: name) { return preset }
            notAWord(name, ScannerPreset.all.map(\.name), at: node)
            return nil
        }
        guard let object = open(ScannerKeys.section, node), let pattern = scanPattern(object) else { return nil }
        let names = [pattern.windowMicroseconds, pattern.intervalMicroseconds].map { DecimalText.thousandths($0) }
        return ScannerPreset(name: names.joined(separator: "/") + " ms", pattern: pattern)
    }

    /// Reads the scanners of a site file: a mix, or one scanner. If the file has neither, returns the default scanner.
    mutating func scanners(_ root: JSONNode) -> ScannerMix? {
        guard let list = root["scanners"] else {
            let scanner =
                root["scanner"] == nil
                ? ScannerPreset(named: "android-low-power") : read(SiteFormat.scanner, in: root)
            return scanner.map { ScannerMix($0) }
        }
        guard let objects = read(SiteFormat.scanners, in: root) else { return nil }
        var weighted: [(scanner: ScannerPreset, weight: Double)] = []
        for object in objects {
            let scanner = read(MixKeys.scanner, in: object)
            let weight = read(MixKeys.weight, in: object)
            guard let scanner, let weight else { continue }
            if weighted.contains(where: { $0.scanner.name == scanner.name }) {
                error("\(scanner.name) occurs twice: add up its weights", at: object["scanner"] ?? object)
                return nil
            }
            weighted.append((scanner, weight))
        }
        guard weighted.count == objects.count else { return nil }
        do throws(AirtimeError) {
            return try ScannerMix(weighted)
        } catch {
            self.error("\(error)", at: list)
            return nil
        }
    }
}
