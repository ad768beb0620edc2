import BeaconFrames
import BluetoothTypes
import Configuration

/// Any text is a value whose printed form reads as an equal value, or it is refused.
func fuzzText(_ octets: [UInt8]) {
    let text = String(decoding: octets, as: UTF8.self)
    if let octets = try? Hexadecimal.octets(text) {
        check((try? Hexadecimal.octets(Hexadecimal.text(octets))) == octets, "octets are printed as they are read")
    }
    if let uuid = BluetoothUUID(text) {
        check(BluetoothUUID(uuid.description) == uuid, "a UUID is printed as it is read: \(uuid)")
    }
    if let address = DeviceAddress(text) {
        check(DeviceAddress(address.description) == address, "an address is printed as it is read: \(address)")
    }
    if let time = RFC3339Time(text) {
        check(RFC3339Time(time.description) == time, "a time is printed as it is read: \(time)")
    }
    checkURL(text)
    checkNumber(text)
}

private func checkURL(_ text: String) {
    do throws(URLEncodingError) {
        let url = try CompressedURL(text)
        try url.validate()
        check((1...CompressedURL.limit).contains(url.count), "a URL has 1...17 octets")
        let scheme = text.prefix { $0 != ":" }
        check(url.text == scheme.lowercased() + text.dropFirst(scheme.count), "a URL keeps its text: \(url)")
    } catch {
        check(!error.description.isEmpty, "every error has its words")
    }
}

private func checkNumber(_ text: String) {
    if let thousandths = DecimalText.thousandths(text) {
        check(
            DecimalText.thousandths(DecimalText.thousandths(thousandths)) == thousandths,
            "a decimal is printed as it is read: \(thousandths)")
    }
    guard let number = JSONNumber(text) else { return }
    check(number.text == text, "a number keeps its text")
    if let integer = number.integer, abs(integer) < 1_000_000_000 {
        check(number.thousandths == integer * 1000, "a whole number has its thousandths")
    }
    if let thousandths = number.thousandths, abs(thousandths) < 1_000_000_000_000 {
        check(!number.isLess(thanThousandths: thousandths - 1), "rounding is by less than a thousandth")
        check(!number.isGreater(thanThousandths: thousandths + 1), "rounding is by less than a thousandth")
        check(JSONNumber(thousandths: thousandths).thousandths == thousandths, "thousandths are kept")
    }
}
