#!/usr/bin/env bash
# Put what is known of every error of a log into the summary of the job, and the figures into the step's outputs.
# ERRMINE_LOG, ERRMINE_BUNDLE, ERRMINE_LANG, ERRMINE_PYTHON; the runner gives RUNNER_TEMP, GITHUB_STEP_SUMMARY and GITHUB_OUTPUT.
# A log whose errors nobody knows does not fail the step; a log or a bundle that cannot be read does.
set -euo pipefail

json=${RUNNER_TEMP:?}/errmine-match.json
markdown=${RUNNER_TEMP:?}/errmine-match.md
known=true

if [ "$ERRMINE_LOG" = - ] || [ ! -f "$ERRMINE_LOG" ]; then
  echo "errmine: no log at $ERRMINE_LOG" >&2
  exit 2
fi
status=0
errmine match --markdown --json-to "$json" --lang "${ERRMINE_LANG:-both}" --bundle "$ERRMINE_BUNDLE" -- "$ERRMINE_LOG" \
  > "$markdown" || status=$?
case $status in
  0) ;;
  1) known=false ;;
  *) exit "$status" ;;
esac
cat "$markdown" >> "${GITHUB_STEP_SUMMARY:?}"
count='import json, sys; print(sum(one["status"] != "ignored" for one in json.load(open(sys.argv[1]))["findings"]))'
errors=$("${ERRMINE_PYTHON:-python3}" -c "$count" "$json")
{
  echo "known=$known"
  echo "errors=$errors"
  echo "json=$json"
} >> "${GITHUB_OUTPUT:?}"
