import QRCodes
import Testing

@Suite struct QRCodeTests {
    @Test func aCodeIsTheSameAsAnotherEncoderMakes() throws {
        let code = try QRCode("HELLO WORLD")
        #expect(rows(code) == QRVectors.helloWorld)
        #expect((code.version, code.level, code.mask) == (1, .medium, 0))
    }

    @Test(arguments: QRVectors.all.indices)
    func everyVersionAndLevelIsTheSameAsAnotherEncoderMakes(_ index: Int) throws {
        let (version, limits, checksums) = QRVectors.all[index]
        for level in QRCode.Level.allCases {
            let letters = (0..<limits[level.rawValue]).map { UInt8(97 + $0 * 7 % 26) }
            let code = try QRCode(octets: letters, level: level, mask: version % 8)
            #expect(code.version == version, "\(level)")
            #expect(code.size == 17 + 4 * version)
            #expect(checksum(code) == checksums[level.rawValue], "\(level)")
        }
    }

    @Test func oneOctetMoreNeedsTheNextVersion() throws {
        for (version, limits, _) in QRVectors.all.dropLast() {
            for level in QRCode.Level.allCases {
                let octets = [UInt8](repeating: 0xE4, count: limits[level.rawValue] + 1)
                #expect(try QRCode(octets: octets, level: level, mask: 0).version == version + 1)
            }
        }
    }

    @Test(arguments: zip(QRCode.Level.allCases, [(2953, 4296), (2331, 3391), (1663, 2420), (1273, 1852)]))
    func theLargestCodeHoldsWhatTheStandardSays(_ level: QRCode.Level, _ limits: (octets: Int, characters: Int)) throws
    {
        let most = String(repeating: "A", count: limits.characters)
        #expect(try QRCode(most, level: level, mask: 0).version == 40)
        #expect(throws: QRCodeError.tooLong(count: limits.characters + 1, limit: limits.characters)) {
            try QRCode(most + ":", level: level)
        }
        #expect(throws: QRCodeError.tooLong(count: limits.octets + 1, limit: limits.octets)) {
            try QRCode(octets: [UInt8](repeating: 0, count: limits.octets + 1), level: level)
        }
    }

    /// The masks are those with the least of the scores that Segno 1.6.6 gives to whole codes. Texts whose last bit ends
    /// an octet are left out: Segno adds an octet of zeros to these.
    @Test(arguments: [
        ("HTTPS://EXAMPLE.ORG/N2", [7, 6, 7, 7]), ("PHAROS", [0, 2, 0, 7]), ("HELLO WORLD", [0, 0, 0, 5]),
        ("F0:01:02:03:04:05 LOBBY NORTH 1/2", [2, 6, 1, 5]),
    ])
    func theMaskIsChosenByTheRulesOfTheStandard(_ text: String, _ masks: [Int]) throws {
        #expect(try QRCode.Level.allCases.map { try QRCode(text, level: $0).mask } == masks)
    }

    @Test func allCodesOfASheetCanHaveOneSize() throws {
        #expect(try QRCode("A", smallest: 5).size == 37)
        #expect(try QRCode("", smallest: 1).size == 21)
    }

    @Test(arguments: [-1, 0, 41, Int.max, Int.min])
    func versionsThatDoNotExistAreRefused(_ version: Int) {
        #expect(throws: QRCodeError.noSuchVersion(version)) { try QRCode("A", smallest: version) }
    }

    @Test(arguments: [-1, 8, Int.max])
    func masksThatDoNotExistAreRefused(_ mask: Int) {
        #expect(throws: QRCodeError.noSuchMask(mask)) { try QRCode("A", mask: mask) }
    }

    @Test func errorsSayHowMuchIsTooMuch() throws {
        let error = try #require(throws: QRCodeError.self) {
            try QRCode(String(repeating: "a", count: 2400), level: .medium)
        }
        #expect("\(error)" == "2400 characters are 69 more than a QR code of this error correction level holds")
    }

    @Test func aroundTheCodeAllIsLight() throws {
        let code = try QRCode("A")
        for place in [-1, 21, Int.max, Int.min] {
            #expect(!code.isDark(row: place, column: 0))
            #expect(!code.isDark(row: 0, column: place))
        }
    }

    @Test func thePathCoversTheDarkModulesAndNothingElse() throws {
        let code = try QRCode("pharos", level: .high)
        var drawn: Set<[Int]> = []
        for bar in code.path.split(separator: "z") {
            let numbers = bar.split { !$0.isNumber }.compactMap { Int($0) }
            #expect(bar == "M\(numbers[0]) \(numbers[1])h\(numbers[2])v1h-\(numbers[2])")
            for column in numbers[0]..<numbers[0] + numbers[2] {
                #expect(drawn.insert([numbers[1], column]).inserted)
            }
        }
        for row in 0..<code.size {
            for column in 0..<code.size {
                #expect(drawn.contains([row, column]) == code.isDark(row: row, column: column))
            }
        }
    }

    private func rows(_ code: QRCode) -> String {
        (0..<code.size).map { row in
            (0..<code.size).map { code.isDark(row: row, column: $0) ? "#" : "." }.joined()
        }
        .joined(separator: "\n")
    }

    private func checksum(_ code: QRCode) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for row in 0..<code.size {
            for column in 0..<code.size {
                hash = (hash ^ (code.isDark(row: row, column: column) ? 1 : 0)) &* 0x0100_0193
            }
        }
        return hash
    }
}
