import Store
import Testing

@Suite struct PostgreSQLRowTests {
    @Test func rowsOfAMessageAreTakenApartAtLineEnds() {
        let rows = PostgreSQLRow(.sightings, text: "a\t1\nb\\n\\r\t2\n\u{301}\t\\N\n")
        let lines = ["a\t1\n", "b\\n\\r\t2\n", "\u{301}\t\\N\n"]
        #expect(rows.lines == lines.map { PostgreSQLRow(.sightings, text: $0) })
        #expect(rows.lines.map(\.text).joined() == rows.text)
        #expect(PostgreSQLRow(.runs, text: "").lines.isEmpty)
    }
}
