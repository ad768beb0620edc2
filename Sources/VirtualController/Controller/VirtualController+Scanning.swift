import BluetoothTypes
import HCI

/// The scanner as the air sees it.
extension VirtualController {
    /// Starts a scan, or starts the one that is going on anew.
    func startScanning(
        as identity: DeviceIdentity, extended: Bool, filter: DuplicateFilter, durationMicroseconds: Int = 0,
        periodMicroseconds: Int = 0
    ) {
        guard let air else { return }
        let run = newRun()
        state.scanner = Scanner(
            run: run, parameters: state.scanParameters, identity: identity, isExtended: extended,
            durationMicroseconds: durationMicroseconds, periodMicroseconds: periodMicroseconds, start: air.now,
            startsFilterAnew: filter == .perPeriod, duplicates: filter == .off ? nil : DuplicateMemory())
        air.setScanning(self, true)
        if durationMicroseconds > 0 { air.plan(.scanTurn(id, run: run), inMicroseconds: durationMicroseconds) }
    }

    func stopScanning() {
        state.scanner = nil
        air?.setScanning(self, false)
    }

    /// The end of a scan's duration, or of the pause until its next period.
    func takeScanTurn(_ run: UInt64) {
        guard let air, var scanner = state.scanner, scanner.run == run else { return }
        guard scanner.periodMicroseconds > 0 else {
            stopScanning()
            return sendMeta(ControllerEvents.scanTimeout, .scanTimeout)
        }
        scanner.isListening.toggle()
        if scanner.isListening {
            scanner.start = air.now
            if scanner.startsFilterAnew { scanner.duplicates = DuplicateMemory() }
        }
        state.scanner = scanner
        let pause = scanner.periodMicroseconds - scanner.durationMicroseconds
        air.plan(
            .scanTurn(id, run: run), inMicroseconds: scanner.isListening ? scanner.durationMicroseconds : pause)
    }

    /// Whether a packet that was on the air until now has been received.
    func hears(_ pdu: AirPDU) -> Bool {
        guard let scanner = state.scanner, scanner.receives(pdu) else { return false }
        if scanner.parameters.filterPolicy.rawValue & 1 != 0 {
            guard state.acceptList.contains(DeviceIdentity(pdu.addressType, pdu.address)) else { return false }
        }
        // What is directed to somebody else is not reported.
        guard let target = pdu.target else { return true }
        return target == scanner.identity
    }

    func asksForScanResponse(to pdu: AirPDU) -> Bool { state.scanner?.asks(pdu) ?? false }

    /// Tells the host of a packet, as far as masks and duplicate filter let it.
    func report(_ pdu: AirPDU) {
        guard let air, let scanner = state.scanner else { return }
        let bit: LEEventMask = scanner.isExtended ? .extendedAdvertisingReport : .advertisingReport
        guard state.eventMask.contains(.leMeta), state.leEventMask.contains(bit) else { return }
        if state.scanner?.duplicates?.isFirst(pdu) == false { return }
        // RSSI is reported within -127...20 (7.7.65.2).
        let (level, overflow) = Int(pdu.power.dBm).subtractingReportingOverflow(air.parameters.pathLoss)
        let rssi = overflow ? -127 : Int8(max(-127, min(20, level)))
        guard scanner.isExtended else { return sendMeta(pdu.legacyReport(rssi: rssi), bit) }
        for event in pdu.extendedReports(rssi: rssi) { sendMeta(event, bit) }
    }
}
