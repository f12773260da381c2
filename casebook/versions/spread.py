"""Many jobs at once: on the cores of this machine, or on the workers of a Dask cluster. Results come as they are ready."""
import concurrent.futures
import os
from contextlib import contextmanager

from ..errors import CasebookError


@contextmanager
def team(cluster=None):
    """A function each(work, jobs) that yields (number of the job, result) as they end; one without a result has {"trouble": why}.

    `cluster` is None for the cores of this machine, the address of a Dask scheduler, or "gpus" for a worker on each GPU of this machine.
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


def each_of(submit, as_completed):
    def each(work, jobs):
        waiting = {submit(work, job): number for number, job in enumerate(jobs)}
        for future in as_completed(waiting):
            try:
                result = future.result()
            except Exception as error:          # of the work, of its worker or of the cluster
                result = {"trouble": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"}
            yield waiting[future], result
    return each


@contextmanager
def dask_client(cluster):
    """A client of the cluster, and distributed's as_completed. Dask is imported here alone: nothing else needs it.

    A job whose worker is lost is done again on another one; the scheduler gives up a job that has cost it several.
    """
    try:
        import distributed
        if cluster == "gpus":
            from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise CasebookError(f"--cluster needs {error.name}: pip install {error.name.replace('_', '-')}") from None
    if cluster != "gpus":
        with distributed.Client(cluster) as client:
            yield client, distributed.as_completed
    else:
        with LocalCUDACluster(threads_per_worker=1) as local, distributed.Client(local) as client:
            yield client, distributed.as_completed
