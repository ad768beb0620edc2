"""Counts checks of the project's structure, and prints what does not hold."""


class Checks:
    def __init__(self, title):
        self.title = title
        self.passed, self.failed = 0, 0

    def check(self, name, holds, sentence):
        """Count a check, and print its sentence with the verdict."""
        if holds:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{self.title}: {sentence}: {'holds' if holds else 'DOES NOT HOLD'}")

    def end(self):
        """Print the totals.

        Returns: the exit status.
        """
        print(f"{self.title}: {self.passed} passed, {self.failed} failed, 0 skipped")
        return 1 if self.failed else 0
