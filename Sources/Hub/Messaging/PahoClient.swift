internal import CPaho
internal import Glibc

/// A handle of the MQTT library Paho. Its callbacks add notices to a ``BrokerInbox``.
///
/// Call no function before the connection attempt has ended: Paho would block until the host name is resolved.
@safe final class PahoClient {
    private var handle: MQTTAsync?
    private let context: UnsafeMutableRawPointer
    private let options: BrokerOptions

    init(_ options: BrokerOptions, _ inbox: BrokerInbox) throws(BrokerError) {
        self.options = options
        unsafe context = Unmanaged.passRetained(inbox).toOpaque()
        let host = options.host.utf8.contains(UInt8(ascii: ":")) ? "[\(options.host)]" : options.host
        let address = "\(options.isSecure ? "ssl" : "tcp")://\(host):\(options.port)"
        guard unsafe pharos_mqtt_create(&handle, address, options.clientName) == 0 else {
            throw .file("\(options.name): the address of the broker is invalid")
        }
        unsafe MQTTAsync_setCallbacks(
            handle, context,
            { context, _ in unsafe BrokerInbox.of(context)?.add(.lost) },
            { context, topic, length, message in
                unsafe BrokerInbox.of(context)?.offer(topic, Int(length), message)
                var (topic, message) = unsafe (topic, message)
                unsafe MQTTAsync_freeMessage(&message)
                unsafe MQTTAsync_free(topic)
                unsafe topic = nil
                return 1
            }, nil)
    }

    deinit { unsafe MQTTAsync_destroy(&handle) }

    /// Begins to connect. Returns false if Paho refuses to begin; otherwise a later notice in the inbox has the result.
    func connect() -> Bool {
        // Paho copies all texts that it receives, so they are freed at the end of this function.
        var texts: [UnsafeMutablePointer<CChar>] = unsafe []
        defer { unsafe texts.forEach { unsafe free($0) } }
        func kept(_ text: String?) -> UnsafePointer<CChar>? {
            guard let text, let copy = unsafe strdup(text) else { return nil }
            unsafe texts.append(copy)
            return unsafe UnsafePointer(copy)
        }
        var connection = unsafe pharos_mqtt_connection()
        unsafe connection.keepAliveSeconds = options.keepAliveSeconds
        unsafe connection.timeoutSeconds = 10
        unsafe connection.user = kept(options.user?.name)
        unsafe connection.isSecure = options.isSecure ? 1 : 0
        unsafe connection.authorities = kept(options.authorityFile)
        unsafe connection.certificate = kept(options.certificateFile)
        unsafe connection.key = kept(options.keyFile)
        unsafe connection.willTopic = kept(options.will?.topic)
        unsafe connection.willQuality = options.will?.isAssured == true ? 1 : 0
        unsafe connection.willIsRetained = options.will?.isRetained == true ? 1 : 0
        return unsafe (options.user?.password ?? []).withUnsafeBytes { password in
            unsafe (options.will?.payload ?? []).withUnsafeBytes { will in
                unsafe connection.password = options.user == nil ? nil : password.baseAddress
                unsafe connection.passwordLength = Int32(password.count)
                unsafe connection.will = will.baseAddress
                unsafe connection.willLength = Int32(will.count)
                return unsafe pharos_mqtt_connect(
                    handle, context, connection,
                    { context, _ in unsafe BrokerInbox.of(context)?.add(.connected) },
                    { context, data in
                        let text = unsafe data?.pointee.message.map { unsafe String(cString: $0) }
                        unsafe BrokerInbox.of(context)?.add(.refused(code: data?.pointee.code ?? -1, text: text))
                    },
                    { text, length, context in
                        let octets = unsafe UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : length)
                        unsafe BrokerInbox.of(context)?.addTLSError(String(decoding: octets, as: UTF8.self))
                        return 1
                    }) == 0
            }
        }
    }

    /// Subscribes to a topic filter.
    ///
    /// - Returns: The number of the subscription, which the notice with the broker's answer repeats; `nil` if Paho did
    ///   not accept the subscription.
    func subscribe(_ filter: String) -> Int32? {
        var token: Int32 = 0
        let result = unsafe pharos_mqtt_subscribe(
            handle, context, filter, 1,
            { context, data in
                let isGranted = unsafe data?.pointee.alt.qos != 0x80
                unsafe BrokerInbox.of(context)?.add(.subscribed(data?.pointee.token ?? 0, isGranted: isGranted))
            },
            { context, data in
                unsafe BrokerInbox.of(context)?.add(.subscribed(data?.pointee.token ?? 0, isGranted: false))
            },
            &token)
        return result == 0 ? token : nil
    }

    /// Sends a message.
    ///
    /// - Returns: The number of the message, which the notice with the result repeats, or 0 for QoS 0; `nil` if Paho
    ///   did not accept the message.
    func send(_ message: Publication) -> Int32? {
        var token: Int32 = 0
        let result = unsafe message.payload.withUnsafeBytes { payload in
            unsafe pharos_mqtt_send(
                handle, context, message.topic, payload.baseAddress, Int32(payload.count), message.isAssured ? 1 : 0,
                message.isRetained ? 1 : 0,
                { context, data in unsafe BrokerInbox.of(context)?.add(.delivered(data?.pointee.token ?? 0)) },
                { context, data in unsafe BrokerInbox.of(context)?.add(.undelivered(data?.pointee.token ?? 0)) },
                &token)
        }
        return result == 0 ? token : nil
    }

    /// Begins to disconnect regularly, so that the broker does not publish the will message. Returns false if Paho
    /// refuses to begin; otherwise a notice in the inbox follows when the client is disconnected.
    func disconnect() -> Bool {
        unsafe pharos_mqtt_disconnect(
            handle, context, 200, { context, _ in unsafe BrokerInbox.of(context)?.add(.disconnected) },
            { context, _ in unsafe BrokerInbox.of(context)?.add(.disconnected) }) == 0
    }
}

extension BrokerInbox {
    /// Returns the inbox to which the context of a callback refers.
    static func of(_ context: UnsafeMutableRawPointer?) -> BrokerInbox? {
        unsafe context.map { unsafe Unmanaged<BrokerInbox>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Adds a received message.
    ///
    /// - Parameter length: The length of the topic in bytes, or 0 if the topic ends at its first zero byte. If the
    ///   length differs from the length of the C string, the topic contains a zero byte, and the message is dropped.
    func offer(_ topic: UnsafePointer<CChar>?, _ length: Int, _ message: UnsafePointer<MQTTAsync_message>?) {
        guard let topic = unsafe topic, let message = unsafe message,
            unsafe length <= 0 || strlen(topic) == length
        else {
            return offer(octets: Int.max) { nil }
        }
        let count = Int(unsafe message.pointee.payloadlen)
        offer(octets: count) {
            guard let name = unsafe String(validatingCString: topic) else { return nil }
            let octets = unsafe Array(UnsafeRawBufferPointer(start: message.pointee.payload, count: count))
            return Publication(
                name, octets, isRetained: unsafe message.pointee.retained != 0,
                isAssured: unsafe message.pointee.qos != 0)
        }
    }
}
