"""A Dask cluster on this machine with one worker process for each GPU, which sees that GPU alone."""

import os as _os

from dask.distributed import Nanny as _Nanny
from dask.distributed import Scheduler as _Scheduler
from dask.distributed import SpecCluster as _SpecCluster


def workers(gpus):
    """Cluster of one worker for each number of a GPU, as this process counts them; a context manager.

    Call it under `if __name__ == "__main__"`: each worker reads the script before it is told its GPU, so nothing above may use one.
    """
    here = {"host": "127.0.0.1"}
    names = [
        name for name in _os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name
    ] or list(map(str, range(max(gpus) + 1)))
    specs = {
        gpu: {
            "cls": _Nanny,
            "options": {"nthreads": 1, "env": {"CUDA_VISIBLE_DEVICES": names[gpu]}} | here,
        }
        for gpu in gpus
    }
    return _SpecCluster(
        specs, scheduler={"cls": _Scheduler, "options": {"dashboard": False} | here}
    )
