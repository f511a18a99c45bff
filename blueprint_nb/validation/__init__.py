"""Experiments that compare finished estimates with measurements, their reports, and regression contracts."""

from .case import VidurExperimentCase
from .experiment import run_vidur_experiment
from .of_estimate import error_report
from .report import VidurExperimentReport

__all__ = ["VidurExperimentCase", "VidurExperimentReport", "error_report", "run_vidur_experiment"]
