"""Run by the validator's own Python: check a crate against a profile at its required level, without a network.

The JSON-LD context that the crate names is read from an older rocrate package, which brings it along.
"""

import json
import sys
from pathlib import Path
from typing import Any

import requests
import rocrate
from rocrate_validator import services
from rocrate_validator.models import Severity, ValidationSettings
from rocrate_validator.utils.http import HttpRequester

CONTEXT = (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_bytes()


def get(_: HttpRequester, url: str, **__: Any) -> requests.Response:
    """What the web would answer, for the one address that is asked for."""
    response = requests.Response()
    response.status_code = 200 if url == json.loads(CONTEXT)["@id"] else 404
    response._content = CONTEXT
    response.headers["Content-Type"] = "application/ld+json"
    response.url = url
    return response


if __name__ == "__main__":
    HttpRequester.get = get
    crate, profile = sys.argv[1:]
    settings = ValidationSettings(rocrate_uri=crate, profile_identifier=profile, requirement_severity=Severity.REQUIRED)
    result = services.validate(settings)
    for issue in result.get_issues():
        print(f"{issue.check.identifier}: {issue.message}")
    sys.exit(not result.passed())
