"""Many jobs at once: on the cores of this machine, or on the workers of a Dask cluster."""

import concurrent.futures
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from casebook.environments import gpu
from casebook.errors import CasebookError

# each(work, jobs): the number of a job, its result, and "" or why there is none, as they end.
Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[int, Any, str]]]


@contextmanager
def executor(cluster: str | None = None) -> Iterator[Each]:
    """A function that does jobs at once, of the form Each.

    `cluster` is None for the cores of this machine, the address of a Dask scheduler, or "gpus" for
    a worker on each GPU of this machine.
    """
    if cluster is None:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
            try:
                yield each_of(threads.submit, concurrent.futures.as_completed)
            finally:
                threads.shutdown(cancel_futures=True)
    else:
        with dask_client(cluster) as (client, as_completed):
            yield each_of(lambda work, job: client.submit(work, job, pure=False), as_completed)


def each_of(submit: Callable[..., Any], as_completed: Callable[..., Any]) -> Each:
    def each(work: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any, str]]:
        waiting = {submit(work, job): number for number, job in enumerate(jobs)}
        for future in as_completed(waiting):
            try:
                result, why = future.result(), ""
            except CasebookError as error:
                result, why = None, str(error)
            except Exception as error:  # of the work, of its worker or of the cluster
                result, why = None, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            yield waiting[future], result, why

    return each


@contextmanager
def dask_client(cluster: str) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """A client of the cluster, and distributed's as_completed. Dask is imported here alone.

    A job whose worker is lost is done again on another one; the scheduler gives up a job that has
    cost it several.
    """
    try:
        import distributed

        if cluster == "gpus":
            from dask_cuda import LocalCUDACluster
    except ImportError as error:
        package = str(error.name).replace("_", "-")
        raise CasebookError(f"--cluster needs {error.name}: pip install {package}") from None
    if cluster == "gpus":
        with LocalCUDACluster(**workers()) as local, distributed.Client(local) as client:
            yield client, distributed.as_completed
        return
    try:
        client = distributed.Client(cluster)
    except (OSError, ValueError) as error:
        raise CasebookError(f"--cluster {cluster}: no Dask scheduler there ({error})") from None
    with client:
        yield client, distributed.as_completed


def workers() -> dict[str, Any]:
    """What LocalCUDACluster is told. It gives each worker all GPUs in CUDA_VISIBLE_DEVICES, its own
    first, and the cores near that one.

    Of two jobs at a time, one makes its environment while the other one has the GPU; with more, the
    jobs are dealt out before it shows which GPU is the first to be free. No dashboard is opened, so
    that nothing listens on a port that another cluster has.
    """
    if not gpu.find():
        raise CasebookError("--cluster gpus: this machine has no NVIDIA GPU")
    return {"threads_per_worker": 2, "dashboard_address": None}
