/// The Unicode scalars of a JSON text, with the position of the next one.
struct JSONScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var position = JSONPosition(line: 1, column: 1)
    /// Where octets stood that are no UTF-8; each is read as U+FFFD.
    let illFormed: [JSONPosition]

    init(_ octets: [UInt8]) {
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(octets.count)
        var illFormed: [JSONPosition] = []
        var position = JSONPosition(line: 1, column: 1)
        var codec = UTF8()
        var iterator = octets.makeIterator()
        decoding: while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar): scalars.append(scalar)
            case .emptyInput: break decoding
            case .error:
                illFormed.append(position)
                scalars.append("\u{FFFD}")
            }
            Self.advance(&position, over: scalars[scalars.count - 1], after: scalars.dropLast().last)
        }
        self.scalars = scalars
        self.illFormed = illFormed
    }

    /// The next scalar, or `nil` at the end.
    var next: Unicode.Scalar? { peek(0) }

    /// The scalar `distance` places after the next one.
    func peek(_ distance: Int) -> Unicode.Scalar? {
        index + distance < scalars.count ? scalars[index + distance] : nil
    }

    /// Takes the next scalar.
    @discardableResult
    mutating func take() -> Unicode.Scalar? {
        guard index < scalars.count else { return nil }
        let scalar = scalars[index]
        Self.advance(&position, over: scalar, after: index > 0 ? scalars[index - 1] : nil)
        index += 1
        return scalar
    }

    /// Takes the next scalar if it is `scalar`.
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        take()
        return true
    }

    /// Takes scalars for as long as they satisfy `condition`.
    mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = next, condition(scalar) {
            text.append(scalar)
            take()
        }
        return String(text)
    }

    private static func advance(
        _ position: inout JSONPosition, over scalar: Unicode.Scalar, after previous: Unicode.Scalar?
    ) {
        switch scalar {
        case "\n" where previous == "\r": break
        case "\n", "\r":
            position.line += 1
            position.column = 1
        default: position.column += 1
        }
    }
}
