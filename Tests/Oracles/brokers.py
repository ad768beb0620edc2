"""Brokers of MQTT on loopback, readers of everything that is published there, and certificates for them."""
import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import paho.mqtt.client as mqtt

import peers

MOSQUITTO = "/usr/sbin/mosquitto"
NATS = "/usr/sbin/nats-server"
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"


class Broker:
    """mosquitto on one port, which may be ended and started again."""

    def __init__(self, start, folder: Path, *lines: str, port: int | None = None):
        self.start_process, self.port = start, port or peers.free_port()
        text = [f"listener {self.port} 127.0.0.1", "persistence false", "user root"]
        self.file = folder / f"mosquitto-{self.port}.conf"
        self.file.write_text("\n".join([*text, *(lines or ["allow_anonymous true"])]) + "\n")
        self.start()

    def start(self):
        self.peer = self.start_process(MOSQUITTO, "-c", self.file)
        await_port(self.port)

    def stop(self):
        self.peer.end()

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"


class Nats:
    """nats-server with JetStream, which its MQTT needs."""

    def __init__(self, start, folder: Path):
        self.port = peers.free_port()
        file = folder / "nats.conf"
        file.write_text(f"""server_name: judge
            host: 127.0.0.1
            port: {peers.free_port()}
            jetstream {{ store_dir: "{folder}/nats" }}
            mqtt {{ host: 127.0.0.1, port: {self.port} }}
            """)
        self.peer = start(NATS, "-c", file)
        await_port(self.port)

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def end(self):
        self.peer.end()


class RabbitMQ:
    """RabbitMQ with its plugin for MQTT; its nodes talk on loopback, by a port mapper of its own."""

    def __init__(self, start, folder: Path):
        self.port, names = peers.free_port(), peers.free_port()
        place = folder / "rabbitmq"
        place.mkdir()
        (place / "plugins").write_text("[rabbitmq_mqtt].\n")
        (place / "rabbitmq.conf").write_text(f"""listeners.tcp = none
            mqtt.listeners.tcp.1 = 127.0.0.1:{self.port}
            mqtt.allow_anonymous = true
            """)
        variables = os.environ | {
            "HOME": str(place), "ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_EPMD_PORT": str(names),
            "RABBITMQ_NODENAME": "judge@localhost", "RABBITMQ_DIST_PORT": str(peers.free_port()),
            "RABBITMQ_CONFIG_FILE": str(place / "rabbitmq.conf"), "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(place / "plugins"), "RABBITMQ_MNESIA_BASE": str(place / "data"),
            "RABBITMQ_LOG_BASE": str(place), "RABBITMQ_LOGS": "-",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }
        start("/usr/bin/epmd", "-address", "127.0.0.1", "-port", names, env=variables)
        await_port(names)
        self.peer = start(RABBITMQ, env=variables)
        await_port(self.port, 90)

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def end(self):
        """It needs seconds to end what it has started."""
        self.peer.interrupt(signal.SIGTERM, 60)


def await_port(port: int, seconds: float = 15):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline, f"nobody listens on port {port}"
            time.sleep(0.05)


class Message:
    """One message as it came: `value` is its JSON, or its text where it is none."""

    def __init__(self, message):
        self.at, self.topic, self.payload, self.retained = (
            time.monotonic(), message.topic, message.payload, message.retain)
        self.quality = message.qos

    @property
    def value(self):
        try:
            return json.loads(self.payload)
        except ValueError:
            return self.payload.decode(errors="replace")

    def __repr__(self):
        return f"{self.topic} {self.payload[:200]!r}{' (retained)' if self.retained else ''}"


class Reader:
    """Reads all messages that a broker gets from now on, and can publish some itself."""

    def __init__(self, port: int, *topics: str):
        self.messages: list[Message] = []
        self._changed = threading.Condition()
        self._topics = topics or ("#",)
        self._subscribed = threading.Event()
        self._client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        self._client.reconnect_delay_set(1, 1)
        self._client.on_connect = lambda client, *_: client.subscribe([(topic, 1) for topic in self._topics])
        self._client.on_subscribe = lambda *_: self._subscribed.set()
        self._client.on_message = lambda _, __, message: self._take(Message(message))
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()
        assert self._subscribed.wait(10)

    def _take(self, message: Message):
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()

    def say(self, topic: str, payload, retain=False):
        self._client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(20)

    def await_again(self, happens):
        """Does something after which it reads on."""
        self._subscribed.clear()
        happens()
        assert self._subscribed.wait(10)

    def of(self, topic: str) -> list[Message]:
        return [message for message in list(self.messages) if message.topic == topic]

    def wait(self, topic: str, wanted=lambda value: True, timeout: float = 15, after: int = 0) -> Message:
        """The first message of a topic that is wanted, among those behind the first `after`."""
        deadline, seen = time.monotonic() + timeout, after
        with self._changed:
            while True:
                for message in self.messages[seen:]:
                    if message.topic == topic and wanted(message.value):
                        return message
                seen = len(self.messages)
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    said = [message for message in self.messages if message.topic == topic][-5:]
                    raise AssertionError(f"nothing that is wanted came on {topic}; there came {said}")

    def end(self):
        self._client.disconnect()
        self._client.loop_stop()


def certificates(folder: Path) -> dict[str, Path]:
    """An authority, a certificate for 127.0.0.1, one for another host, and one of an unknown authority."""
    def run(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)

    found = {}
    for name in ("authority", "unknown"):
        found[name], key = folder / f"{name}.pem", folder / f"{name}.key"
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", key, "-out", found[name])
    for name, alternative, authority in (("good", "IP:127.0.0.1,DNS:localhost", "authority"),
                                         ("elsewhere", "DNS:broker.example", "authority"),
                                         ("stranger", "IP:127.0.0.1", "unknown"),
                                         ("client", "DNS:hall", "authority")):
        request, extension = folder / f"{name}.csr", folder / f"{name}.ext"
        found[name], found[f"{name}-key"] = folder / f"{name}.pem", folder / f"{name}.key"
        run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
            "-keyout", found[f"{name}-key"], "-out", request)
        extension.write_text(f"subjectAltName={alternative}\n")
        run("x509", "-req", "-in", request, "-CA", found[authority], "-CAkey", folder / f"{authority}.key",
            "-CAcreateserial", "-days", "2", "-extfile", extension, "-out", found[name])
        found[f"{name}-key"].chmod(0o600)
    return found
