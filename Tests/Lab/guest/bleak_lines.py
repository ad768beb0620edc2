"""bleak on hciN: one JSON line whenever it tells of a device. `bleak_lines.py N active|passive SECONDS`."""
import asyncio
import json
import sys

from bleak import BleakScanner
from bleak.args.bluez import AdvertisementDataType, OrPattern


def tell(device, data):
    print(json.dumps({"address": device.address, "rssi": data.rssi, "service": {
        uuid: octets.hex() for uuid, octets in data.service_data.items()}, "manufacturer": {
            f"{company:04x}": octets.hex() for company, octets in data.manufacturer_data.items()}}), flush=True)


async def main():
    adapter, mode, seconds = sys.argv[1:]
    patterns = [OrPattern(0, AdvertisementDataType.MANUFACTURER_SPECIFIC_DATA, b"\x4c\x00\x02\x15"),
                OrPattern(0, AdvertisementDataType.SERVICE_DATA_UUID16, b"\xaa\xfe")]
    more = {"or_patterns": patterns} if mode == "passive" else {}
    async with BleakScanner(tell, scanning_mode=mode, bluez={"adapter": f"hci{adapter}", **more}):
        print("scanning", flush=True)
        await asyncio.sleep(float(seconds))


asyncio.run(main())
