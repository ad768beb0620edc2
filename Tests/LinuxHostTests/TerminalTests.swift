import Testing

@testable import LinuxHost

/// Text for terminals that show only ASCII, and blocks that are redrawn in place.
@Suite struct TerminalTests {
    @Test(
        arguments: [
            ("xterm", ["C"], true), ("xterm", ["POSIX"], true), ("xterm", ["", "C.UTF-8"], false),
            ("xterm", ["en_US.utf8"], false), ("xterm", ["C", "de_DE.UTF-8"], true), ("xterm", [], false),
            ("dumb", ["C.UTF-8"], true), (nil, [], false),
        ] as [(String?, [String], Bool)])
    func isPlainDependsOnTheLocaleAndTheTerminal(_ term: String?, _ locale: [String], _ isPlain: Bool) {
        #expect(Terminal.isPlain(term: term, locale: locale) == isPlain)
    }

    @Test func plainTextIsASCII() {
        #expect(Terminal.plain("a 0.5–2 m … 21.5 °C · ▁█") == "a 0.5-2 m ~ 21.5 C - 18")
        #expect(Terminal.plain("Grün \u{1F600}\u{1B}[K\n") == "Gr\\u00fcn \\U1f600\\u001b[K\n")
        #expect(Terminal.plain("└─┬┤│ ░▒▓ ◆ ▸ ≠ ∞") == "+-+|| .+# * > != inf")
        // Columns stay aligned.
        #expect(Terminal.plain("▂▃▄▅▆▇").count == 6)
    }

    @Test func redrawsABlockInPlace() {
        var block = LiveBlock()
        let size = Terminal.Size(columns: 80, rows: 24)
        #expect(block.frame(["a", "b"], on: size) == "\r\u{1B}[Ka\n\r\u{1B}[Kb\n\u{1B}[J")
        #expect(block.frame(["c"], on: size) == "\u{1B}[2A\r\u{1B}[Kc\n\u{1B}[J")
        #expect(block.frame(["d"], on: size).hasPrefix("\u{1B}[1A"))
    }

    @Test func clearsTheScreenIfTheSizeHasChanged() {
        var block = LiveBlock()
        _ = block.frame(["a", "b"], on: Terminal.Size(columns: 80, rows: 24))
        let small = Terminal.Size(columns: 40, rows: 3)
        #expect(block.frame(["1", "2", "3", "4"], on: small) == "\u{1B}[H\u{1B}[2J\r\u{1B}[K1\n\r\u{1B}[K2\n\u{1B}[J")
        // The lines that were left out are not counted.
        #expect(block.frame(["1"], on: small).hasPrefix("\u{1B}[2A"))
    }
}
