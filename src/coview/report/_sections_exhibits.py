"""The two exhibits, section by section."""

from __future__ import annotations

from coview.report._exhibits import Exhibit
from coview.report._html import Section
from coview.report._sections_comparison import comparison_section, group_section, printed_section
from coview.report._sections_demo import heart_verdict, printed_reason
from coview.report._sections_model import prediction_section, presence_section, trust_section, uncertain_section
from coview.report._sections_quality import quality_section


def breast_sections(exhibit: Exhibit) -> tuple[Section, ...]:
    """The main exhibit: everything."""
    return (
        presence_section(
            exhibit, level=2,
            paragraphs=(
                "Each tumor was measured by up to three assays. Protein was measured for 150 of them. A tumor "
                "without protein is kept as it is: nothing is imputed beforehand, and it takes part in learning and "
                "gets predictions like any other.",
            ),
        ),
        prediction_section(exhibit, file_name=f"predictions-{exhibit.job.name}.csv", level=2),
        trust_section(
            exhibit, level=2,
            paragraphs=(
                "coview averages many models: in some the views must agree, in some they add their evidence, in some "
                "their similarities are summed first and share leading directions (joint spectrum), and in some one "
                "view is set aside or stands alone. Each model weighs as much as it predicts labels that were left "
                "out. The weights say how far a view is trusted, and whether the views repeat or complement each other.",
            ),
        ),
        quality_section(
            exhibit, level=2,
            paragraphs=(
                "The labels that were withheld are now brought back to check the predictions. Curves and calibration "
                "use all draws; the confusion table is the draw shown above.",
            ),
        ),
        comparison_section(
            exhibit, level=2,
            paragraphs=(
                "Every method below saw the same tumors and the same few labels, draw by draw. Imputation, scaling "
                "and components used all tumors, labeled or not. LR is logistic regression, PCs are principal "
                "components of all columns, KNN is imputation from the five nearest tumors.",
            ),
        ),
        group_section(
            exhibit, key=(
                "without-protein"
            ), title=(
                "The tumors without protein"
            ), groups=((
                "with protein"
            ), (
                "without protein"
            )),
            paragraphs=((
                "A method that only works on complete tumors is of little use here, so the 70 without protein are "
                "scored apart."
            ),),
        ),
        uncertain_section(exhibit, level=2),
        printed_section(exhibit, paragraphs=printed_reason(exhibit)),
    )  # fmt: skip


def heart_sections(exhibit: Exhibit) -> tuple[Section, ...]:
    """The second exhibit: where views complement each other."""
    intro = Section(
        "heart", "Second exhibit: 920 heart patients, six views",
        paragraphs=(
            "Patients of four hospitals with history, blood, ECG, exercise test, fluoroscopy and thallium scan; most "
            "lack whole views. The views tell different things about the heart, so their agreement has less to give, and "
            f"{heart_verdict(exhibit)} It needs no imputation and no tuning for that.",
        ),
    )  # fmt: skip
    return (
        intro,
        presence_section(
            exhibit,
            level=3,
            paragraphs=(
                "Single gaps inside a view were filled by the median with an indicator column; a view that is wholly "
                "absent stays missing.",
            ),
        ),
        trust_section(exhibit, level=3, paragraphs=()),
        comparison_section(exhibit, level=3, paragraphs=()),
        quality_section(exhibit, level=3, paragraphs=()),
        prediction_section(exhibit, file_name=f"predictions-{exhibit.job.name}.csv", level=3),
    )
