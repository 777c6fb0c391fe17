"""Contact sheets of every plot in every setting of ``test_every_plot.py``, to be looked at.

``python -m tests.tools.contact_sheets FOLDER`` writes a PNG file for each plot.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from tests.plotting.test_every_plot import SETTINGS, picture
from tests.questions import PLOTS


def main() -> None:
    """Draw a sheet for each plot: a row for each theme, with four settings."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "contact_sheets")
    folder.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    for name in PLOTS:
        sheet, cells = plt.subplots(3, 4, figsize=(20, 11.25))
        for cell, setting in zip(cells.ravel(), SETTINGS, strict=True):
            figure, *_ = picture(name, *setting)
            figure.canvas.draw()
            cell.imshow(np.asarray(figure.canvas.buffer_rgba()))
            cell.set_axis_off()
            plt.close(figure)
        sheet.subplots_adjust(0, 0, 1, 1, 0.02, 0.02)
        sheet.savefig(folder / f"{name.replace(' ', '_')}.png", facecolor="0.6")
        plt.close(sheet)
        print(name, flush=True)


if __name__ == "__main__":
    main()
