"""Charts of tidy tables: every row is drawn, in its panel, with its interval."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from probekit.report.charts import ALT, FIXED, PALETTE, alt_text, colours, forest, lines


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def table(models, styles=("template", "natural"), panels=("trex",)):
    rows = [(m, s, d, 0.5, 0.25, 0.75) for d in panels for m in models for s in styles]
    return pd.DataFrame(rows, columns=["model", "style", "dataset", "acc@1", "low@1", "high@1"])


@pytest.mark.parametrize("count", [1, 2, 16])
def test_every_row_is_a_dot_in_its_panel(count):
    rows = table([f"m{i}" for i in range(count)], panels=("trex", "squad", "mine"))
    figure = forest(rows, "acc@1", series="style", panel="dataset", columns=2, colour="model")
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title() for ax in shown] == ["T\N{NON-BREAKING HYPHEN}REx", "SQuAD", "mine"]
    assert [len(ax.containers) for ax in shown] == [2 * count] * 3
    assert [label.get_text() for label in shown[0].get_yticklabels()] == [f"m{i}" for i in range(count)]


def test_a_dot_without_an_interval_and_below_zero_is_drawn():
    rows = pd.DataFrame({"model": ["a", "b"], "gap": [-0.5, 0.25]})
    (ax,) = forest(rows, "gap", line=0.0).axes
    assert ax.get_xlim()[0] < -0.5 and len(ax.containers) == 2


def test_lines_leave_out_points_without_a_number_and_keep_colours():
    rows = pd.DataFrame({"model": ["b", "b", "a"], "k": [1, 2, 1], "y": [0.1, float("nan"), 0.2]})
    figure = lines(rows, "k", "y", colours_of=["a", "b"])
    (ax,) = figure.axes
    drawn = {line.get_label(): (line.get_xdata().tolist(), line.get_color()) for line in ax.get_lines()}
    assert drawn == {"b": ([1.0], PALETTE[1]), "a": ([1.0], PALETTE[0])}


def test_colours_start_over_after_the_last():
    found = colours([f"m{i}" for i in range(9)])
    assert found["m8"] == found["m0"] and len(set(found.values())) == len(PALETTE)


def test_a_model_keeps_its_colour_from_figure_to_figure():
    one, other = colours(["mine", "lab/dose-0-s0", "lab/dose-0-s1"]), colours(["lab/dose-100-s0", "lab/dose-0-s2"])
    assert one["lab/dose-0-s0"] == one["lab/dose-0-s1"] == other["lab/dose-0-s2"] != other["lab/dose-100-s0"]
    assert one["mine"] != one["lab/dose-0-s0"] and len({*FIXED.values()}) > 10
    assert colours(["BERT", "BART"])["BART"] == colours(["BART", "female"])["BART"] != colours(["BERT"])["BERT"]


@pytest.mark.parametrize("colour", sorted({*PALETTE, *FIXED.values()}))
def test_every_colour_can_be_seen_on_both_grounds(colour):
    """WCAG 2.1, 1.4.11: 3:1. In the dark a chart is turned round by the filter of ``custom.css``."""

    def light(rgb: np.ndarray) -> float:
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    shown = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    grey = np.array([0.213, 0.715, 0.072])
    turned = np.clip((2 * grey @ (1 - shown) - (1 - shown)) * 1.15, 0, 1)  # invert, hue-rotate(180deg), brightness
    ground = light(np.array([20, 24, 30]) / 255)  # of the theme in the dark
    assert 1.05 / (light(shown) + 0.05) >= 3 and (light(turned) + 0.05) / (ground + 0.05) >= 3


def test_a_chart_is_told_in_words():
    one = table(["lab/untuned"], ("natural",))
    assert alt_text(one, "acc@1", "model", "style") == "Dot plot of Acc@1, 1 value: 0.50 (Untuned, natural)."
    two = pd.concat([one, table(["mine less lab/control"], ("natural",)).assign(**{"acc@1": 0.25})])
    assert (
        alt_text(two, "acc@1", "model", kind="Lines", what="hits")
        == "Lines of hits, 2 values, the greatest 0.50 (Untuned), the least 0.25 (mine minus Read on)."
    )
    assert alt_text(one.assign(**{"acc@1": float("nan")}), "acc@1", "model") == "Dot plot of Acc@1, 0 values."
    assert alt_text(two.assign(**{"acc@1": 0.5}), "acc@1", "model") == "Dot plot of Acc@1, 2 values, all 0.50."
    assert alt_text(two, "acc@1", "model", "style") == alt_text(two, "acc@1", "model")
    long = two.assign(by=["a" * ALT, "b" * ALT])
    assert alt_text(long, "acc@1", "by", "model") == alt_text(two, "acc@1", "model")


def test_no_name_leaves_the_figure():
    """Neither of a legend, which takes as many columns as fit, nor of a panel between others."""
    about = {"model": "m", "estimate": 0.5, "low": 0.4, "high": 0.6}
    rows = [about | {"by": f"a {n} that is long", "set": f"{n} world, Chinese"} for n in ("first", "second", "third")]
    figure = forest(pd.DataFrame(rows), "estimate", series="by", panel="set", columns=3)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    labels = [ax.title.get_window_extent() for ax in figure.axes]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in [legend.get_window_extent(), *labels])
    assert all(left.x1 <= right.x0 for left, right in pairwise(labels))


def test_a_dot_alone_stands_at_the_name_of_its_line_and_numbers_apart():
    rows = pd.DataFrame({"model": ["a", "b", "b"], "by": ["y", "x", "y"], "gap": [-0.05, 0.06, 0.13]})
    figure = forest(rows, "gap", series="by", zero=False)
    (ax,) = figure.axes
    height = {line.get_xdata()[0]: line.get_ydata()[0] for line, _, _ in ax.containers}
    assert height[-0.05] == 0 and height[0.13] < 1 < height[0.06]
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_row_of_panels_has_the_lines_that_it_fills_and_its_numbers_do_not_meet():
    rows = pd.DataFrame({"model": ["a", "b", "c", "c"], "set": ["x", "x", "y", "z"], "gap": [0.1, 0.2, -0.081, 0.02]})
    figure = forest(rows, "gap", panel="set", columns=2, zero=False)
    first, second, third = figure.axes[:3]
    assert [label.get_text() for label in first.get_yticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in third.get_yticklabels()] == ["c"]
    assert third.get_window_extent().height < first.get_window_extent().height and not figure.axes[3].get_visible()
    for ax in (first, second, third):
        boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_lines_of_seeds_have_one_colour_and_are_told_apart():
    names = [f"lab/dose-50-s{seed}" for seed in range(3)] + ["lab/untuned"]
    figure = lines(
        pd.DataFrame([{"model": name, "k": k, "share": 0.1} for name in names for k in (1, 2)]), "k", "share"
    )
    drawn = [(line.get_color(), line.get_linestyle()) for line in figure.axes[0].get_lines()]
    assert len({colour for colour, _ in drawn[:3]}) == 1 and len(set(drawn)) == 4


@pytest.mark.parametrize("columns", [1, 2])
def test_the_name_of_all_axes_stands_once_in_the_middle_of_the_panels(columns):
    rows = pd.DataFrame({"model": ["a long name of a model"] * 2, "set": ["x", "y"], "gap": [0.1, 0.4]})
    figure = forest(rows, "gap", panel="set", columns=columns, xlabel="how far apart")
    figure.draw_without_rendering()
    first, last = (ax.get_window_extent() for ax in figure.axes)
    box = figure.get_supxlabel() == "how far apart" and figure._supxlabel.get_window_extent()
    assert abs(box.x0 + box.x1 - first.x0 - last.x1) < 4 and box.y1 <= min(first.y0, last.y0)
    assert all(ax.get_xlabel() == "" and ax.get_title() for ax in figure.axes)
    assert (figure.axes[0].get_xlim() == figure.axes[1].get_xlim()) == (columns == 1)


def test_a_long_name_of_the_axes_does_not_leave_the_figure():
    figure = forest(pd.DataFrame({"model": ["a" * 30], "gap": [0.1]}), "gap", xlabel="gap " * 10)
    figure.draw_without_rendering()
    box = figure._supxlabel.get_window_extent()
    assert box.x0 > 0 and box.x1 <= figure.bbox.width + 1
