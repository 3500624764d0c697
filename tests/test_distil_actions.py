"""Acts that people describe, read as typed facts."""

from __future__ import annotations

import pytest

from pipeline.distil import actions
from pipeline.records import Fact


@pytest.mark.parametrize(
    ("text", "template", "slots"),
    [
        ("Setting `NCCL_P2P_DISABLE=1` helps", "remedy.set_env", {"name": "NCCL_P2P_DISABLE", "value": "1"}),
        ("set CUDA_VISIBLE_DEVICES to 0", "remedy.set_env", {"name": "CUDA_VISIBLE_DEVICES", "value": "0"}),
        ("unset LD_PRELOAD", "remedy.unset_env", {"name": "LD_PRELOAD"}),
        ("pass --enforce-eager", "remedy.add_flag", {"flag": "--enforce-eager"}),
        ("with --max-model-len 4096", "remedy.set_flag", {"flag": "--max-model-len", "value": "4096"}),
        ("remove `--enable-foo`", "remedy.remove_flag", {"flag": "--enable-foo"}),
        ("increase --mem-fraction-static", "remedy.increase_flag", {"flag": "--mem-fraction-static"}),
        ("downgrading torch to 2.1.0.", "remedy.downgrade_to", {"package": "PyTorch", "version": "2.1.0"}),
        ("upgraded Python from 3.6.0 to 3.6.1", "remedy.upgrade_to", {"package": "Python", "version": "3.6.1"}),
        (
            "Updating the NVIDIA driver from version 430.90 to the latest version (441.37) solved the problem",
            "remedy.upgrade_to",
            {"package": "NVIDIA driver", "version": "441.37"},
        ),
        (
            "it works after I updated to tfjs version: 2.8.0",
            "remedy.upgrade_to",
            {"package": "TensorFlow.js", "version": "2.8.0"},
        ),
        ("downgrading torch from 2.1 helped", "remedy.downgrade", {"package": "PyTorch"}),
        (
            "Adding -D WITH_LAPACK=OFF to the cmake command",
            "remedy.set_parameter",
            {"name": "WITH_LAPACK", "value": "OFF"},
        ),
        ("upgrade the nvidia driver", "remedy.upgrade", {"package": "NVIDIA driver"}),
        ("pip install numpy==1.26.4", "remedy.pin", {"package": "NumPy", "version": "1.26.4"}),
        ("pip install 'numpy<2'", "remedy.pin", {"package": "NumPy", "version": "<2"}),
        ("pip install fairscale=0.0.2", "remedy.pin", {"package": "fairscale", "version": "0.0.2"}),
        ("pip install triton --upgrade", "remedy.upgrade", {"package": "Triton"}),
        (
            "upgrade torch to 2.1 (`pip install torch -U`)",
            "remedy.upgrade_to",
            {"package": "PyTorch", "version": "2.1"},
        ),
        ("(pip install triton --pre -U)", "remedy.run_command", {"command": "pip install triton --pre -U"}),
        ("do pip install triton --pre to get it", "remedy.run_command", {"command": "pip install triton --pre"}),
        (
            'try "TF_FORCE_GPU_ALLOW_GROWTH=true" env var',
            "remedy.set_env",
            {"name": "TF_FORCE_GPU_ALLOW_GROWTH", "value": "true"},
        ),
        ("pip install -U triton", "remedy.upgrade", {"package": "Triton"}),
        ("pip install some-package", "remedy.install", {"package": "some-package"}),
        ("conda install -c anaconda cudnn", "remedy.install", {"package": "cuDNN"}),
        ("pip uninstall -y xformers", "remedy.uninstall", {"package": "xFormers"}),
        ("reinstalling flash-attn", "remedy.reinstall", {"package": "flash-attn"}),
        ("building vllm from source", "remedy.build_from_source", {"package": "vLLM"}),
        (
            "uninstalling numpy 1.15.3 and installing numpy 1.16.1",
            "remedy.pin",
            {"package": "NumPy", "version": "1.16.1"},
        ),
        ("set num_workers to 0", "remedy.set_parameter", {"name": "num_workers", "value": "0"}),
        ("reduce `max_num_seqs`", "remedy.decrease_parameter", {"name": "max_num_seqs"}),
        ("lower max_model_len to 4096", "remedy.decrease_parameter_to", {"name": "max_model_len", "value": "4096"}),
        ("reduce the batch size to 8", "remedy.decrease_quantity_to", {"quantity": "batch size", "value": "8"}),
        ("increasing swap space", "remedy.increase_quantity", {"quantity": "swap space"}),
        (
            "use `torch.sigmoid` instead of `F.sigmoid`",
            "remedy.use_instead",
            {"new": "torch.sigmoid", "old": "F.sigmoid"},
        ),
        ("replace `a.view` with `a.reshape`", "remedy.use_instead", {"new": "a.reshape", "old": "a.view"}),
        ("disable `use_cache`", "remedy.disable", {"name": "use_cache"}),
        ("removing layer.trainable = False", "remedy.remove_parameter", {"name": "layer.trainable"}),
        ("call torch.cuda.empty_cache()", "remedy.call", {"name": "torch.cuda.empty_cache()"}),
        ("run `sudo ldconfig -v`", "remedy.run_command", {"command": "sudo ldconfig -v"}),
        ("restarting the kernel", "remedy.restart", {"target": "kernel"}),
        ("delete the ~/.triton/cache folder", "remedy.clear_cache", {"path": "~/.triton/cache"}),
        ("升级到 torch 2.3.0 之后", "remedy.upgrade_to", {"package": "PyTorch", "version": "2.3.0"}),
        ("把 BLOCK_SIZE 改成 64", "remedy.set_parameter", {"name": "BLOCK_SIZE", "value": "64"}),
        ("降低 batch size 到 4", "remedy.decrease_quantity_to", {"quantity": "batch size", "value": "4"}),
        ("重启电脑", "remedy.restart", {"target": "machine"}),
        ("downgrading it to 2.0 resolved it", "remedy.downgrade_version", {"version": "2.0"}),
        ("Upgrading to 10.12", "remedy.upgrade_version", {"version": "10.12"}),
        ("Just tried with 2.2rc1", "remedy.use_version", {"version": "2.2rc1"}),
        ("I tried with tensorflow-2.0.0beta1", "remedy.pin", {"package": "TensorFlow", "version": "2.0.0beta1"}),
        ("changing gast==0.2.2", "remedy.pin", {"package": "gast", "version": "0.2.2"}),
        ("change CuDNN version from 7.6.5 to 7.6.1", "remedy.pin", {"package": "cuDNN", "version": "7.6.1"}),
        ("installed tf-nightly", "remedy.use_nightly", {}),
        ("tried the nightly (0.8.0.dev6)", "remedy.use_nightly", {}),
        ("upgrading to a newer version", "remedy.use_newer", {}),
        ("revert commit 1a2b3c4d", "remedy.revert_change", {"change": "1a2b3c4d"}),
        ("applying the patch from #123", "remedy.apply_change", {"change": "#123"}),
        ("wrap it in tf.Session", "remedy.wrap", {"name": "tf.Session"}),
        ("adding @tf.custom_gradient", "remedy.decorate", {"name": "@tf.custom_gradient"}),
        ("when removing @tf.function", "remedy.remove_parameter", {"name": "@tf.function"}),
        ("is not to use tf.function", "remedy.avoid", {"name": "tf.function"}),
        ("calling K.set_learning_phase(1)", "remedy.call", {"name": "K.set_learning_phase(1)"}),
        (
            "changed TrainConfig() to AutoConfig()",
            "remedy.use_instead",
            {"new": "AutoConfig()", "old": "TrainConfig()"},
        ),
        ("set `max_seq_len`, not work", "remedy.set_parameter_any", {"name": "max_seq_len"}),
        ("modifying the gen_ops.py", "remedy.update_config_file", {"path": "gen_ops.py"}),
        ("torch 版本从 2.4 降到 2.1.0", "remedy.downgrade_to", {"package": "PyTorch", "version": "2.1.0"}),
        ("回退到 2.1.0", "remedy.downgrade_version", {"version": "2.1.0"}),
        ("把 use_cache 关掉", "remedy.disable", {"name": "use_cache"}),
    ],
)
def test_an_act_becomes_a_fact(text: str, template: str, slots: dict[str, str]) -> None:
    act = actions.action(text)
    assert act is not None
    assert (act.fact.template, dict(act.fact.slots)) == (template, slots)


