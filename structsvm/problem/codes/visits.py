"""The compiled loop that visits examples and steps in their scores."""

from functools import cache
from typing import Any

import numpy as np

from structsvm.features.operators.views import example_add, example_gram, example_product, example_scores
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.compute.products import copy, dot
from structsvm.foundation.types import IntVector, Vector
from structsvm.problem.codes.arrays import CodeArrays, free_place, value_at
from structsvm.problem.loops import KERNEL_TYPE, LOSS_ROUNDING, SMALL_LOSS, largest_size
from structsvm.problem.planes.steps import NEW_PLANE

STEPS = 5
"""Largest number of steps between two argmaxes of an example."""

ENOUGH = 0.1
"""Part of an example's gap, at which its steps end."""

_SPARE = 1e-12
"""Smallest multiplier of the true output, as a part of the cap: less is rounding."""

PASS, NEXT, END, REASON, VISITS, CALLS, MOST = range(7)
"""Indices of ``progress``: the pass, the next example of it, the end of the stored codes, and why visits stopped early.

Then come the numbers of visits and of argmaxes, and the visits after which the next end of a pass stops the loop.
"""

TOGETHER = 8
"""Examples that are visited one after the other, because they lie side by side in memory."""

OLD = 10
"""Visits of an example without weight, after which a code is dropped."""

SKIPPED = 0.05
"""Part of the mean gap below which a pass leaves out an example."""

DONE, NO_PLACE, NO_ENTRIES, WRONG, ENOUGH_VISITS = range(5)
"""Reasons: none, an example needs one more place, codes need more entries, an argmax is wrong, time to extrapolate."""


