"""Systems of unpacked Debian packages, whose programs run by chroot."""

import os


def inside(root, shared=(), path="/usr/bin:/usr/sbin:/bin"):
    """The first words of a command that runs in a system; the folders in `shared` have the same paths there."""
    words = " ".join(f"'{root}{folder}'" for folder in shared)
    steps = [f"mkdir -p '{root}/dev' '{root}/proc' '{root}/tmp' {words}", f"mount --bind /dev '{root}/dev'"]
    steps += [f"mount -t proc proc '{root}/proc'"]
    steps += [f"mount --bind '{folder}' '{root}{folder}'" for folder in shared]
    steps += [f'exec chroot "{root}" /usr/bin/env -C "$here" HOME=/root PATH={path} "$@"']
    # Those who are not root are it in a namespace of users. In one of processes, nothing outlives the command.
    as_user = [] if os.getuid() == 0 else ["--map-root-user"]
    script = " && ".join(["here=$PWD", *steps])
    return ["unshare", *as_user, "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"]
