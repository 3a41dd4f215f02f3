"""Find the browser that the tests of the web page drive, or install it.

    python scripts/browser.py

Debian's and Ubuntu's chromium is enough. Prints one line; succeeds even if no browser can be installed, because the
tests that need it are then skipped with a reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
TIMEOUT = 600


def main() -> None:
    browser = find()
    if browser is None:
        reason = _install()
        browser = find()
        if browser is None:
            sys.stdout.write(f"browser: none ({reason}); tests of the web page are skipped\n")
            return
    sys.stdout.write(f"browser: {browser}\n")


def find() -> str | None:
    """Return the path of a chromium browser, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _install() -> str:
    """Install chromium with apt; return the reason if that fails."""
    if shutil.which("apt-get") is None:
        return "no chromium and no apt-get; install chromium"
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if prefix and shutil.which("sudo") is None:
        return "installing chromium needs root"
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
        try:
            process = subprocess.run(
                [*prefix, "apt-get", *arguments],
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            )
        except subprocess.TimeoutExpired:
            return f"apt-get took longer than {TIMEOUT} s"
        if process.returncode:
            return f"apt-get failed: {' '.join(process.stderr.split())[-200:]}"
    return "apt-get installed no chromium"


if __name__ == "__main__":
    main()
