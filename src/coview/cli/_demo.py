"""``coview demo``: the main job on bundled real data, ending in one report."""

from importlib import import_module
from pathlib import Path

import click

from coview.cli._conversation import conversation_options, say, write_json

__all__ = ["demo"]

FULL_REPEATS = 20
DEMOS = {"heart": "coview.report.demo"}


@click.command()
@click.argument("name", type=click.Choice(list(DEMOS)), default="heart")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("coview-demo"),
    show_default=True,
    help="Folder for the report; one that an earlier demo wrote is replaced, any other is left alone.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Random draws of the labeled patients that every method is compared on.",
)
@click.option("--full", is_flag=True, help=f"All {FULL_REPEATS} draws and all methods, as in the stored table; slow.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON object.")
@conversation_options
@click.pass_context
def demo(ctx: click.Context, name: str, output: Path, repeats: int, full: bool, seed: int, as_json: bool) -> None:
    """Run the main job on real data and write a report.

    Predicts tumor subtypes and heart disease from few labels and missing views, offline, on data that come with
    coview; prints what it finds and writes report.html. "heart" is the only demonstration yet, and the default.
    """
    if full and ctx.get_parameter_source("repeats") is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError(f"--full means {FULL_REPEATS} draws; give either --full or --repeats.", ctx)
    findings = import_module(DEMOS[name]).run_demo(
        output,
        repeats=FULL_REPEATS if full else repeats,
        full=full,
        seed=seed,
        echo=say if as_json else click.echo,
    )
    if as_json:
        write_json("demo", findings)
