#!/usr/bin/env bash
# Install errmine into a folder of its own and put its command on the path of the steps that follow.
# ERRMINE_PYTHON, ERRMINE_PACKAGE ("": this repository), ERRMINE_ACTION; the runner gives RUNNER_TEMP and GITHUB_PATH.
set -euo pipefail

folder=${RUNNER_TEMP:?}/errmine
package=${ERRMINE_PACKAGE:-}
if [ -z "$package" ]; then
  package=$ERRMINE_ACTION
  # what asks a bundle needs none of the packages of what makes one
  if [ -f "$ERRMINE_ACTION/deploy/errmine-match/pyproject.toml" ]; then
    package=$ERRMINE_ACTION/deploy/errmine-match
  fi
fi
"${ERRMINE_PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -- "$package"
echo "$folder/bin" >> "${GITHUB_PATH:?}"
