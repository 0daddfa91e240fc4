"""Runs every test of this folder; the last line counts them."""

import sys
import unittest

result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.discover("."))
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
# A skipped test has shown nothing.
failed += len(result.skipped)
print(f"{result.testsRun - failed} passed, {failed} failed", flush=True)
sys.exit(failed > 0)
