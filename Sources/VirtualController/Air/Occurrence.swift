import HCI

/// Something planned for an instant.
enum Occurrence {
    /// An advertising set is due for its next event.
    case advertisingEvent(AdvertisingRun)
    /// The copy of an event for its next channel.
    case copy(AdvertisingEvent, index: Int)
    /// A packet has left the antenna; whoever listened all the while has it now.
    case transmitted(AirPDU, AdvertisingEvent, transmission: UInt64)
    /// A scannable advertiser answers a scan request.
    case scanResponse(AdvertisingEvent, channel: Int, to: VirtualController.ID)
    /// The answer has arrived.
    case scanResponseHeard(AirPDU, by: VirtualController.ID)
    /// An advertising set has had its time.
    case durationOver(AdvertisingRun)
    /// The events that an advertising set was allowed are sent.
    case eventsOver(AdvertisingRun)
    /// A scan pauses, resumes or ends.
    case scanTurn(VirtualController.ID, run: UInt64)
    /// A delayed packet of the host arrives.
    case toController(VirtualController.ID, HCIPacket)
    /// A delayed packet of the controller arrives.
    case toHost(VirtualController.ID, HCIPacket)

    var controller: VirtualController.ID? {
        switch self {
        case .advertisingEvent(let run), .durationOver(let run), .eventsOver(let run): run.controller
        case .copy(let event, _): event.run.controller
        case .transmitted: nil
        case .scanResponse(_, _, let scanner), .scanResponseHeard(_, let scanner): scanner
        case .scanTurn(let controller, _), .toController(let controller, _), .toHost(let controller, _): controller
        }
    }
}

/// One stretch of uninterrupted advertising by one set: what was planned for an earlier one is void.
struct AdvertisingRun: Hashable {
    let controller: VirtualController.ID
    let set: AdvertisingSetID
    let number: UInt64
}

/// One advertising event: the same PDU on each channel of the map, as the set was when the event began.
struct AdvertisingEvent {
    let run: AdvertisingRun
    let channels: [Int]
    /// Start and channel are filled in for each copy.
    let pdu: AirPDU
    /// For scannable advertisements.
    let scanResponse: AirPDU?
    let filterPolicy: AdvertisingFilterPolicy
    /// No further event follows.
    let isLast: Bool
}
