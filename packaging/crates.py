#!/usr/bin/env python3
"""crates.py licences|sbom: what is in the program: every crate, the standard library and musl.

Reads 'cargo metadata' (the lock file) and the sources that cargo has; writes to standard output. The same sources
give the same bytes: times come from SOURCE_DATE_EPOCH.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

CARGO = os.environ.get("CARGO", "cargo")
RUSTC = os.environ.get("RUSTC", "rustc")
TARGETS = sys.argv[2:]
# Names of files that hold a licence or a notice.
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|unlicense)([-_.].*)?$", re.IGNORECASE)
# Crates of the standard library that are linked in beside std itself (its own lock file has their versions).
# They are those that build.sh has it built with, without 'backtrace'.
STD_CRATES = ["cfg-if", "hashbrown", "libc", "rustc-demangle"]


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(metadata):
    """Packages that are linked into the program: not those of tests and of build scripts, nor macros."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    root = metadata["resolve"]["root"]
    found, edges, todo = set(), {}, [root]
    while todo:
        package = todo.pop()
        if package in found:
            continue
        found.add(package)
        edges[package] = []
        for dependency in nodes[package]["deps"]:
            kinds = [kind["kind"] for kind in dependency["dep_kinds"]]
            macro = any("proc-macro" in target["kind"] for target in packages[dependency["pkg"]]["targets"])
            if None in kinds and not macro:
                edges[package].append(dependency["pkg"])
                todo.append(dependency["pkg"])
    return packages, root, edges


def tree(target):
    """What the program alone needs; the metadata have the features that only tests ask for, too."""
    lines = output(CARGO, "tree", "--locked", "-e", "normal", "--target", target, "--prefix", "none",
                   "--no-dedupe", "-f", "{p}").splitlines()
    return {(line.split()[0], line.split()[1].removeprefix("v")) for line in lines if line.strip()}


def expression(licence):
    """An SPDX expression: old packages write '/' for 'OR'."""
    return licence.replace("/", " OR ") if licence else None


def everything():
    """The crates for all targets, each once: (name, version, licence, repository, folder, dependencies)."""
    crates = {}
    for target in TARGETS:
        metadata = json.loads(output(CARGO, "metadata", "--format-version", "1", "--locked",
                                     "--filter-platform", target))
        packages, root, edges = linked(metadata)
        built = tree(target)
        for package, dependencies in edges.items():
            found = packages[package]
            key = (found["name"], found["version"])
            if key not in built:
                continue
            crate = crates.setdefault(key, {
                "name": found["name"], "version": found["version"], "licence": expression(found["license"]),
                "repository": found.get("repository"), "folder": Path(found["manifest_path"]).parent,
                "file": found.get("license_file"), "needs": set(), "root": package == root,
            })
            needs = {(packages[other]["name"], packages[other]["version"]) for other in dependencies}
            crate["needs"] |= needs & built
    return [crates[key] for key in sorted(crates)]


def beside():
    """What is linked in and is no crate of the lock file: std, its crates, and musl."""
    library = Path(output(RUSTC, "--print", "sysroot").strip(), "lib/rustlib/src/rust/library")
    version = output(RUSTC, "-V").split()[1]
    parts = [("rust-std", version, "MIT OR Apache-2.0", "https://github.com/rust-lang/rust", "generic"),
             ("compiler_builtins", version, "MIT AND Apache-2.0 WITH LLVM-exception AND (MIT OR Apache-2.0)",
              "https://github.com/rust-lang/compiler-builtins", "generic")]
    for package in tomllib.loads((library / "Cargo.lock").read_text())["package"]:
        if package["name"] in STD_CRATES:
            parts.append((package["name"], package["version"], "MIT OR Apache-2.0", None, "cargo"))
    musl = os.environ.get("MUSL_VERSION")
    if musl:
        parts.append(("musl", musl, "MIT", "https://musl.libc.org", "generic"))
    return sorted(set(parts))


def texts(crate):
    """Texts of the licences that its package has."""
    names = sorted(path for path in crate["folder"].iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
    if crate["file"]:
        names = sorted(set(names) | {crate["folder"] / crate["file"]})
    return [path.read_text(encoding="utf-8", errors="replace").strip() + "\n" for path in names]


def licences():
    crates = everything()
    print("assay is made of these. Each stands under the licence that is named; the texts follow.\n")
    wanting = []
    for crate in crates:
        if not crate["licence"] and not texts(crate):
            wanting.append(crate["name"])
        print(f"{crate['name']} {crate['version']}: {crate['licence'] or 'see its text'}")
    for name, version, licence, _, _ in beside():
        print(f"{name} {version}: {licence} (beside the crates of the lock file)")
    if wanting:
        sys.exit(f"no licence is known of: {' '.join(wanting)}")
    # Many have the same text, to the letter.
    by_text = {}
    for crate in crates:
        for text in texts(crate):
            by_text.setdefault(text, []).append(f"{crate['name']} {crate['version']}")
    for text, names in sorted(by_text.items(), key=lambda item: item[1]):
        names = list(dict.fromkeys(names))
        print(f"\n{'=' * 100}\n{', '.join(names)}\n{'=' * 100}\n\n{text}", end="")


def sbom():
    """CycloneDX 1.5."""
    crates = everything()
    lock = tomllib.loads(Path("Cargo.lock").read_text())
    sums = {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}
    purl = lambda name, version, kind="cargo": f"pkg:{kind}/{name}@{version}"
    time = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)

    def component(name, version, licence, repository, kind="cargo", checksum=None, what="library"):
        made = {"type": what, "bom-ref": purl(name, version, kind), "name": name, "version": version,
                "purl": purl(name, version, kind)}
        if licence:
            made["licenses"] = [{"expression": licence}]
        if checksum:
            made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if repository:
            made["externalReferences"] = [{"type": "vcs", "url": repository}]
        return made

    root = next(crate for crate in crates if crate["root"])
    components, needs = [], []
    for crate in crates:
        key = (crate["name"], crate["version"])
        if not crate["root"]:
            components.append(component(*key, crate["licence"], crate["repository"], checksum=sums.get(key)))
        needs.append({"ref": purl(*key), "dependsOn": sorted(purl(*other) for other in crate["needs"])})
    known = {made["bom-ref"] for made in components}
    for name, version, licence, repository, kind in beside():
        made = component(name, version, licence, repository, kind)
        # A crate that the standard library has in the same version as we stands there once.
        if made["bom-ref"] not in known:
            components.append(made)
            needs.append({"ref": made["bom-ref"], "dependsOn": []})
        next(n for n in needs if n["ref"] == purl(root["name"], root["version"]))["dependsOn"].append(made["bom-ref"])
    for need in needs:
        need["dependsOn"] = sorted(set(need["dependsOn"]))
    main = component(root["name"], root["version"], root["licence"], root["repository"], what="application")
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": main},
        "components": sorted(components, key=lambda made: made["bom-ref"]),
        "dependencies": sorted(needs, key=lambda need: need["ref"]),
    }
    content = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}"
    print(json.dumps(document, indent=1, sort_keys=True))


{"licences": licences, "sbom": sbom}[sys.argv[1]]()
