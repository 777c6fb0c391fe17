"""Compact letter displays for ties."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from rankeval_pd.stats._types import BoolArray


def letters(told_apart: BoolArray) -> list[str]:
    """Return the letters for each row; two rows share a letter if and only if they are tied.

    A compact letter display is a small clique cover of the graph of ties. Each clique grows from a
    tie that is not yet covered, and redundant cliques are removed (Piepho 2004). Maximal cliques
    are not enumerated. If this greedy cover has more than m**2 / 4 cliques, a cover by at most
    m**2 / 4 edges and triangles is used instead (Erdos, Goodman and Posa 1966).

    Parameters
    ----------
    told_apart : array (m, m) of bool
        Symmetric matrix of significant differences. The diagonal is ignored. Rows are ordered from
        best to worst, and the first row gets "a".

    Returns
    -------
    list of str
        Letters a to z, then aa, ab and so on, separated by spaces.

    References
    ----------
    H.-P. Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons.
    J. Gramm et al. (2007), Algorithms for compact letter displays: comparison and evaluation.
    P. Erdos, A. Goodman and L. Posa (1966), The representation of a graph by set intersections.
    """
    tied = ~np.asarray(told_apart, dtype=bool)
    np.fill_diagonal(tied, val=False)
    m = len(tied)
    cliques = _swept(_greedy(tied), m)
    if len(cliques) > m * m // 4:
        cliques = _edges_and_triangles(tied)
    alone = [[int(i)] for i in np.flatnonzero(~tied.any(axis=1))]
    named = sorted([*cliques, *alone])
    several = len(named) > len(ascii_lowercase)
    of_rows: list[list[str]] = [[] for _ in range(m)]
    for number, clique in enumerate(named):
        for row in clique:
            of_rows[row].append(_name(number))
    return [(" " if several else "").join(own) for own in of_rows]


def _name(number: int) -> str:
    """Return the name of a letter: a, b, ... z, aa, ab, ..."""
    more, last = divmod(number, len(ascii_lowercase))
    return (_name(more - 1) if more else "") + ascii_lowercase[last]


def _greedy(tied: BoolArray) -> list[list[int]]:
    """Return cliques that cover all ties, each grown from the first uncovered tie."""
    left = np.triu(tied)
    cliques = []
    for i in range(len(tied)):
        while left[i].any():
            clique = [i, int(left[i].argmax())]
            fits = tied[clique].all(axis=0)
            while fits.any():
                # among the rows that fit, take the row with the most uncovered ties; if several
                # rows have the same number, take the best row
                gained = (left[clique].sum(axis=0) + left[:, clique].sum(axis=1)) * fits + fits
                clique.append(int(gained.argmax()))
                fits &= tied[clique[-1]]
            clique.sort()
            left[np.ix_(clique, clique)] = False
            cliques.append([int(row) for row in clique])
    return cliques


def _swept(cliques: list[list[int]], m: int) -> list[list[int]]:
    """Return the cliques that are not redundant; small cliques are dropped first."""
    shown = np.zeros((m, m), dtype=int)
    for clique in cliques:
        shown[np.ix_(clique, clique)] += 1
    kept = []
    for clique in sorted(cliques, key=len):
        here = np.ix_(clique, clique)
        off = ~np.eye(len(clique), dtype=bool)
        if (shown[here][off] > 1).all():
            shown[here] -= 1
        else:
            kept.append(clique)
    return kept


def _edges_and_triangles(tied: BoolArray) -> list[list[int]]:
    """Return at most m**2 / 4 edges and triangles that cover all ties."""
    left = tied.copy()
    cliques = []
    while left.any():
        i, j = (int(x) for x in np.unravel_index(left.argmax(), left.shape))
        both = np.flatnonzero(left[i] & left[j])
        cliques += [sorted([i, j, int(k)]) for k in both]
        cliques += [] if both.size else [sorted([i, j])]
        for one, other in ((i, j), (j, i)):
            cliques += [
                sorted([one, int(k)])
                for k in np.flatnonzero(left[one] & ~left[other])
                if k != other
            ]
        left[[i, j]] = left[:, [i, j]] = False
    return cliques
