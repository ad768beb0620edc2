internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration

/// `--explain`: a row for every octet.
enum Explanation {
    static func table(_ data: AdvertisingData) -> String {
        var table = Table(["offset", "octet", "field", "meaning"], alignment: [.right, .right])
        for note in data.explained() {
            table.add([String(note.offset), Hexadecimal.text(note.octet), note.field, note.meaning])
        }
        return table.text
    }
}
