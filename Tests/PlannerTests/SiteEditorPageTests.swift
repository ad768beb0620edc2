import Airtime
import Configuration
import Fleet
import Sites
import Testing

@testable import Planner

@Suite struct SiteEditorPageTests {
    private static let text =
        #"{"version":1,"name":"hall","outline":[[0,0],[8,0],[8,5]],"$schema":"x","scanner":"linux"}"#

    @Test func aFileIsWrittenInTheStyleOfTheProgram() throws {
        let edited = EditedSite(Array(Self.text.utf8))
        #expect(edited.isGood)
        let root = try #require(JSONDocument.parse(Array(Self.text.utf8)).root)
        #expect(edited.text == JSONValue(root).pretty)
        #expect(edited.text?.contains("  \"outline\": [\n    [0, 0],\n    [8, 0],\n") == true)
        // Unknown keys are kept in their order.
        #expect(edited.text?.contains("\"$schema\": \"x\",\n  \"scanner\": \"linux\"\n}\n") == true)
    }

    @Test func problemsHavePositionsInTheWrittenText() {
        let edited = EditedSite(Array(Self.text.replacing("[8,5]", with: "[8,\"5\"]").utf8))
        #expect(!edited.isGood)
        #expect(edited.problems.map(\.path.description) == ["outline[2][1]"])
        #expect(edited.problems.map(\.position.line) == [7])
    }

    @Test(arguments: ["", "[", "[]", "{}", "{\"version\":1}", "nonsense"])
    func refusesTextThatIsNoSite(_ text: String) {
        let edited = EditedSite(Array(text.utf8))
        #expect(!edited.isGood)
        #expect(edited.problems.contains { $0.isError })
    }

    @Test func pageContainsItsFileAndLoadsNothing() throws {
        var page = SiteEditorPage(saving: .program, fileName: "</script><b>", text: "{\"name\":\"</script>\"}")
        page.fingerprint = "0123456789abcdef"
        page.fleetBeacons = [
            try SiteBeacon(
                name: "<i>", position: FloorPosition(x: 1, y: 2), intervalMicroseconds: 100_000,
                airtimeMicroseconds: 376, radioPower: -4)
        ]
        let html = page.html
        #expect(html.contains("connect-src 'self'"))
        #expect(!html.contains("</script><b>") && !html.contains("<i>"))
        #expect(html.contains("\"payloadOctets\":31") && html.contains("\"fingerprint\":\"0123456789abcdef\""))
        let alone = SiteEditorPage(saving: .browser, fileName: "floor.json").html
        #expect(!alone.contains("connect-src") && alone.contains("\"text\":null"))
        #expect(!alone.replacing("http://www.w3.org/2000/svg", with: "").contains("http://"))
        for word in ["</", "<!--"] { #expect(!SiteEditorScript.text.contains(word)) }
    }

    @Test func constructionsHaveDifferentLosses() {
        let losses = WallConstruction.all.map(\.attenuation)
        #expect(Set(losses).count == losses.count)
        #expect(Set(WallMaterial.allCases.map(\.attenuation)).isSubset(of: losses))
    }

    /// The transmission through a slab at a right angle: ITU-R P.2040-3, section 2.2.2.2, with the values of table 3.
    @Test(arguments: [
        ("brick, 24 cm", 3.91, 0.0238, 0.16, 0.24), ("brick, 12 cm", 3.91, 0.0238, 0.16, 0.12),
        ("concrete, 15 cm", 5.24, 0.0462, 0.7822, 0.15), ("concrete, 20 cm", 5.24, 0.0462, 0.7822, 0.20),
        ("concrete, 30 cm", 5.24, 0.0462, 0.7822, 0.30), ("plasterboard, 2 × 12.5 mm", 2.73, 0.0085, 0.9395, 0.025),
        ("wooden door, 4 cm", 1.99, 0.0047, 1.0718, 0.04),
    ])
    func lossesOfMaterialsMatchTheITUFormula(
        _ name: String, _ a: Double, _ c: Double, _ d: Double, _ meters: Double
    ) throws {
        let material = try #require(WallConstruction.computed.first { $0.name == name })
        let gigahertz = 2.44
        let permittivity = Complex(a, -17.98 * c * pow(gigahertz, d) / gigahertz)
        let index = permittivity.squareRoot
        let phase = Complex(0, -2 * Double.pi * meters * gigahertz / 0.299792458) * index
        let reflection = (Complex(1, 0) - index) / (Complex(1, 0) + index)
        let square = reflection * reflection
        let transmission =
            (Complex(1, 0) - square) * phase.exponential / (Complex(1, 0) - square * (phase + phase).exponential)
        let decibels = -10 * log10(transmission.squaredLength)
        #expect(abs(decibels - material.attenuation) <= 0.25, "\(name): \(decibels) dB")
    }
}

/// A complex number.
private struct Complex {
    let real: Double
    let imaginary: Double

    init(_ real: Double, _ imaginary: Double) { (self.real, self.imaginary) = (real, imaginary) }

    var squaredLength: Double { real * real + imaginary * imaginary }
    var squareRoot: Complex {
        let (length, angle) = (squaredLength.squareRoot().squareRoot(), atan2(imaginary, real) / 2)
        return Complex(length * cos(angle), length * sin(angle))
    }
    var exponential: Complex { Complex(exp(real) * cos(imaginary), exp(real) * sin(imaginary)) }

    static func + (left: Self, right: Self) -> Self {
        Complex(left.real + right.real, left.imaginary + right.imaginary)
    }
    static func - (left: Self, right: Self) -> Self {
        Complex(left.real - right.real, left.imaginary - right.imaginary)
    }
    static func * (left: Self, right: Self) -> Self {
        Complex(
            left.real * right.real - left.imaginary * right.imaginary,
            left.real * right.imaginary + left.imaginary * right.real)
    }
    static func / (left: Self, right: Self) -> Self {
        let numerator = left * Complex(right.real, -right.imaginary)
        return Complex(numerator.real / right.squaredLength, numerator.imaginary / right.squaredLength)
    }
}
