import BeaconFrames
import BluetoothTypes

/// Any octets can be decoded to frames, the frames encode to the same data, and valid ones pass the strict encoder.
func fuzzFrames(_ octets: [UInt8]) {
    let data = AdvertisingData(octets: octets)
    let decoded = DecodedAdvertisingData(data)
    check(decoded.data == data, "decoding loses nothing")
    check(decoded.structures == data.structures, "both ways to the structures are one")
    checkFirstFrame(octets, decoded.frames.first)
    for frame in decoded.frames {
        checkAgain(frame)
        if decoded.problems.isEmpty { checkGood(frame, in: decoded) }
    }
}

/// The fast decoder finds the first frame at any position in memory, and accepts every range.
private func checkFirstFrame(_ octets: [UInt8], _ first: BeaconFrame?) {
    let span = octets.span
    let frame = BeaconFrame(decoding: span, range: octets.indices)
    check(frame == first, "the fast path finds the same frame")
    let shifted = [0x1B, 0xFF, 0x4C] + octets + [0xFF, 0xFF]
    let again = BeaconFrame(decoding: shifted.span, range: 3..<3 + octets.count)
    check(again == first, "the frame does not depend on its surroundings")
    for step in stride(from: 0, through: octets.count, by: max(1, octets.count / 32)) {
        _ = BeaconFrame(decoding: span, range: step..<octets.count)
        _ = BeaconFrame(decoding: span, range: 0..<step)
    }
    for range in [-1..<octets.count, 0..<octets.count + 1, octets.count + 1..<octets.count + 1] {
        let outside = BeaconFrame(decoding: span, range: range)
        check(outside == nil, "no frame lies outside the span")
    }
}

/// Every received frame can be written, and the result means the same.
private func checkAgain(_ frame: BeaconFrame) {
    guard let data = try? AdvertisingData(frame.adStructures, limit: .max) else {
        return check(false, "a received frame can be written")
    }
    check(DecodedAdvertisingData(data).frames == [frame], "a written frame is read again: \(frame)")
    if case .eddystoneURL(let url) = frame { check(!url.url.text.isEmpty, "every URL has a text") }
}

/// A frame in octets without a problem is sent as it was received.
private func checkGood(_ frame: BeaconFrame, in decoded: DecodedAdvertisingData) {
    do throws(BeaconFrameError) {
        let payload = try frame.advertisingData(flags: nil)
        check(payload.lint().isEmpty, "what is sent is good: \(payload.lint())")
        let own = payload.structures.last
        check(decoded.structures.contains { $0 == own }, "what is sent is what was received: \(payload)")
    } catch {
        check(false, "the strict door is open to good frames: \(error)")
    }
    if case .eddystoneURL(let url) = frame { checkURL(url.url) }
}

private func checkURL(_ url: CompressedURL) {
    do throws(URLEncodingError) {
        let again = try CompressedURL(url.text)
        check(again.text == url.text, "the text stays the same")
        check(again.count <= url.count, "no encoding is shorter than ours")
    } catch {
        check(false, "the URL of a good frame can be encoded: \(error)")
    }
}
