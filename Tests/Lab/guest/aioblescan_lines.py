"""aioblescan on hciN: one line a report, `ADDRESS RSSI PACKET`, by its own decoder. `aioblescan_lines.py N`."""
import asyncio
import signal
import sys

import aioblescan


def tell(packet):
    event = aioblescan.HCI_Event()
    event.decode(packet)
    for peer, level in zip(event.retrieve("peer"), event.retrieve("rssi"), strict=False):
        print(peer.val.upper(), level.val, packet.hex(), flush=True)


async def main():
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, ended.set)
    connect = loop._create_connection_transport
    transport, scanner = await connect(aioblescan.create_bt_socket(int(sys.argv[1])), aioblescan.BLEScanRequester, None,
                                       None)
    scanner.process = tell
    await scanner.send_scan_request()
    print("scanning", flush=True)
    await ended.wait()
    await scanner.stop_scan_request()
    await asyncio.sleep(0.5)
    transport.close()


asyncio.run(main())
