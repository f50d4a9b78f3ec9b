"""Work that joblib was told to do in other processes, here or on a cluster."""

from __future__ import annotations

from joblib import parallel


def is_elsewhere() -> bool:
    """Say whether the user chose a joblib backend without shared memory, such as "dask".

    Where none was chosen, work stays on threads: kernels release the GIL.

    Examples
    --------
    >>> from joblib import parallel_config
    >>> from feaslearn.trainers.elsewhere import is_elsewhere
    >>> is_elsewhere()
    False
    >>> with parallel_config("loky", n_jobs=2):
    ...     is_elsewhere()
    True
    """
    backend, _ = parallel.get_active_backend(prefer="threads")
    return not getattr(backend, "supports_sharedmem", False)
