"""``coview bench``: how fast coview is here, beside LAPACK and scikit-learn; the code lies in a checkout."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from coview.cli._checkout import checkout_folder
from coview.cli._conversation import conversation_options, refuse_output, write_json

__all__ = ["BENCHMARKS", "bench"]

BENCHMARKS = (
    *("fixed_fit", "evidence", "prediction", "averaging", "low_rank_scale"),
    *("gaussian_mixture", "factor_mixture", "co_em", "expected_kernel", "acquisition"),
    *("logistic", "campaign", "co_regularized", "laplacian", "agreement"),
    *("posterior_consistency", "clustering", "clustering_scale", "neighbors", "view_ensemble"),
)
_ENDINGS = (".json", ".csv", ".md")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice(BENCHMARKS))
@click.option("--n", "sizes", multiple=True, type=click.IntRange(min=50), help="Number of samples; may be repeated.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Times each work is done.")
@click.option("--full", is_flag=True, help="Every size of every benchmark instead of the smallest.")
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write all figures into: .json, .csv or .md; may be repeated.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@conversation_options
@click.pass_context
def bench(
    ctx: click.Context,
    names: tuple[str, ...],
    sizes: tuple[int, ...],
    repeats: int,
    full: bool,
    output: tuple[Path, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Measure how fast coview is on this machine.

    Times stand beside those of the bare LAPACK calls that the mathematics needs and of scikit-learn's models, all in one
    run and with one thread. Without NAME: fixed_fit, evidence, prediction and averaging, each at its smallest size, in about
    two minutes; the others run when they are named. The code is part of the source of coview and runs from a checkout.
    """
    if force and not output:
        raise click.UsageError("--force says to overwrite files given by --output.", ctx)
    if full and sizes:
        raise click.UsageError("--full takes every size; leave it out or leave out --n.", ctx)
    for path in output:
        if path.suffix not in _ENDINGS:
            raise click.BadParameter(
                f"{path.name} must end in one of {', '.join(_ENDINGS)}.", ctx, param_hint="'--output'"
            )
        refuse_output(path, force)
    script = checkout_folder("benchmarks") / "run.py"
    options = [f"--repeats={repeats}", *(["--full"] if full else [])]
    if sizes:
        options += ["--n", *map(str, sizes)]
    if as_json:
        write_json("bench", _figures(script, [*names, *options], output))
    else:
        _run([str(script), *names, *options, *_writing(output)])


def _figures(script: Path, words: list[str], output: tuple[Path, ...]) -> dict[str, Any]:
    """All figures of one run whose tables go to stderr."""
    with TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        _run([str(script), *words, *_writing((*output, results))], stdout=sys.stderr)
        return dict(json.loads(results.read_text(encoding="utf-8")))


def _writing(paths: tuple[Path, ...]) -> list[str]:
    return ["--output", *map(str, paths)] if paths else []


def _run(arguments: list[str], stdout: Any = None) -> None:
    """Run the script in a Python of its own, where nothing else has been imported or allocated."""
    done = subprocess.run([sys.executable, *arguments], stdout=stdout, check=False)
    if done.returncode:
        raise click.ClickException("The benchmarks did not run to their end; what stopped them stands above.")
