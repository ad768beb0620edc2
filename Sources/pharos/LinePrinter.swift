internal import BluetoothTypes
internal import LinuxHost
internal import ListenerService

/// Prints what the lines of a text spell, each as soon as it has been read.
struct LinePrinter {
    private let printer: PayloadPrinter
    private let name: String
    /// Bad lines that are told one by one. A file of another kind has nothing but bad lines.
    private static let toldFaults = 20

    /// - Parameter name: the file's, for errors.
    init(_ printer: PayloadPrinter, name: String) {
        self.printer = printer
        self.name = name
    }

    /// Returns whether no payload breaks a rule.
    ///
    /// - Parameter start: what has been read of `pieces` already.
    /// - Throws: at the end, when a line could not be decoded; those that could have been printed.
    func print(_ start: [UInt8], _ pieces: InputPieces) throws -> Bool {
        var lines = HexadecimalLines()
        var isClean = true
        var payloads = 0
        var faults = 0
        var piece = start
        // Whoever reads this has perhaps seen enough.
        while !Terminal.outputIsGone {
            if piece.isEmpty { lines.finish() } else { lines.push(piece) }
            while let line = lines.next(), !Terminal.outputIsGone {
                switch line.octets {
                case .success(let octets):
                    if payloads > 0 && !printer.json { Terminal.write("\n") }
                    isClean = printer.print(AdvertisingData(octets: octets)) && isClean
                    payloads += 1
                case .failure(let fault):
                    faults += 1
                    guard faults <= Self.toldFaults else { continue }
                    Terminal.writeError("pharos: \(name):\(line.number): \(fault)\n")
                }
            }
            if piece.isEmpty { break }
            piece = try pieces.next()
        }
        if faults > Self.toldFaults {
            let more = faults - Self.toldFaults
            Terminal.writeError(
                "pharos: \(name): \(more) more \(more == 1 ? "line" : "lines") could not be decoded\n")
        }
        // Each has been told.
        if faults > 0 { throw Failure(.dataFormat) }
        guard payloads > 0 || Terminal.outputIsGone else {
            throw Failure(.dataFormat, "\(name): nothing to decode: it is empty")
        }
        return isClean
    }
}
