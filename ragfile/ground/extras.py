"""Optional packages: imported on use, with the command that installs a missing one."""

from importlib import import_module
from types import ModuleType

# Packages by the extra of ragfile that installs them. Others are installed by their own name.
EXTRAS = {
    "httpx2": "http",
    "obstore": "s3",
    "ray": "ray",
    "distributed": "dask",
    "sentence_transformers": "st",
    "onnxruntime": "onnx",
    "tokenizers": "onnx",
    "pypdfium2": "ingest",
    "charset_normalizer": "ingest",
    "pyarrow": "arrow",
    "duckdb": "duckdb",
    "psycopg": "postgresql",
    "starlette": "server",
    "uvicorn": "server",
    "httptools": "server",
    "uvloop": "server",
    "python_multipart": "server",
    "cryptography": "sign",
    "mteb": "mteb",
    "haystack": "haystack",
}
PACKAGES = {"faiss": "faiss-cpu", "haystack": "haystack-ai", "ir_datasets": "ir-datasets"}


def optional(module: str, purpose: str) -> ModuleType:
    """Import a module; raise an ImportError that names its purpose and the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(missing(error, module, purpose), name=error.name) from error


def missing(error: ImportError, module: str, purpose: str) -> str:
    """Return the message for a module that is not installed, or that cannot be imported."""
    package = (getattr(error, "name", None) or module).partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package != module.partition(".")[0]:
        return f"{purpose} needs {module}, which cannot be imported: {error}"
    return f"{purpose} needs {name_of(package)}: {command(package)}"


def name_of(package: str) -> str:
    """Return the name of a package in the package index."""
    return PACKAGES.get(package, package.replace("_", "-"))


def command(package: str) -> str:
    """Return the command that installs a package."""
    extra = EXTRAS.get(package)
    return f"pip install 'ragfile[{extra}]'" if extra else f"pip install {name_of(package)}"
