"""Experiments that compare finished estimates with measurements, their reports, and regression contracts."""

from .case import VidurExperimentCase
from .contract import RegressionContract, contract_names, load_contract
from .drift import Drift, candidate_contract, contract_drifts, drift_message, run_contract
from .experiment import run_vidur_experiment
from .of_estimate import error_report
from .report import VidurExperimentReport

__all__ = [
    "Drift",
    "RegressionContract",
    "VidurExperimentCase",
    "VidurExperimentReport",
    "candidate_contract",
    "contract_drifts",
    "contract_names",
    "drift_message",
    "error_report",
    "load_contract",
    "run_contract",
    "run_vidur_experiment",
]
