"""Values of typed acts: told as they are written, whole, or the sentence stands for itself."""

from __future__ import annotations

import pytest

from pipeline.distil import actions
from tests.each import each

#: What is written, and what an act tells: the same, but for units in words.
_VALUES = {
    "500m": "500m",
    "500ms": "500ms",
    "60s": "60s",
    "1h30m": "1h30m",
    "64MB": "64MB",
    "64 MB": "64 MB",
    "512Mi": "512Mi",
    "2Gi": "2Gi",
    "50.5": "50.5",
    "0.5": "0.5",
    "10%": "10%",
    "3x": "3x",
    "1e-3": "1e-3",
    "-1": "-1",
    "1,000": "1,000",
    "8": "8",
    "`64 MB`": "64 MB",
    "`500m`": "500m",
    '"512Mi"': '"512Mi"',
    "10.0.0.0/8": "10.0.0.0/8",
    "8-16": "8-16",
    "300 ms": "300 ms",
    "60 seconds": "60 s",
    "5 minutes": "5 min",
    "60 秒": "60 s",
    "500毫秒": "500 ms",
    "5分钟": "5 min",
}
#: How a value is said, with which of the acts. `{}` is the value.
_WAYS = (
    ("Setting `pool.limit` to {} fixed it.", "set"),
    ("Changing `pool.limit` from 7 to {} fixed it.", "set"),
    ("I set the `pool.limit` option to {}.", "set"),
    ("Setting `pool.limit` to {}, then a restart, fixed it.", "set"),
    ("Increasing `pool.limit` to {} fixed it.", "increase"),
    ("Raising `pool.limit` from 30s to {} fixed it.", "increase"),
    ("Raise the value of `pool.limit` up to {}", "increase"),
    ("Reducing `pool.limit` from the default 30 s to {} fixed it.", "decrease"),
    ("Lower `pool.limit` down to {}.", "decrease"),
    ("把 `pool.limit` 设为 {} 之后好了。", "set"),
    ("`pool.limit` 设置为 {}，解决了", "set"),
    ("把 `pool.limit` 从 4 改成 {} 就好了", "set"),
    ("将 `pool.limit` 调整为{}。", "set"),
    ("把 `pool.limit` 调大到 {} 之后解决了", "increase"),
    ("把 `pool.limit` 从 30s 调大到了 {}", "increase"),
    ("将 `pool.limit` 增加到{}，解决了", "increase"),
    ("把 `pool.limit` 调小到 {} 就好了", "decrease"),
    ("降低 `pool.limit` 到 {}，没问题了", "decrease"),
)


@each(
    "way, said",
    [(way, said) for way in _WAYS for said in _VALUES],
)
def test_a_value_is_told_whole(way: tuple[str, str], said: str) -> None:
    act = actions.action(way[0].format(said))
    assert act is not None
    slots = dict(act.fact.slots)
    assert act.fact.template.removeprefix("remedy.") in {f"{way[1]}_parameter", f"{way[1]}_parameter_to"}
    assert (slots["name"], slots["value"]) == ("pool.limit", _VALUES[said])


@each(
    "text, template, value",
    [
        ("把 work_mem 调大到 64MB 就好了", "remedy.increase_parameter_to", "64MB"),
        ("Raising `--kube-api-qps` to 50.5 fixed it", "remedy.set_flag", "50.5"),
        ("Raising --kube-api-qps from 20 to 50.5 fixed it", "remedy.increase_parameter_to", "50.5"),
        ("Pass --timeout 90s to it", "remedy.set_flag", "90s"),
        ("Use `--ratio=10%`", "remedy.set_flag", "10%"),
        ("Increasing the timeout from 30s to 1m30s helped", "remedy.increase_quantity_to", "1m30s"),
        ("Reduce the batch size from 64 to 32", "remedy.decrease_quantity_to", "32"),
        ("set rate=1e-3", "remedy.set_parameter", "1e-3"),
        ("set pool.size=4,pool.least=2", "remedy.set_parameter", "4"),
        ("call f(keep=True,0,1)", "remedy.set_parameter", "True"),
        ("export SPARE_ROOT=/opt/spare/", "remedy.set_env", "/opt/spare/"),
        ("pass --listen 0.0.0.0:8080", "remedy.set_flag", "0.0.0.0:8080"),
        ('export JAVA_OPTS="-Xmx4g -Xms2g"', "remedy.set_env", '"-Xmx4g -Xms2g"'),
        ("export SPARE_PATHS=/opt/a/lib:/opt/b/lib", "remedy.set_env", "/opt/a/lib:/opt/b/lib"),
        ("set RETRY_AFTER to 10%", "remedy.set_env", "10%"),
        ("set `pool.limit` to 3 workers", "remedy.set_parameter", "3"),
        ("把 `pool.limit` 改成 4 个", "remedy.set_parameter", "4"),
    ],
)
def test_every_act_reads_its_values_so(text: str, template: str, value: str) -> None:
    act = actions.action(text)
    assert act is not None
    assert (act.fact.template, dict(act.fact.slots)["value"]) == (template, value)


@pytest.mark.parametrize(
    "text",
    [
        "Raising `pool.limit` to 4 or 8 fixed it",
        "Raising `pool.limit` to 3 times the default",
        "Raising `pool.limit` to 2 million",
        "Raising `pool.limit` to at least 8 fixed it",
        "Raising `pool.limit` by 20% fixed it",
        "Reducing `pool.limit` from 8 to a few",
        "Setting `pool.limit` to 4 * workers",
        "set pool.limit=4(n)",
        "set pool.limit=4.Then it works",
        "set pool.limit=4,spare",
        "export SPARE_PORT=`shuf -n 1 ports`",
        "export SPARE_PATHS=" + "/opt/a:" * 40,
        "把 `pool.limit` 调大到 10 万",
        "把 `pool.limit` 调小到 2 分 30 秒",
        "Set `pool.limit` to 1 hour and 30 minutes",
        "Set `pool.limit` to 1 h 30 min",
    ],
)
def test_what_is_not_whole_is_no_typed_act(text: str) -> None:
    assert actions.action(text) is None


@pytest.mark.parametrize(
    "text", ["Increase `pool.limit`", "Increase `pool.limit` to fix it", "调大 `pool.limit` 就好了"]
)
def test_where_no_value_is_said_the_direction_is_the_act(text: str) -> None:
    act = actions.action(text)
    assert act is not None
    assert act.fact.template == "remedy.increase_parameter"


@each(
    "text, version",
    [
        ("upgrade numpy to 1.26.4", "1.26.4"),
        ("upgraded numpy to v2.0.0-rc.1 and it works", "2.0.0-rc.1"),
        ("upgrading numpy to 2.0.0.Final", "2.0.0.Final"),
        ("downgrade numpy to 1.8.3-SNAPSHOT.", "1.8.3-SNAPSHOT"),
        ("upgrade numpy to 1.31.2+vendor.4", "1.31.2+vendor.4"),
        ("pip install 'numpy>=1.2,<2'", ">=1.2,<2"),
        ("把 numpy 升级到 2.0.0-M1 就好了", "2.0.0-M1"),
    ],
)
def test_a_version_is_told_whole(text: str, version: str) -> None:
    act = actions.action(text)
    assert act is not None
    assert dict(act.fact.slots)["version"] == version


def test_what_is_made_for_a_version_is_not_of_it() -> None:
    act = actions.action("upgrade numpy to 1.2.3-compatible wheels")
    assert act is None or "version" not in dict(act.fact.slots)
