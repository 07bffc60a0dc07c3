"""Certificates and keys: an authority, the server's certificate signed by it, and a key pair for every node."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from eflops.files import write_bytes

# The clocks of the hosts may differ by the leeway.
VALID, LEEWAY = timedelta(days=30), timedelta(minutes=5)
# The server's own processes reach the SuperLink on its own machine.
LOCAL = ("127.0.0.1", "localhost")


def make_certificates(folder: Path, addresses: Sequence[str]) -> None:
    """Write ca.crt, server.crt and server.key; the authority's key is discarded afterwards."""
    authority, server = generate_private_key(SECP384R1()), generate_private_key(SECP384R1())
    names = x509.SubjectAlternativeName([_name(address) for address in dict.fromkeys([*addresses, *LOCAL])])
    root = _certificate("authority", authority, authority, x509.BasicConstraints(ca=True, path_length=0))
    leaf = _certificate("server", server, authority, x509.BasicConstraints(ca=False, path_length=None), names)
    write_bytes(folder / "ca.crt", root.public_bytes(Encoding.PEM))
    write_bytes(folder / "server.crt", leaf.public_bytes(Encoding.PEM))
    _write_secret(folder / "server.key", server, PrivateFormat.TraditionalOpenSSL)


def make_node_key(node: Path, public: Path) -> None:
    """Write a node's private key to its folder, which it never leaves, and its public key to the server's folder."""
    node.mkdir(parents=True, exist_ok=True)
    key = generate_private_key(SECP384R1())
    _write_secret(node / "key", key, PrivateFormat.OpenSSH)
    write_bytes(public, key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) + b"\n")


def _name(address: str) -> x509.GeneralName:
    """An address in a certificate: an IP address, or else a host name."""
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _write_secret(path: Path, key: EllipticCurvePrivateKey, layout: PrivateFormat) -> None:
    # Before the key is in it, so that at no moment others can read the key.
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, layout, NoEncryption()))


def _certificate(
    owner: str, key: EllipticCurvePrivateKey, authority: EllipticCurvePrivateKey, *extensions: x509.ExtensionType
) -> x509.Certificate:
    """A certificate of the owner's key, signed by the authority."""
    subject, issuer = (
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"eflops {name}")]) for name in (owner, "authority")
    )
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LEEWAY)
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    return builder.sign(authority, hashes.SHA384())
