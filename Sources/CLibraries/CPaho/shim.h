// The MQTT client of Eclipse Paho. Swift cannot initialise its structures, because their initialisers are macros. The
// functions here initialise them.
#ifndef PHAROS_CPAHO_SHIM_H
#define PHAROS_CPAHO_SHIM_H

#include <MQTTAsync.h>

// This function is declared here, because its header would make types of the C library part of this module.
extern int eventfd(unsigned count, int flags);
static const int PHAROS_EVENTFD_FLAGS = 02004000;  // EFD_CLOEXEC | EFD_NONBLOCK

// Creates a client that uses only MQTT 3.1.1: if the broker refuses this version, the client does not try an older
// version.
static inline int pharos_mqtt_create(MQTTAsync *handle, const char *uri, const char *client) {
    MQTTAsync_createOptions options = MQTTAsync_createOptions_initializer;
    options.MQTTVersion = MQTTVERSION_3_1_1;
    return MQTTAsync_createWithOptions(handle, uri, client, MQTTCLIENT_PERSISTENCE_NONE, NULL, &options);
}

typedef struct {
    int keepAliveSeconds, timeoutSeconds;
    // The user name; NULL if there is none.
    const char *user;
    const void *password;
    int passwordLength;
    // The topic of the last will; NULL if there is no last will.
    const char *willTopic;
    const void *will;
    int willLength, willQuality, willIsRetained;
    // `isSecure` is 1 to use TLS. `authorities` is NULL to trust the system's certificate authorities. `certificate`
    // and `key` are NULL if the client has no certificate.
    int isSecure;
    const char *authorities, *certificate, *key;
} pharos_mqtt_connection;

typedef int pharos_mqtt_tls_error(const char *text, size_t length, void *context);

// Starts to connect. All parameters are copied before the function returns.
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

// Sends a message. `token` receives the number that `success` and `failure` use for the message; 0 for none.
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

// Subscribes to a topic. `token` receives the number that `success` and `failure` use for the subscription. A broker
// that refuses the subscription answers with a quality of service of 0x80.
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