@pytest.mark.parametrize(
    "text",
    [
        "do not use `use_cache`",
        "it is slow",
        "pip install -r requirements.txt",
        "set FOO_BAR to where the library is",
        "never set `num_workers=0`",
        "不要设置 num_workers=0",
        "pip install .",
        "pip install git+https://example.invalid/x",
    ],
)
def test_what_is_no_act_or_is_negated_gives_no_fact(text: str) -> None:
    assert actions.action(text) is None


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("pass --enforce-eager", "set enforce_eager=True"),
        ("pip install torch==2.1.0", "downgrade PyTorch to 2.1.0"),
        ("enable `use_cache`", "set use_cache=true"),
    ],
)
def test_two_ways_to_say_one_act_have_one_key(one: str, two: str) -> None:
    first, second = actions.action(one), actions.action(two)
    assert first is not None
    assert second is not None
    assert first.key == second.key


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("set num_stages=1", "set num_stages=2"),
        ("reduce `num_warps`", "increase `num_warps`"),
        ("upgrade torch to 2.1.0", "upgrade torch to 2.2.0"),
        ("upgrade torch to 2.1.0", "upgrade jax to 2.1.0"),
        ("enable `use_cache`", "disable `use_cache`"),
        ("remove `--foo-bar`", "pass --foo-bar"),
    ],
)
def test_flag_direction_package_and_version_gate_the_key(one: str, two: str) -> None:
    first, second = actions.action(one), actions.action(two)
    assert first is not None
    assert second is not None
    assert first.key != second.key