def _coded_visits(
    kernel: Any,
    view: Any,
    shared: int,
    labels: Vector,
    label_ptr: IntVector,
    params: Vector,
    codes: Any,
    grams: Vector,
    gram_ptr: IntVector,
    blocks: IntVector,
    stride: IntVector,
    enough: float,
    most: Any,
    allowed: float,
    bounded: bool,
    unreachable: bool,
    gaps: Vector,
    progress: IntVector,
    w: Vector,
) -> None:
    all_places, earlier, where, entry, taken, caps = codes
    ptr = view.ptr
    longest, argmaxes = most
    scores, change, step, moved = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(longest)
    written, value = np.empty(longest + 1), np.empty(all_places.shape[1])
    end, n = progress[END], len(caps)
    while progress[PASS] < len(stride):
        met = gaps.sum()
        if met <= enough:
            break
        least = SKIPPED * met / n if met < np.inf else 0.0
        for k in range(progress[NEXT], len(blocks) * TOGETHER):
            i = blocks[k // TOGETHER * stride[progress[PASS]] % len(blocks)] * TOGETHER + k % TOGETHER
            if i >= n or not gaps[i] > least:
                continue
            cap, count, used, places = caps[i], ptr[i + 1] - ptr[i] + shared, taken[i], all_places[i]
            free = free_place(places, used)
            if free < 0 or end + argmaxes * count > len(where):
                progress[NEXT], progress[END] = k, end
                progress[REASON] = NO_PLACE if free < 0 else NO_ENTRIES
                return
            progress[VISITS] += 1
            s, code, out = scores[:count], written[:count], written[: count + int(bounded)]
            labels_of_i, gram = labels[label_ptr[i] : label_ptr[i + 1]], grams[gram_ptr[i] : gram_ptr[i + 1]]
            example_scores(view, i, w, s)
            spare, best, held = cap, 0.0, 0.0
            for p in range(used):
                value[p] = value_at(places[p], where, entry, s)
                spare -= places[p].a
                held += places[p].a * value[p]
                best = max(best, value[p])
            if spare < _SPARE * cap:
                spare = 0.0
            first, steps = 0.0, 0
            for round_ in range(argmaxes):
                loss = kernel(s, labels_of_i, params, out)
                progress[CALLS] += 1
                if loss < 0.0:
                    level = abs(kernel(np.zeros(count), labels_of_i, params, np.empty(len(out))))
                    if loss >= -LOSS_ROUNDING * max(level, SMALL_LOSS):
                        loss = 0.0
                new = loss - dot(code, s)
                if unreachable and new < 0.0:
                    new = 0.0
                sound = 0.0 <= loss < np.inf and new < np.inf
                if not sound or (not new >= best and not new >= best - allowed * (1.0 + largest_size(s))):
                    progress[NEXT], progress[END], progress[REASON] = i, end, WRONG
                    return
                # Steps may have moved weight to the code at the free place.
                free = free_place(places, used)
                if new > best + NEW_PLANE and free >= 0:
                    place = places[free]
                    place.start = end
                    for c in range(count):
                        if code[c] != 0.0:
                            where[end], entry[end] = c, code[c]
                            end += 1
                    place.length = end - place.start
                    place.L, place.a, place.age = loss, 0.0, 0
                    earlier[i, free] = 0.0
                    used = max(used, free + 1)
                    value[free] = best = new
                gap = cap * best - held
                if round_ == 0:
                    first = gaps[i] = gap
                if not gap > (ENOUGH * first if round_ > 0 else 0.0):
                    break
                before = steps
                for _ in range(STEPS if argmaxes == 1 else 1):
                    up, down, highest, lowest = -1, -1, 0.0, 0.0 if spare > 0.0 else np.inf
                    for p in range(used):
                        if value[p] > highest:
                            highest, up = value[p], p
                        if places[p].a > 0.0 and value[p] < lowest:
                            lowest, down = value[p], p
                    rise = highest - lowest
                    if not rise > 1e-14:
                        break
                    if steps == 0:
                        moved[:count] = 0.0
                        if len(gram) > 0 and np.isnan(gram[0]):
                            gram[:] = 0.0
                            example_gram(view, i, gram)
                    steps += 1
                    change[:count] = 0.0
                    if up >= 0:
                        for e in range(places[up].start, places[up].start + places[up].length):
                            change[where[e]] += entry[e]
                    if down >= 0:
                        for e in range(places[down].start, places[down].start + places[down].length):
                            change[where[e]] -= entry[e]
                    example_product(view, i, gram, change[:count], step[:count])
                    curvature = dot(change[:count], step[:count])
                    available = spare if down < 0 else places[down].a
                    amount = available
                    if curvature * available > rise:
                        amount = rise / curvature
                    if up >= 0:
                        places[up].a += amount
                    else:
                        spare += amount
                    if down >= 0:
                        places[down].a = 0.0 if amount == available else places[down].a - amount
                    else:
                        spare = 0.0 if amount == available else spare - amount
                    for c in range(count):
                        s[c] += amount * step[c]
                        moved[c] += amount * change[c]
                    best, held = 0.0, 0.0
                    for p in range(used):
                        value[p] = value_at(places[p], where, entry, s)
                        held += places[p].a * value[p]
                        best = max(best, value[p])
                if steps == before:
                    break
            if steps > 0:
                example_add(view, i, moved[:count], w)
            for p in range(used - 1, -1, -1):
                places[p].age = 0 if places[p].a > 0.0 else places[p].age + 1
                if places[p].age > OLD:
                    used -= 1
                    places[p] = places[used]
                    copy(earlier[i, used], earlier[i, p])
                    places[used].a = 0.0
                    earlier[i, used] = 0.0
            taken[i] = used
        progress[PASS] += 1
        progress[NEXT] = 0
        if progress[VISITS] >= progress[MOST]:
            progress[END], progress[REASON] = end, ENOUGH_VISITS
            return
    progress[END], progress[REASON] = end, DONE


@cache
def coded_visits(view: Any, keep: bool) -> Any:
    """Return the loop that visits examples for a type of view, cached on disk if ``keep``."""
    vector, index = numba.types.Array(numba.float64, 1, "C"), numba.types.Array(numba.int64, 1, "C")
    codes = numba.typeof(CodeArrays.of(np.zeros(1)))
    arguments = (
        *(KERNEL_TYPE, view, numba.int64, vector, index, vector, codes, vector, index, index, index, numba.float64),
        *(numba.types.UniTuple(numba.int64, 2), numba.float64, numba.boolean, numba.boolean, vector, index, vector),
    )
    return compiled(_coded_visits, [numba.void(*arguments)], keep=keep)
