// Eclipse Paho's client of MQTT, with what of it Swift cannot say: structures that begin as macros.
#ifndef PHAROS_CPAHO_SHIM_H
#define PHAROS_CPAHO_SHIM_H

#include <MQTTAsync.h>

// Not from its header, which would make the C library's types this module's.
extern int eventfd(unsigned count, int flags);
static const int PHAROS_EVENTFD_FLAGS = 02004000;  // EFD_CLOEXEC | EFD_NONBLOCK

// MQTT 3.1.1 and nothing else: a broker that refuses it is not asked again in an older way.
static inline int pharos_mqtt_create(MQTTAsync *handle, const char *uri, const char *client) {
    MQTTAsync_createOptions options = MQTTAsync_createOptions_initializer;
    options.MQTTVersion = MQTTVERSION_3_1_1;
    return MQTTAsync_createWithOptions(handle, uri, client, MQTTCLIENT_PERSISTENCE_NONE, NULL, &options);
}

typedef struct {
    int keepAliveSeconds, timeoutSeconds;
    // NULL without.
    const char *user;
    const void *password;
    int passwordLength;
    // NULL without a last will.
    const char *willTopic;
    const void *will;
    int willLength, willQuality, willIsRetained;
    // Whether TLS is spoken; NULL for the system's authorities, and without a certificate of our own.
    int isSecure;
    const char *authorities, *certificate, *key;
} pharos_mqtt_connection;

typedef int pharos_mqtt_tls_error(const char *text, size_t length, void *context);

// Everything is copied before it returns.
static inline int pharos_mqtt_connect(
    MQTTAsync handle, void *context, pharos_mqtt_connection from, MQTTAsync_onSuccess *success,
    MQTTAsync_onFailure *failure, pharos_mqtt_tls_error *explain
) {
    MQTTAsync_connectOptions options = MQTTAsync_connectOptions_initializer;
    MQTTAsync_willOptions will = MQTTAsync_willOptions_initializer;
    MQTTAsync_SSLOptions tls = MQTTAsync_SSLOptions_initializer;
    options.MQTTVersion = MQTTVERSION_3_1_1;
    options.cleansession = 1;
    options.keepAliveInterval = from.keepAliveSeconds;
    options.connectTimeout = from.timeoutSeconds;
    options.username = from.user;
    options.binarypwd.data = from.password;
    options.binarypwd.len = from.passwordLength;
    if (from.willTopic) {
        will.topicName = from.willTopic;
        will.payload.data = from.will;
        will.payload.len = from.willLength;
        will.qos = from.willQuality;
        will.retained = from.willIsRetained;
        options.will = &will;
    }
    if (from.isSecure) {
        tls.trustStore = from.authorities;
        tls.keyStore = from.certificate;
        tls.privateKey = from.key;
        tls.enableServerCertAuth = 1;
        tls.verify = 1;
        tls.sslVersion = MQTT_SSL_VERSION_DEFAULT;
        tls.ssl_error_cb = explain;
        tls.ssl_error_context = context;
        options.ssl = &tls;
    }
    options.onSuccess = success;
    options.onFailure = failure;
    options.context = context;
    return MQTTAsync_connect(handle, &options);
}

// `token` becomes the number under which `success` and `failure` speak of the message; 0 for none.
static inline int pharos_mqtt_send(
    MQTTAsync handle, void *context, const char *topic, const void *payload, int length, int quality, int isRetained,
    MQTTAsync_onSuccess *success, MQTTAsync_onFailure *failure, int *token
) {
    MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
    options.context = context;
    options.onSuccess = success;
    options.onFailure = failure;
    int result = MQTTAsync_send(handle, topic, length, payload, quality, isRetained, &options);
    *token = options.token;
    return result;
}

static inline int pharos_mqtt_disconnect(
    MQTTAsync handle, void *context, int milliseconds, MQTTAsync_onSuccess *success, MQTTAsync_onFailure *failure
) {
    MQTTAsync_disconnectOptions options = MQTTAsync_disconnectOptions_initializer;
    options.timeout = milliseconds;
    options.context = context;
    options.onSuccess = success;
    options.onFailure = failure;
    return MQTTAsync_disconnect(handle, &options);
}

// `token` becomes the number under which `success` and `failure` speak of the subscription. A broker that refuses it
// answers with a quality of 0x80.
static inline int pharos_mqtt_subscribe(
    MQTTAsync handle, void *context, const char *topic, int quality, MQTTAsync_onSuccess *success,
    MQTTAsync_onFailure *failure, int *token
) {
    MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
    options.context = context;
    options.onSuccess = success;
    options.onFailure = failure;
    int result = MQTTAsync_subscribe(handle, topic, quality, &options);
    *token = options.token;
    return result;
}

#endif
