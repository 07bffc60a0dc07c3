"""The same evidence as W3C PROV-JSON: what was used and made by which activity, on whose behalf."""

from typing import Any

from eflops import __version__
from eflops.provenance.again import train_commands
from eflops.provenance.evidence import BehindRun, Evidence
from eflops.provenance.explain import plain

PREFIX = {"eflops": "urn:eflops:", "prov": "http://www.w3.org/ns/prov#"}


def as_prov(evidence: Evidence) -> dict[str, Any]:
    """A PROV-JSON document: the number, its file, the records, their training and the data they used."""
    document: dict[str, Any] = {"prefix": PREFIX, "entity": {}, "activity": {}, "agent": {}}
    number, file, making = "eflops:number", f"eflops:{evidence.place}", f"eflops:make/{evidence.place}"
    _entity(document, number, evidence.words, value=_typed(plain(evidence.value)), formula=evidence.formula)
    _entity(document, file, evidence.place, sha256=evidence.files.get(evidence.place, ""))
    document["activity"][making] = {"prov:label": f"making {evidence.place} from the records"}
    document["agent"]["eflops:software"] = {
        "prov:type": {"$": "prov:SoftwareAgent", "type": "prov:QUALIFIED_NAME"},
        "prov:label": f"eflops {__version__}",
    }
    _relate(document, "hadMember", collection=file, entity=number)
    _relate(document, "wasGeneratedBy", entity=file, activity=making)
    _relate(document, "wasAssociatedWith", activity=making, agent="eflops:software")
    for path, digest in evidence.files.items():
        if path != evidence.place:
            _entity(document, f"eflops:{path}", path, sha256=digest)
            _relate(document, "used", activity=making, entity=f"eflops:{path}")
    for run in evidence.runs:
        _add_run(document, run)
        _relate(document, "used", activity=making, entity=f"eflops:{run.path}")
        _relate(document, "wasDerivedFrom", generatedEntity=number, usedEntity=f"eflops:{run.path}")
    return document


def _add_run(document: dict[str, Any], run: BehindRun) -> None:
    """A record, the training that made it, and the data and code that the training used."""
    record, origin, spent = run.record, run.record.origin, run.record.circumstances
    entity, training = f"eflops:{run.path}", f"eflops:train/{run.path}"
    data, code = f"eflops:data/{origin.data}", f"eflops:code/{origin.code_hash}"
    _entity(document, entity, run.path, result_sha256=record.result_sha256, status=record.result.status)
    _entity(document, data, f"data/{origin.data}", sha256=origin.data_sha256)
    _entity(document, code, "the modules that training can reach", commit=spent.commit, **origin.code)
    document["activity"][training] = {
        "prov:label": f"training {run.path}",
        "prov:endTime": {"$": spent.finished_at, "type": "xsd:dateTime"},
        "eflops:command": train_commands([record])[0],
        **{f"eflops:version.{name}": value for name, value in spent.versions.items()},
        **{f"eflops:machine.{name}": value for name, value in spent.machine.items()},
    }
    _relate(document, "wasGeneratedBy", entity=entity, activity=training)
    _relate(document, "used", activity=training, entity=data)
    _relate(document, "used", activity=training, entity=code)
    _relate(document, "wasAssociatedWith", activity=training, agent="eflops:software")


def _entity(document: dict[str, Any], name: str, label: str, **facts: Any) -> None:
    attributes = {f"eflops:{key}": value for key, value in facts.items() if value is not None}
    document["entity"][name] = {"prov:label": label, **attributes}


def _relate(document: dict[str, Any], relation: str, **ends: str) -> None:
    """Add a relation; its name is that of its ends, so that saying it twice says it once."""
    name = f"_:{relation}/" + "/".join(ends.values())
    document.setdefault(relation, {})[name] = {f"prov:{role}": end for role, end in ends.items()}


def _typed(value: Any) -> Any:
    return {"$": str(value), "type": "xsd:double"} if isinstance(value, float) else value