@pytest.mark.parametrize(
    ("text", "flags", "expected"),
    [
        ("Shrink tiles: Reduce the block sizes of the kernel.", (), ("remedy.decrease_quantity", "block sizes")),
        ("Reduce the block sizes of the kernel, then try again.", (), ("remedy.decrease_quantity", "block sizes")),
        ("Smaller work: Lower the batch size first.", (), ("remedy.decrease_quantity", "batch size")),
        ("--xla_fixture_limit=32 Bounds the pass.", ("--xla_fixture_limit",), ("remedy.set_flag", "32")),
        (
            "--xla_fixture_limit Bounds the pass.",
            ("--xla_fixture_limit",),
            ("remedy.adjust_flag", "--xla_fixture_limit"),
        ),
        ("Ask for more using the fixture_limit_bytes param", (), ("remedy.set_parameter_any", "fixture_limit_bytes")),
        ("Switch off: set --xla_a_b=false and --xla_c_d=false", ("--xla_a_b", "--xla_c_d"), None),
        ("--xla_a_b=false Is weaker than --xla_c_d.", ("--xla_a_b", "--xla_c_d"), None),
        ("Look at the shapes of the large buffers.", (), None),
    ],
)
def test_an_official_remedy_is_a_fact_only_if_it_is_one_typed_act(
    text: str, flags: tuple[str, ...], expected: tuple[str, str] | None
) -> None:
    fact = actions.official(text, flags)
    if expected is None:
        assert fact is None
    else:
        assert fact is not None
        assert fact.template == expected[0]
        assert expected[1] in dict(fact.slots).values()


def test_a_change_that_fixed_and_closed_the_report_is_one_remedy() -> None:
    said, linked = (Fact(f"fix.{how}", (("pr", "errmine-fixtures/kernels#7"),)) for how in ("merged", "closed_by"))
    assert actions.key(said) == actions.key(linked)


@pytest.mark.parametrize(
    "text",
    [
        "Removing `~/.cache`, `~/.config` and all helped.",
        "Deleting ~/.cache and ~/.config worked.",
        "Removing `~/.cache`/x.",
    ],
)
def test_an_act_that_takes_more_away_than_the_fact_would_name_is_no_fact(text: str) -> None:
    assert actions.action(text) is None


def test_an_act_that_takes_one_thing_away_is_a_fact() -> None:
    assert actions.action("Removing `~/.cache`, then it worked.") is not None


def test_the_attributes_of_markup_are_no_settings() -> None:
    assert actions.action('applying <a href="https://example.org/12">that change</a> helped') is None
    assert actions.action('setting mode="fast" helped') is not None


def test_a_line_of_a_file_of_settings_is_no_variable_of_the_environment() -> None:
    for text in (
        "adding `SPARE_LDFLAGS=-lkiln` to the module.xcconfig file",
        "I put SPARE_ROOT=/opt/spare into Makefile.config",
        "by adding\nSPARE_LDFLAGS= -lkiln",
    ):
        assert actions.action(text) is None or actions.action(text).fact.template != "remedy.set_env"
    for text in ("adding `SPARE_ROOT=/opt/spare` to ~/.bashrc", "set SPARE_ROOT = /opt/spare in the shell"):
        act = actions.action(text)
        assert act is not None
        assert act.fact.template == "remedy.set_env"
