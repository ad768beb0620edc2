"""A kernel that is too strict, made from one that is not.

Some kernels of 2026 refuse the management command Add Extended Advertising Data (0x0055) unless it is exactly as long
as its data. BlueZ sends more, so `bluetoothctl advertise` fails there.
"""

import re

from . import kernel
from .initramfs import Archive

# In add_ext_adv_data(): lea 3(%rdx,%rax), %eax; cmp %ax, LENGTH; jb.
LENGTH_CHECK = re.compile(rb"\x8d\x44\x02\x03\x66\x41?\x39.\x0f\x82", re.DOTALL)
SIGNATURE = b"~Module signature appended~\n"


def make_strict(module):
    """The module bluetooth with one jump changed from "below" to "not equal".

    Returns `None` if this kernel does not look at the length.
    """
    found = list(LENGTH_CHECK.finditer(module))
    if len(found) != 1:
        return None
    jump = found[0].end() - 1
    # The kernel refuses a module with a wrong signature, and takes one without a signature.
    unsigned = module.removesuffix(SIGNATURE)
    return unsigned[:jump] + b"\x85" + unsigned[jump + 1 :]


def write_archive(root, path):
    """Writes an archive with the strict module, which the guest loads instead of the other one.

    It is empty if the kernel cannot be made strict.
    """
    archive = Archive()
    if strict := make_strict(kernel.modules(root)["bluetooth"]):
        archive.add_content("strict/bluetooth.ko", strict)
    archive.write(path)
