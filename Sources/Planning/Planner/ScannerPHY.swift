public import Airtime
public import BluetoothTypes

/// The primary PHY on which a scanner receives extended advertising.
public enum ScannerPHY: String, Hashable, Sendable, CaseIterable {
    /// LE 1M; the scanner also receives auxiliary packets on LE 2M.
    case le1M = "1M"
    case coded

    /// Returns true if a scanner on this primary PHY receives advertisements on the PHY `phy`.
    func receives(_ phy: ExtendedPHY) -> Bool { phy.isCoded == (self == .coded) }
}

extension PlannedAir {
    /// Throws an error with the reason and a remedy if one of the scanners can never receive the target advertisement.
    ///
    /// - Parameter phy: The PHY on which the scanners receive extended advertising; nil for legacy PDUs only. The
    ///   ideal scanner `ScannerPreset.continuous` receives every PHY, whatever the value of `phy`.
    public func check(_ scanners: ScannerMix, receiving phy: ScannerPHY?) throws(PlanError) {
        guard let wanted = frame(target).extended?.phy else { return }
        try scanners.check(receiving: wanted, on: phy)
    }
}

extension ScannerMix {
    /// Throws an error with the reason and a remedy if one of the scanners can never receive extended advertising on
    /// the PHY `wanted`.
    ///
    /// - Parameter phy: The PHY on which the scanners receive extended advertising; nil for legacy PDUs only. The
    ///   ideal scanner ``ScannerPreset/continuous`` receives every PHY, whatever the value of `phy`.
    public func check(receiving wanted: ExtendedPHY, on phy: ScannerPHY?) throws(PlanError) {
        guard let scanner = parts.map(\.scanner).first(where: { $0 != .continuous }),
            phy.map({ $0.receives(wanted) }) != true
        else { return }
        let needed = wanted.isCoded ? ScannerPHY.coded : .le1M
        let reason =
            phy == nil
            ? "\(scanner.name) receives only legacy PDUs if its app does not request more (on Android with "
                + "ScanSettings.Builder.setLegacy(false)\(wanted.isCoded ? " and setPhy" : ""))"
            : "a scanner of \(phy == .coded ? "LE Coded" : "LE 1M") does not receive \(wanted.name)"
        throw PlanError(
            .question,
            "no beacon on \(wanted.name) is ever found: \(reason). Add --scanner-phy \(needed.rawValue) if the scanner "
                + "does, or plan for legacy PDUs")
    }
}
