"""The minimum of a parabola plus the larger of two tangents, for line searches."""

from structsvm.foundation.compute.compilation import compiled


@compiled
def lowest_point(
    linear: float,
    curvature: float,
    low: float,
    low_value: float,
    low_slope: float,
    high: float,
    high_value: float,
    high_slope: float,
) -> float:
    """Return the t that minimizes ``t · linear + ½ t² · curvature`` plus the larger of two tangents beside it."""
    rise = low_value - low_slope * low - high_value + high_slope * high
    if curvature == 0.0:
        return rise / (high_slope - low_slope)
    left = -(linear + low_slope) / curvature
    if high_slope <= low_slope:
        return left
    right = -(linear + high_slope) / curvature
    return min(max(rise / (high_slope - low_slope), right), left)
