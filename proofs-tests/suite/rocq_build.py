"""Compiles Rocq files in dependency order, as many at a time as there are processors. A file is compiled again only if its
text or that of a file below it has changed."""

import concurrent.futures
import hashlib
import os
import pathlib
import re

from process import run

REQUIRE = re.compile(r"From\s+Exocheck\s+Require\s+(?:Import|Export)\s+([\w\s]+?)\.(?=\s|$)")
COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)


def dependencies(text):
    """The modules of the project that a file needs."""
    return {name for names in REQUIRE.findall(COMMENT.sub(" ", text)) for name in names.split()}


class Library:
    """Rocq files copied to one folder and compiled there under the logical path Exocheck."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.texts = {}
        self._digests = {}

    def add(self, module, text):
        self.texts[module] = text
        file = self.folder / f"{module}.v"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")

    def _below(self, module):
        return dependencies(self.texts[module]) & set(self.texts)

    def _digest(self, module):
        if module not in self._digests:
            parts = [self.texts[module], *(self._digest(d) for d in sorted(self._below(module)))]
            self._digests[module] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return self._digests[module]

    def compile(self, timeout=300):
        """Module -> what coqc said, "" if it is compiled. A module above a failed one fails, too."""
        pending, messages, running = dict.fromkeys(self.texts), {}, {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            while pending or running:
                for module in [m for m in pending if self._below(m) <= set(messages)]:
                    del pending[module]
                    failed = [d for d in self._below(module) if messages[d]]
                    if failed:
                        messages[module] = f"needs {failed[0]}, which is not compiled"
                    else:
                        running[pool.submit(self._one, module, timeout)] = module
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    messages[running.pop(future)] = future.result()
        return messages

    def _one(self, module, timeout):
        stamp = self.folder / f"{module}.digest"
        if (self.folder / f"{module}.vo").exists() and stamp.exists() and stamp.read_text() == self._digest(module):
            return ""
        stamp.unlink(missing_ok=True)
        result = self.coqc(self.folder / f"{module}.v", timeout)
        if result.code != 0:
            return f"{result.code}: {result.out}{result.err}"
        (self.folder / f"{module}.out").write_text(result.out, encoding="utf-8")
        stamp.write_text(self._digest(module))
        return ""

    def output(self, module):
        return (self.folder / f"{module}.out").read_text(encoding="utf-8")

    def coqc(self, file, timeout=120):
        # In that folder, because coqc leaves files behind.
        return run(["coqc", "-q", "-Q", self.folder, "Exocheck", file], timeout=timeout, directory=self.folder)
