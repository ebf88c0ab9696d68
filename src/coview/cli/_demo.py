"""``coview demo``: a job from data to one report, on real data that come with coview or on made-up web pages."""

from importlib import import_module
from pathlib import Path

import click

from coview.cli._conversation import conversation_options, say, write_json

__all__ = ["demo"]

FULL_REPEATS = 20
DEMOS = {"heart": "coview.report.demo", "webpages": "coview.report.webpages"}


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
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder with your copy of the real pages (webkb_course); for webpages only.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Random draws of the labeled samples that every method is compared on.",
)
@click.option("--full", is_flag=True, help=f"{FULL_REPEATS} draws, and the slow methods too.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON object.")
@conversation_options
@click.pass_context
def demo(
    ctx: click.Context,
    name: str,
    output: Path,
    data: Path | None,
    repeats: int,
    full: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Run a whole job and write a report.

    "heart", the default, predicts tumor subtypes and heart disease from few labels and missing views, offline, on data that
    come with coview. "webpages" finds the pages of courses among a thousand web pages from twelve labels, by page text, by
    link text and by both; the pages are made up unless --data names your copy of the real ones. Both print what they find
    and write report.html.
    """
    if data is not None and name != "webpages":
        raise click.UsageError("--data is for coview demo webpages; the data of the others come with coview.")
    if full and ctx.get_parameter_source("repeats") is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError(f"--full means {FULL_REPEATS} draws; give either --full or --repeats.", ctx)
    # The slow methods are the heart's; on web pages all of them run anyway.
    options = {"full": full} if name == "heart" else {"data": data}
    findings = import_module(DEMOS[name]).run_demo(
        output,
        repeats=FULL_REPEATS if full else repeats,
        seed=seed,
        **options,
        echo=say if as_json else click.echo,
    )
    if as_json:
        write_json("demo", findings)
