"""Many jobs at once: on the cores of this machine, or on the workers of a Dask cluster. Results come as they are ready."""

import concurrent.futures
import os
from contextlib import contextmanager

from casebook.environments import gpu
from casebook.errors import CasebookError


@contextmanager
def team(cluster=None, at_once=2):
    """A function each(work, jobs) that yields (number of the job, result) as they end; one without a result has {"trouble": why}.

    `cluster` is None for the cores of this machine, the address of a Dask scheduler, or "gpus" for a worker on each GPU of this machine.
    `at_once`: the jobs that such a worker does at a time. With two, one makes its environment while the other one has the GPU; with
    more, the jobs are dealt out before it shows which GPU is the first to be free.
    """
    if cluster is None:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
            try:
                yield each_of(threads.submit, concurrent.futures.as_completed)
            finally:
                threads.shutdown(cancel_futures=True)
    else:
        with dask_client(cluster, at_once) as (client, as_completed):
            yield each_of(lambda work, job: client.submit(work, job, pure=False), as_completed)


def each_of(submit, as_completed):
    def each(work, jobs):
        waiting = {submit(work, job): number for number, job in enumerate(jobs)}
        for future in as_completed(waiting):
            try:
                result = future.result()
            except Exception as error:  # of the work, of its worker or of the cluster
                result = {"trouble": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"}
            yield waiting[future], result

    return each


@contextmanager
def dask_client(cluster, at_once):
    """A client of the cluster, and distributed's as_completed. Dask is imported here alone: nothing else needs it.

    A job whose worker is lost is done again on another one; the scheduler gives up a job that has cost it several.
    """
    try:
        import distributed

        if cluster == "gpus":
            from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise CasebookError(
            f"--cluster needs {error.name}: pip install {error.name.replace('_', '-')}"
        ) from None
    if cluster != "gpus":
        try:
            client = distributed.Client(cluster)
        except (OSError, ValueError) as error:
            raise CasebookError(f"--cluster {cluster}: no Dask scheduler there ({error})") from None
        with client:
            yield client, distributed.as_completed
    else:
        with LocalCUDACluster(**workers(at_once)) as local, distributed.Client(local) as client:
            yield client, distributed.as_completed


def workers(at_once):
    """What LocalCUDACluster is told. It gives each worker all GPUs in CUDA_VISIBLE_DEVICES, its own first, and the cores near that one.

    Its memory limit is of the worker's process, which holds nothing large: scripts are processes of their own. No dashboard is opened,
    so that nothing listens on a port that another cluster has.
    """
    if not gpu.find():
        raise CasebookError("--cluster gpus: this machine has no NVIDIA GPU")
    return {"threads_per_worker": at_once, "dashboard_address": None}
