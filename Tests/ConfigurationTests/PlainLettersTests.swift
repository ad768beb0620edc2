import Configuration
import Testing

@Suite("Plain letters")
struct PlainLettersTests {
    @Test(
        "letters with diacritics become letters from a to z",
        arguments: [
            ("Öllampe groß", "Oellampe gross"), ("Löwe", "Loewe"), ("Grüne Vase", "Gruene Vase"), ("café", "cafe"),
            ("Łódź", "Lodz"), ("smørbrød", "smorbrod"), ("æther", "aether"), ("u\u{308}ber", "ueber"), ("日本", "日本"),
            ("plain-1", "plain-1"),
        ])
    func replaces(text: String, plain: String) {
        #expect(PlainLetters.text(text) == plain)
    }
}
