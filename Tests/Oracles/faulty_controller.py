"""Stock Bumble controllers on unix sockets, each with one fault that the test chooses.

`python faulty_controller.py FOLDER ROW …`: each row is a JSON object with a `fault` that happens to every command of
an `opcode`, and if wanted a `manufacturer` and `legacy` (no extended advertising). Row N is served at FOLDER/N. Prints
`ready`, then one JSON line for each command. Stock Bumble itself never answers vendor commands.
"""
import asyncio
import json
import struct
import sys

from bumble import hci
from bumble.controller import Controller
from bumble.hci import Address
from bumble.link import LocalLink
from bumble.transport import open_transport


class FaultyController(Controller):
    def __init__(self, number: int, row: dict, transport):
        super().__init__(f"faulty {number}", host_source=transport.source, host_sink=transport.sink, link=LocalLink(),
                         public_address=Address("F0:F1:F2:F3:F4:F5", Address.PUBLIC_DEVICE_ADDRESS))
        self.number, self.fault, self.opcode = number, row["fault"], row["opcode"]
        self.manufacturer_company_identifier = row.get("manufacturer", self.manufacturer_company_identifier)
        if row.get("legacy"):
            self.le_features &= ~hci.LeFeatureMask.LE_EXTENDED_ADVERTISING

    def on_packet(self, packet: bytes) -> None:
        opcode = struct.unpack_from("<H", packet, 1)[0]
        print(json.dumps({"row": self.number, "opcode": opcode, "parameters": packet[4:].hex()}), flush=True)
        if opcode == self.opcode:
            getattr(self, self.fault.replace("-", "_"))(packet)
        elif opcode in hci.HCI_Command.command_classes:
            super().on_packet(packet)

    def raw(self, octets: bytes):
        self.host.on_packet(octets)

    def complete(self, opcode: int, returned: bytes, credits: int = 1):
        self.raw(b"\x04\x0e" + struct.pack("<BBH", 3 + len(returned), credits, opcode) + returned)

    # ---- the faults
    def none(self, packet):
        super().on_packet(packet)

    def silent(self, packet):
        pass

    def late(self, packet):
        asyncio.get_running_loop().call_later(0.6, super().on_packet, packet)

    def wrong_opcode(self, packet):
        self.complete(self.opcode ^ 1, b"\0")

    def refused(self, packet):
        self.complete(self.opcode, b"\x0C")

    def status_refused(self, packet):
        self.raw(b"\x04\x0f\x04\x0c\x01" + struct.pack("<H", self.opcode))

    def zero_credits(self, packet):
        self.complete(self.opcode, b"\0", credits=0)

    def garbage(self, packet):
        self.raw(b"\x77\x42\x00\xFF" * 4)

    def cut_short(self, packet):
        self.raw(b"\x04\x0e\x02\x01\x03")

    def short_return(self, packet):
        self.complete(self.opcode, b"\0")

    def long_return(self, packet):
        self.complete(self.opcode, bytes(40))

    def vanish(self, packet):
        self.host.transport.close()

    def hardware_error(self, packet):
        self.raw(b"\x04\x10\x01\x42")

    def strange_event(self, packet):
        """Vendor, unknown LE and empty events before the right answer."""
        self.raw(b"\x04\xfe\x03\x01\x02\x03" + b"\x04\x3e\x03\x77\x01\x02" + b"\x04\x3e\x00" + b"\x04\x0e\x00")
        super().on_packet(packet)


async def main():
    folder, rows = sys.argv[1], [json.loads(row) for row in sys.argv[2:]]
    serving = [FaultyController(number, row, await open_transport(f"unix-server:{folder}/{number}"))
               for number, row in enumerate(rows)]
    print("ready" if serving else "nothing to serve", flush=True)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
