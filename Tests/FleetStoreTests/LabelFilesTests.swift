import Fleet
import LinuxHost
import TestSupport
import Testing

@testable import FleetStore

@Suite("Files with labels")
struct LabelFilesTests {
    private static func sheet(pages: Int) -> LabelSheet {
        let beacons = (0..<(pages - 1) * LabelPaper.standard.labelsPerPage + 1).map { number in
            FleetManifest.Beacon(name: "b\(number)", profileHash: "0", advertisements: [])
        }
        return LabelSheet(beacons)
    }

    @Test("a single page keeps the file name; several pages get numbers that sort in page order")
    func namesPages() {
        let one = LabelFiles(Self.sheet(pages: 1), output: "l.svg")
        #expect(one.names == "l.svg")
        let many = LabelFiles(Self.sheet(pages: 12), output: "l.svg")
        #expect(many.names == "l-01.svg to l-12.svg")
        #expect(LabelFiles(Self.sheet(pages: 2), output: "l").names == "l-1.svg to l-2.svg")
        #expect(LabelFiles(Self.sheet(pages: 2), output: "l.pdf").names == "l.pdf")
    }

    @Test("each page is written to a file, and existing files are replaced")
    func writesPages() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("l-1.svg", text: "old")
        var steps: [Int?] = []
        try LabelFiles(Self.sheet(pages: 2), output: folder.place("l.svg")).write { steps.append($0) }
        #expect(steps == [0, 1])
        for name in ["l-1.svg", "l-2.svg"] {
            let text = String(decoding: try Files.read(folder.place(name), limit: 1 << 24), as: UTF8.self)
            #expect(text.contains("<svg"))
        }
    }

    @Test("pages of an earlier run that are not replaced are listed")
    func listsEarlierPages() throws {
        let folder = try TemporaryFolder()
        for name in ["l-01.svg", "l-02.svg", "l-2.svg", "l-x.svg", "l-3.txt", "m-1.svg", "l.svg"] {
            try folder.file(name, text: "old")
        }
        let files = LabelFiles(Self.sheet(pages: 2), output: folder.place("l.svg"))
        #expect(files.earlierPages == ["l-01.svg", "l-02.svg", "l.svg"].map { folder.place($0) })
        let one = LabelFiles(Self.sheet(pages: 1), output: folder.place("l.svg"))
        #expect(one.earlierPages == ["l-01.svg", "l-02.svg", "l-2.svg"].map { folder.place($0) })
        #expect(LabelFiles(Self.sheet(pages: 1), output: folder.place("l.pdf")).earlierPages == [])
    }

    @Test("labels are not written to a file with the extension of another picture format", arguments: [1, 2])
    func refusesPictures(pages: Int) throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: FleetStoreError.self) {
            try LabelFiles(Self.sheet(pages: pages), output: folder.place("l.png")).write()
        }
        #expect(error?.kind == .request && Files.names(in: folder.path).isEmpty)
    }

    @Test("an output path that cannot be a file is refused with a reason")
    func refusesAnOutputThatCannotBeAFile() throws {
        let folder = try TemporaryFolder()
        let missing = folder.place("none/l.svg")
        #expect(throws: FleetStoreError(.missing, "\(missing): there is no directory for this file")) {
            try LabelFiles(Self.sheet(pages: 1), output: missing).write()
        }
        try Files.makeDirectory(folder.place("d.svg"))
        let directory = folder.place("d.svg")
        #expect(throws: FleetStoreError(.request, "\(directory): this is a directory, not a file")) {
            try LabelFiles(Self.sheet(pages: 1), output: directory).write()
        }
    }
}
