# `make reproduce` and `make test` are the two commands; both need git, make and Python 3.11 or newer.
# Every path below is relative, so that a clone whose path has spaces works.

PYTHON ?= python3
CORES ?= all
VENV := .venv
EXTRAS := [test,docs,simulation,deployment,slurm]

# Parallel work comes from Snakemake's cores: more than one thread per process only slows small tensors down.
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

# Rules call `python`, so the environment comes first in PATH as if it had been activated.
IN_VENV = PATH="$(CURDIR)/$(VENV)/bin:$$PATH" "$(CURDIR)/$(VENV)/bin/python" -m

# A run that was killed leaves a lock, and so does one that is running now.
OR_UNLOCK = || { [ -z "$$(ls .snakemake/locks 2>/dev/null)" ] || \
	echo 'This folder is locked. If no other snakemake is running here, a killed run left the lock: make unlock' >&2; \
	exit 1; }

.DEFAULT_GOAL := help
.PHONY: help reproduce smoke docs test test-slow test-bits test-arm test-slurm test-hosts unlock lint lock search publish audit

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

reproduce: $(VENV)/.installed ## install what is needed and make every table and figure (CORES=all)
	$(IN_VENV) snakemake --cores $(CORES) all $(OR_UNLOCK)
	@$(IN_VENV) eflops summary

smoke: $(VENV)/.installed ## run the whole pipeline on tiny sizes
	$(IN_VENV) snakemake --cores $(CORES) smoke --configfile config/smoke.yaml $(OR_UNLOCK)
	@$(IN_VENV) eflops summary results-smoke

test: lint ## run the linters, the type checker and every test but those of the other targets
	$(IN_VENV) pytest --numprocesses logical --dist loadfile -m 'not slow and not slurm and not hosts and not bits and not arm'

lint: $(VENV)/.installed-extras ## run the linters and the type checker alone
	$(IN_VENV) ruff check .
	$(IN_VENV) ruff format --check .
	$(IN_VENV) snakefmt --check Snakefile workflow
	$(IN_VENV) mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/python tools/size.py
	$(IN_VENV) snakemake --lint

docs: $(VENV)/.installed-extras ## build the documentation site into site/; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(IN_VENV) mkdocs build --strict --quiet

test-slow: $(VENV)/.installed-extras ## run the tests that take minutes by nature, as before a release
	$(IN_VENV) pytest --numprocesses logical --dist loadfile -m slow

test-bits: $(VENV)/.installed-extras ## compare results with those of processors that qemu-user emulates
	$(IN_VENV) pytest tests/bits -m bits

test-arm: $(VENV)/.installed-extras ## compare results with those of an ARM processor that qemu-user emulates
	$(IN_VENV) pytest tests/bits -m arm

test-slurm: $(VENV)/.installed-extras ## run the workflow on a Slurm of one node that the test starts and stops
	tests/slurm/install
	$(IN_VENV) pytest tests/slurm -m slurm $(if $(ONLY),-k '$(ONLY)')

test-hosts: $(VENV)/.installed-extras ## run a Flower federation across network namespaces; needs root and iproute2
	$(IN_VENV) pytest tests/flower -m hosts $(if $(ONLY),-k '$(ONLY)')

unlock: $(VENV)/.installed ## remove the lock that a killed snakemake left; only if none is running here
	$(IN_VENV) snakemake --unlock

search: $(VENV)/.installed ## run the searches and adopt their choices in config/chosen.yaml
	$(IN_VENV) snakemake --cores $(CORES) search $(OR_UNLOCK)
	$(IN_VENV) eflops adopt results/search/*.json

publish: $(VENV)/.installed ## copy the finished results to results/published, audit them, renew the README (KEY=an ssh key signs them)
	$(IN_VENV) eflops publish $(if $(KEY),--sign "$(KEY)")
	$(IN_VENV) eflops audit results/published
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/python docs/refresh.py README.md

audit: $(VENV)/.installed ## check the published results: every record, table and figure
	$(IN_VENV) eflops audit results/published

lock: $(VENV)/.installed-extras ## pin the versions that .venv holds now, for pip and for conda
	$(IN_VENV) pip check
	$(IN_VENV) envs.pins

$(VENV)/.installed: requirements.lock pyproject.toml
	$(install)
	@touch $@

$(VENV)/.installed-extras: requirements.lock pyproject.toml
	$(call install,$(EXTRAS))
	@touch $(VENV)/.installed $@

# A half-made environment has a python without pip, and making it again mends it.
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "eflops needs Python 3.11 or newer, and '$(PYTHON)' is not: make PYTHON=/path/to/python3.11" >&2; exit 1; }
@$(VENV)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
$(VENV)/bin/python -m pip install --constraint requirements.lock --editable ".$(1)"
endef
