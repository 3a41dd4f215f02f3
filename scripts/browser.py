"""Find the browser that the tests of the web page drive, or install it.

    python scripts/browser.py

Debian's and Ubuntu's chromium will do. Says one line; ends well where there is none to be had, because the tests that
need it then say so and are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
TIMEOUT = 600


def main() -> None:
    found = find()
    if found is None:
        why = _install()
        found = find()
        if found is None:
            sys.stdout.write(f"browser: none ({why}); tests of the web page are skipped\n")
            return
    sys.stdout.write(f"browser: {found}\n")


def find() -> str | None:
    """Where a chromium is; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _install() -> str:
    """Install chromium by apt; why not, where that fails."""
    if shutil.which("apt-get") is None:
        return "no chromium and no apt-get; install chromium"
    rise = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if rise and shutil.which("sudo") is None:
        return "installing chromium needs root"
    for asked in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
        try:
            ran = subprocess.run(
                [*rise, "apt-get", *asked],
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            )
        except subprocess.TimeoutExpired:
            return f"apt-get took longer than {TIMEOUT} s"
        if ran.returncode:
            return f"apt-get failed: {' '.join(ran.stderr.split())[-200:]}"
    return "apt-get installed no chromium"


if __name__ == "__main__":
    main()
