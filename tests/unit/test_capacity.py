"""The capacity plan: more load never costs less, every line is in the sum, and an invalid file is rejected."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.capacity import BadFigures, Demand, Measured, Plan, make_plan, read_measured, read_prices
from lily.capacity.demand import BadDemand, parse_number
from lily.capacity.formulas import read_formulas
from lily.capacity.measured import write_measured
from lily.capacity.prices import write_prices
from lily.capacity.sheet import Sheet

MEASURED, PRICES = read_measured(), read_prices()
BILLION = Demand(assets=1e9, events=1e4, tenants=10)

assets = st.integers(100_000, 10**11).map(float)
events = st.floats(0.1, 1e7)
tenants = st.integers(1, 2_000).map(float)
times = st.floats(1, 50)
demands = st.builds(Demand, assets=assets, events=events, tenants=tenants, utilisation=st.floats(0.1, 1))


def plan(demand: Demand) -> Plan:
    return make_plan(demand, MEASURED, PRICES)


def at_least(more: float, less: float) -> bool:
    return more >= less * (1 - 1e-12)


@given(demands, times)
def test_more_assets_never_cost_less(demand: Demand, factor: float) -> None:
    more = replace(demand, assets=float(math.ceil(demand.assets * factor)))
    assert at_least(plan(more).cost, plan(demand).cost)


@given(demands, times)
def test_more_events_never_cost_less(demand: Demand, factor: float) -> None:
    assert at_least(plan(replace(demand, events=demand.events * factor)).cost, plan(demand).cost)


@given(demands, st.integers(1, 500))
def test_more_tenants_never_cost_less(demand: Demand, further: int) -> None:
    assert at_least(plan(replace(demand, tenants=demand.tenants + further)).cost, plan(demand).cost)


@given(demands, times)
def test_busier_processors_never_cost_more(demand: Demand, factor: float) -> None:
    busier = replace(demand, utilisation=min(1.0, demand.utilisation * factor))
    assert at_least(plan(demand).cost, plan(busier).cost)


@given(demands)
def test_twice_the_rate_takes_twice_the_processor_before_rounding(demand: Demand) -> None:
    once, twice = plan(demand).values, plan(replace(demand, events=2 * demand.events)).values
    cores = [name for name in once if name.endswith("cores")]
    assert {name.partition(".")[0] for name in cores} == {"postgres", "kafka", "hot", "lake_lane", "relay", "api"}
    assert all(math.isclose(twice[name], 2 * once[name]) for name in cores)


@given(demands)
def test_every_line_of_the_table_is_in_the_sum(demand: Demand) -> None:
    made = plan(demand)
    costs = [part.cost for part in made.priced() if part.cost is not None]
    assert made.cost == pytest.approx(sum(costs))
    assert all(cost > 0 for cost in costs)
    assert [part.title for part in made.parts if part.cost is None] == ["Load"]


@given(demands)
def test_every_resource_of_a_part_is_in_its_cost(demand: Demand) -> None:
    for part in plan(demand).priced():
        resources = [
            line for line in part.lines if line.name.removeprefix(f"{part.name}.") in read_formulas().resources
        ]
        assert resources
        assert all(resource.name in part.lines[-1].formula for resource in resources)


@given(demands)
def test_a_database_with_too_many_rows_always_causes_a_warning(demand: Demand) -> None:
    made = plan(demand)
    over = made.values["postgres.largest_database"] > made.values["sizing.rows_per_database"]
    assert over == any("One database would hold" in warning for warning in made.warnings)


def test_a_tenant_that_is_too_large_for_one_database_causes_a_warning() -> None:
    made = plan(replace(BILLION, tenants=1))
    assert made.values["postgres.databases"] == 1
    assert "cannot be split" in made.warnings[0]


def test_the_shares_per_million_assets_and_per_tenant_are_of_the_total() -> None:
    made = plan(BILLION)
    assert made.values["total.per_million_assets"] * 1_000 == pytest.approx(made.cost)
    assert made.values["total.per_tenant"] * 10 == pytest.approx(made.cost)


def test_given_reads_replace_those_per_event() -> None:
    assert plan(BILLION).values["demand.reads"] == 50_000
    fewer = plan(replace(BILLION, reads=10))
    assert fewer.values["demand.reads"] == 10
    assert fewer.cost < plan(BILLION).cost


def test_the_plan_names_the_placeholders_it_depends_on() -> None:
    figures = {name: replace(figure, status="measured") for name, figure in MEASURED.figures.items()}
    assert make_plan(BILLION, Measured(figures), PRICES).placeholders == ()
    figures["bytes.lake_event"] = MEASURED.figures["bytes.lake_event"]
    figures["bytes.lake_event"] = replace(figures["bytes.lake_event"], status="placeholder")
    assert make_plan(BILLION, Measured(figures), PRICES).placeholders == ("bytes.lake_event",)


def test_every_figure_and_every_price_is_used_by_a_formula() -> None:
    made = plan(BILLION)
    formulas = " ".join(line.formula for part in made.parts for line in part.lines)
    used = set(re.findall(r"[a-z_]+\.[a-z_0-9]+", formulas))
    assert set(MEASURED.figures) - used == {"shape.reads_per_event"}  # which becomes demand.reads
    assert {f"price.{name}" for name in PRICES.price} <= used


# What is printed is what was computed ---------------------------------------------------------------------------------


def test_a_formula_is_computed_and_shown_with_its_names_and_its_numbers() -> None:
    line = Sheet({"a.b": 6, "c": 4}).compute(
        "d", "things", "ceil((a.b - c) / (1 + 2)) * max(a.b, 12 / (c / 2)) - (c - 1)"
    )
    assert line.value == 3
    assert line.formula == "ceil((a.b \u2212 c) / (1 + 2)) \u00d7 max(a.b, 12 / (c / 2)) \u2212 (c \u2212 1)"
    assert line.arithmetic == "ceil((6 \u2212 4) / (1 + 2)) \u00d7 max(6, 12 / (4 / 2)) \u2212 (4 \u2212 1)"


@pytest.mark.parametrize("formula", ["unknown + 1", "a ** 2", "open(a)", "a.__class__"])
def test_a_formula_knows_only_its_names_and_plain_arithmetic(formula: str) -> None:
    with pytest.raises(KeyError):
        Sheet({"a": 1}).compute("b", "", formula)


# Files --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    write_prices(path)
    return path


@pytest.fixture
def own_figures(tmp_path: Path) -> Path:
    path = tmp_path / "measured.toml"
    write_measured(path)
    return path


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_the_written_files_are_the_packaged_ones(own_prices: Path, own_figures: Path) -> None:
    assert read_prices(own_prices) == PRICES
    assert read_measured(own_figures) == MEASURED


def test_a_file_is_never_overwritten(own_prices: Path) -> None:
    with pytest.raises(BadFigures, match="already exists"):
        write_prices(own_prices)


def test_edited_prices_change_the_result(own_prices: Path) -> None:
    edit(own_prices, "vcpu_hour = 0.030", "vcpu_hour = 0.060")
    dearer = make_plan(BILLION, MEASURED, read_prices(own_prices))
    vcpus = sum(value for name, value in dearer.values.items() if name.endswith(".vcpu"))
    assert dearer.cost - plan(BILLION).cost == pytest.approx(vcpus * 730 * 0.03)


def test_an_edited_figure_changes_the_result(own_figures: Path) -> None:
    edit(own_figures, "value = 970", "value = 97")
    leaner = make_plan(BILLION, read_measured(own_figures), PRICES)
    assert leaner.values["postgres.history"] == pytest.approx(plan(BILLION).values["postgres.history"] / 10)
    assert leaner.cost < plan(BILLION).cost


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("vcpu_hour = 0.030", "vcpu_hours = 0.030", "unknown `vcpu_hours`"),
        ("vcpu_hour = 0.030", "", "missing `vcpu_hour`"),
        ("vcpu_hour = 0.030", 'vcpu_hour = "0.030"', "price.vcpu_hour is '0.030', not a number"),
        ("vcpu_hour = 0.030", "vcpu_hour = true", "price.vcpu_hour is True, not a number"),
        ("vcpu_hour = 0.030", "vcpu_hour = -1", "price.vcpu_hour is -1"),
        ("vcpu_hour = 0.030", "vcpu_hour = nan", "price.vcpu_hour is nan"),
        ("vcpu_hour = 0.030", "vcpu_hour = inf", "price.vcpu_hour is inf"),
        ("vcpu_hour = 0.030", "vcpu_hour =", "is not valid TOML"),
        ('currency = "USD"', "currency = 1", "currency is 1"),
        ('currency = "USD"', "", "missing `currency`"),
        ('currency = "USD"', 'currency = "USD"\ndiscount = 0.1', "unknown `discount`"),
        ("[price]", "[cost]", "unknown `cost`"),
    ],
)
def test_an_invalid_price_file_is_rejected_by_its_key(own_prices: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(BadFigures) as rejected:
        read_prices(edit(own_prices, old, new))
    assert str(own_prices) in str(rejected.value)
    assert reason in str(rejected.value)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[cpu.relay]", "[cpu.relays]", "unknown `relays`"),
        ("[cpu.relay]", "[gpu.relay]", "unknown `gpu`"),
        ("value = 22.7", "", "cpu.relay: missing `value`"),
        ("value = 22.7", "value = 0", "cpu.relay: value is 0"),
        ('value = 22.7\nunit = "µs/event"', 'value = 0.0227\nunit = "ms/event"', "cpu.relay is in 'ms/event'"),
        ("value = 0.073", "value = 7.3", "shape.tagged_share: value is 7.3, but a share is at most 1"),
        ('from = "one per zone"', 'from = ""', "sizing.brokers_min: from is empty"),
        ('status = "assumed"\nfrom = "one per zone"', 'status = "sure"\nfrom = "one per zone"', "status is 'sure'"),
    ],
)
def test_an_invalid_file_of_figures_is_rejected_by_its_key(own_figures: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(BadFigures) as rejected:
        read_measured(edit(own_figures, old, new))
    assert reason in str(rejected.value)


def test_a_section_that_is_missing_or_not_a_table_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "measured.toml"
    path.write_text("cpu = 1\nbytes = 2\nshape = 3\nsizing = 4\n")
    with pytest.raises(BadFigures, match="cpu is 1, not a table"):
        read_measured(path)
    path.write_text("")
    with pytest.raises(BadFigures, match="missing `bytes`"):
        read_measured(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFigures, match=r"none\.toml cannot be read"):
        read_prices(tmp_path / "none.toml")


# Numbers on the command line ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1e9", "1_000_000_000", "1000000000", "1E9"])
def test_a_billion_can_be_written_in_several_ways(text: str) -> None:
    assert parse_number("--assets", text, "1e9") == 1e9


@pytest.mark.parametrize("text", ["", "many", "1,000", "1 000", "1e", "0x10", "1GB"])
def test_anything_but_a_number_is_rejected_with_an_example(text: str) -> None:
    with pytest.raises(BadDemand, match=r"--assets is .* for example 1e9"):
        parse_number("--assets", text, "1e9")


@pytest.mark.parametrize("name", ["assets", "events", "tenants", "reads"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, 1e16])
def test_a_number_that_no_deployment_can_have_is_rejected_by_name(name: str, value: float) -> None:
    with pytest.raises(BadDemand, match=f"{name} is"):
        replace(BILLION, **{name: value})


@pytest.mark.parametrize("value", [0.0, -0.5, 60.0, math.nan])
def test_a_utilisation_is_a_share(value: float) -> None:
    with pytest.raises(BadDemand, match=r"Write 0\.6 for 60 %"):
        replace(BILLION, utilisation=value)


def test_assets_and_tenants_are_whole_and_every_tenant_has_one() -> None:
    with pytest.raises(BadDemand, match="whole"):
        replace(BILLION, tenants=2.5)
    with pytest.raises(BadDemand, match="Use fewer tenants"):
        replace(BILLION, assets=5)
