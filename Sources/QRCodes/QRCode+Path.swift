extension QRCode {
    /// The dark modules as the data of an SVG path, one unit a module, from the upper left corner; neighbors in a row are
    /// one bar, so that no printer leaves hairlines between them.
    public var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                let start = column
                while isDark(row: row, column: column) { column += 1 }
                if column > start { path += "M\(start) \(row)h\(column - start)v1h-\(column - start)z" }
                column += 1
            }
        }
        return path
    }
}
