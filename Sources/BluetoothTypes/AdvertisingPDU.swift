/// What the legacy advertising PDU allows others to do (Core Specification 5.4, Vol 6 Part B 2.3.1).
public enum AdvertisingPDU: String, Hashable, Sendable, CaseIterable {
    /// ADV_NONCONN_IND: listen only. What a beacon is.
    case nonconnectable
    /// ADV_SCAN_IND: may be asked for scan response data.
    case scannable
    /// ADV_IND: may be asked for scan response data, and be connected to.
    case connectable

    public var specificationName: String {
        switch self {
        case .nonconnectable: "ADV_NONCONN_IND"
        case .scannable: "ADV_SCAN_IND"
        case .connectable: "ADV_IND"
        }
    }
}
