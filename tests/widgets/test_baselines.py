from __future__ import annotations

import pytest
import vidur_profiles as profiles
from blueprint_nb_widgets.baselines import Baselines

from blueprint_nb import load_model, load_system
from blueprint_nb.errors import InvalidInputError


def profile_of(model_name, hardware_name):
    return profiles.baseline(model_name=model_name, hardware_name=hardware_name)


QWEN_ON_A40 = profile_of("Qwen/Qwen-72B", "a40")
LLAMA_ON_A100 = profile_of("meta-llama/Llama-2-7b-hf", "a100")
LLAMA_ON_H100 = profile_of("meta-llama/Llama-2-7b-hf", "h100")
MINE = profile_of("llama-2-7b", "h100_80g_sxm")


def nearest(given, model, system):
    return Baselines(given).nearest(load_model(model), load_system(system))


def test_none_stands_for_the_slice_that_ships():
    assert nearest(None, "phi-2", "a100_80g").identity.model_name == "microsoft/phi-2"


@pytest.mark.parametrize(
    ("system", "profile"),
    [("a100_80g_pcie", LLAMA_ON_A100), ("h100_80g_nvl8", LLAMA_ON_H100), ("h100_80g_sxm", LLAMA_ON_H100)],
)
def test_the_first_that_fits_model_and_system_is_taken(system, profile):
    assert nearest([QWEN_ON_A40, LLAMA_ON_A100, LLAMA_ON_H100, MINE], "llama-2-7b", system) is profile


def test_a_profile_may_bear_the_projects_own_names():
    assert nearest([LLAMA_ON_A100, MINE], "llama-2-7b", "h100_80g_sxm") is MINE


@pytest.mark.parametrize(("model", "system"), [("llama-2-7b", "b200"), ("llama-3.1-8b", "a100_80g")])
def test_where_none_fits_the_first_is_asked_and_says_why(model, system):
    assert nearest([QWEN_ON_A40, LLAMA_ON_A100], model, system) is QWEN_ON_A40


@pytest.mark.parametrize("given", [[], (), LLAMA_ON_A100, "profiles", 3, {"a100": LLAMA_ON_A100}])
def test_what_is_no_list_of_profiles_is_refused(given):
    with pytest.raises(InvalidInputError, match=r"^baselines must be a list of VidurProfileBaseline, or None"):
        Baselines(given)


def test_a_list_that_holds_something_else_is_refused_by_its_place():
    with pytest.raises(InvalidInputError, match=r"^baselines\[1\] must be a VidurProfileBaseline. Got 'mlp.csv'"):
        Baselines([LLAMA_ON_A100, "mlp.csv"])
