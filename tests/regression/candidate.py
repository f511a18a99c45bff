"""Prints the contract with today's figures, to be compared and reviewed: `python tests/regression/candidate.py`.

It writes no file. What drifted stands on standard error, as in the gate's failure.
"""

from __future__ import annotations

import sys

from blueprint_nb.validation import candidate_contract, contract_drifts, drift_message, load_contract, run_contract

if __name__ == "__main__":
    contract = load_contract(*sys.argv[1:2])
    report = run_contract(contract)
    sys.stdout.write(candidate_contract(contract, report))
    if found := contract_drifts(contract, report):
        print(drift_message(contract, found), file=sys.stderr)
