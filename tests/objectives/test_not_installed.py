"""Without a framework, importing its objective names the package to install."""

import importlib
import sys

import pytest

from structsvm.exceptions import NotInstalledError

NEEDED = {
    "for_torch": ("torch", r"needs PyTorch: pip install 'structural-svm\[torch\]'"),
    "for_jax": ("jax", r"needs JAX: pip install 'structural-svm\[jax\]'"),
    "for_pyterrier": ("pyterrier", r"needs PyTerrier: pip install 'structural-svm\[pyterrier\]'"),
    "for_ir_measures": ("ir_measures", r"needs ir_measures: pip install 'structural-svm\[ir-measures\]'"),
}


@pytest.mark.parametrize("module", NEEDED)
def test_it_is_told_what_to_install(module, monkeypatch):
    package, message = NEEDED[module]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"structsvm.objectives.{module}", raising=False)
    with pytest.raises(NotInstalledError, match=message):
        importlib.import_module(f"structsvm.objectives.{module}")
