"""A Dask cluster on this machine with one worker process per GPU, which sees only that GPU."""

import os as _os

from dask.distributed import Nanny as _Nanny
from dask.distributed import Scheduler as _Scheduler
from dask.distributed import SpecCluster as _SpecCluster


def workers(gpus):
    """Cluster of one worker per GPU; a context manager. `gpus` are numbers as in this process.

    Call it under `if __name__ == "__main__"`: each worker imports the script before it is assigned
    its GPU, so no code above may use one.
    """
    visible = _os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    names = list(filter(None, visible)) or list(map(str, range(max(gpus) + 1)))
    here, specs = {"host": "127.0.0.1"}, {}
    for gpu in gpus:
        options = {"nthreads": 1, "env": {"CUDA_VISIBLE_DEVICES": names[gpu]}}
        specs[gpu] = {"cls": _Nanny, "options": options | here}
    scheduler = {"cls": _Scheduler, "options": {"dashboard": False} | here}
    return _SpecCluster(specs, scheduler=scheduler)
