"""What all protocols do with long work: the parts that are missing are run in processes, and each is kept when done."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any, TypeVar

from joblib import cpu_count

from structsvm.compute.processes import spread
from structsvm.protocols.pick import Progress
from structsvm.storage.records import Kind, Records, versions

T = TypeVar("T")


def run_missing(
    kept: Records[T] | None,
    kind: Kind[T],
    keys: Sequence[Any],
    run: Callable[..., T],
    tasks: Callable[[Sequence[Any]], Iterable[tuple[Any, ...]]],
    *,
    jobs: int | None,
    progress: Progress | None,
) -> tuple[T, ...]:
    """Run the parts of a work that are not done yet, and return all of them, in the order of their keys.

    Parameters
    ----------
    kept : the parts that are done, and where further ones are kept; None: nowhere.
    kind : of work.
    keys : of all parts.
    run : returns a part; of a module that can be imported.
    tasks : returns the arguments of ``run`` for the keys that are missing; not called where none is.
    jobs : processes; None: as many as there are processors.
    progress : is shown how many parts are done and how many there are.

    Raises
    ------
    InputError : when parts are missing and others were made by other versions.
    KeyboardInterrupt : after Ctrl-C; the processes are ended, and finished parts are kept.
    """
    done = {kind.key(part): part for part in kept.parts} if kept else {}
    missing = [key for key in keys if key not in done]
    if progress:
        progress(len(done), len(keys))
    if missing and kept:
        kept.require_versions(versions())
    if missing:
        with closing(spread(run, tasks(missing), min(jobs or cpu_count(), len(missing)))) as finished:
            for part in finished:
                if kept:
                    kept.append(part)
                done[kind.key(part)] = part
                if progress:
                    progress(len(done), len(keys))
    return tuple(done[key] for key in keys)
