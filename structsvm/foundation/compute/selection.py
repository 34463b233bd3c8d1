"""Select the largest numbers without sorting."""

from typing import Any

from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled


@compiled
def largest_to_front(values: NDArray[Any], k: int) -> Any:
    """Move the k largest values to the front and return the smallest of them (Hoare's FIND); 1 ≤ k ≤ n, no NaN."""
    low, high = 0, len(values) - 1
    while low < high:
        one, two, three = values[low], values[(low + high) >> 1], values[high]
        pivot = max(min(one, two), min(max(one, two), three))
        left, right = low, high
        while left <= right:
            while values[left] > pivot:
                left += 1
            while values[right] < pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    return values[k - 1]
