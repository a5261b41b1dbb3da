#!/usr/bin/env bash
# The steps of action.yml, so that they can be run anywhere:
#
#   gate.sh install   build tare from this checkout, and put it on the PATH; install
#                     Valgrind from the distribution, unless TARE_COUNTS is off
#   gate.sh reviews   write what reviewers say of this commit to $GATE_OUT/reviews
#   gate.sh run       tare gate; the exit code is kept in $GATE_OUT/exit-code
#   gate.sh comment   say it on the pull request, if there is something to say
#   gate.sh verdict   end with the exit code of run
#
# GATE_OUT   directory for gate.md, gate.json and the results; default: in $RUNNER_TEMP
# GATE_BASE  revision to compare the head with; default: the pull request's branch,
#            or what was there before the push, else tare.yaml's
# GATE_ARGS  more arguments for tare gate, separated by spaces
# GATE_BEFORE  commit before a push
# GATE_BRANCH  branch of the base, where GITHUB_BASE_REF is not set: after a review
# GATE_RECORD  true: measure the head against gate: reference of tare.yaml, and
#              add the result to the history on branch tare-history
# GATE_PR      number of the pull request
# GATE_HEAD    commit of its head that reviews are to be of
# GATE_SHA     or a commit of its head
set -euo pipefail

temp=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
out=${GATE_OUT:-$temp/tare-gate}
marker='<!-- tare gate -->'

# complain TEXT: a line that a workflow shows as an error.
complain() {
	echo "::error title=tare gate::${1//%/%25}"
}

install() {
	command -v go >/dev/null || {
		complain 'the go command is needed: put actions/setup-go before this step'
		exit 1
	}
	local root
	root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
	mkdir -p "$temp/tare-bin"
	GOWORK=off GOFLAGS= go build -C "$root/cmd/tare" -buildvcs=false -o "$temp/tare-bin/tare" .
	echo "$temp/tare-bin" >>"${GITHUB_PATH:-/dev/null}"
	counter
}

# counter installs what counts instructions. Without it, the gate measures time only.
counter() {
	local as_root=()
	((EUID == 0)) || as_root=(sudo -n)
	if command -v valgrind >/dev/null || ! command -v apt-get >/dev/null || [ "${TARE_COUNTS:-}" = off ]; then
		return 0
	fi
	{ "${as_root[@]}" apt-get update -q &&
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends valgrind; } >"$temp/tare-counter.log" 2>&1 ||
		echo "::notice title=tare gate::valgrind was not installed: instructions are not counted"
}

# regular FILE: the artifact is the pull request's, and a link in it could name any
# file of this job. What is not there is nothing to say.
regular() {
	if [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then
		complain "$1 is not a regular file"
		exit 1
	fi
}

# known REVISION: whether this clone has it.
known() {
	git rev-parse --verify --quiet --end-of-options "$1^{commit}" >/dev/null
}

# deepen gets what a shallow clone lacks.
deepen() {
	if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
		git fetch --quiet --no-tags --unshallow origin
	fi
}

# sides sets base to the arguments that name it.
sides() {
	base=()
	local branch=${GITHUB_BASE_REF:-${GATE_BRANCH:-}}
	if [ -n "${GATE_BASE:-}" ]; then
		base=(--base "$GATE_BASE")
		known "$GATE_BASE" || deepen || true # tare says what is missing
	elif [ -n "$branch" ]; then
		deepen || true
		known "origin/$branch" ||
			git fetch --quiet --no-tags origin "+refs/heads/$branch:refs/remotes/origin/$branch" || true
		base=(--base "merge-base origin/$branch")
	elif [ -n "${GATE_BEFORE:-}" ] && [ -n "${GATE_BEFORE//0/}" ]; then
		known "$GATE_BEFORE" || deepen || true
		if known "$GATE_BEFORE"; then # not after a forced push
			base=(--base "$GATE_BEFORE")
		fi
	fi
}

# reviews writes what those who may write to the repository say in approving this
# very commit. Nobody can approve a pull request of their own.
reviews() {
	mkdir -p "$out"
	: >"$out/reviews"
	if [ -z "${GATE_PR:-}" ] || [ -z "${GATE_HEAD:-}" ]; then
		return 0
	fi
	gh api --paginate "repos/$GITHUB_REPOSITORY/pulls/$GATE_PR/reviews" \
		--jq ".[] | select(.state == \"APPROVED\" and .commit_id == \"$GATE_HEAD\" and (.author_association | IN(\"OWNER\", \"MEMBER\", \"COLLABORATOR\"))) | .body" \
		>"$out/reviews" || echo '::notice title=tare gate::no permission to read reviews'
}

run() {
	mkdir -p "$out"
	rm -rf "$out/gate.md" "$out/gate.json" "$out/log" "$out/data"
	sides
	local args=()
	read -r -a args <<<"${GATE_ARGS:-}"
	if [ "${GATE_RECORD:-}" = true ]; then
		deepen || true
		git fetch --quiet --tags origin || true
		base=(--record)
		TARE_DATA="$out/data" tare history pull
	elif [ -s "$out/reviews" ]; then
		args+=(--reviews "$out/reviews")
	fi
	local status=0
	set +e
	{
		TARE_DATA="$out/data" tare gate ${base[@]+"${base[@]}"} --format md -o "$out/gate.json" ${args[@]+"${args[@]}"} 2>&1 >&3 | tee "$out/log" >&2
		status=${PIPESTATUS[0]}
	} 3>"$out/gate.md"
	set -e
	echo "$status" >"$out/exit-code"
	if ! grep -q '^exit-code=' "${GITHUB_OUTPUT:-/dev/null}"; then # it came to no report
		local why
		why=$(grep '^tare: ' "$out/log" | tail -n 1 || true)
		why=${why#tare: }
		why=${why:-tare gate ended with exit code $status}
		complain "$why"
		printf '%s\n### tare gate: ❌ could not be carried out\n\n```\n%s\n```\n' "$marker" "$why" | tee "$out/gate.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
		printf 'outcome=failed\nblocked=true\nexit-code=%s\nsentence=%s\n' "$status" "$why" >>"${GITHUB_OUTPUT:-/dev/null}"
	fi
	pages
	if [ "${GATE_RECORD:-}" = true ] && [ "$status" = 0 ]; then
		TARE_DATA="$out/data" tare history push
		TARE_DATA="$out/data" tare history --page "$out/history.html"
	fi
}

# pages writes each result as a page, if this tare has them.
pages() {
	local result
	for result in "$out"/data/results/*/*/result.json; do
		[ -e "$result" ] || continue
		TARE_DATA="$out/data" tare report "$result" --format html >"${result%.json}.html" 2>/dev/null || rm -f "${result%.json}.html"
	done
}

# comment is written where there is something to say, and again only when the
# verdict is another one: figures differ in every run. Only a bot's comment is taken
# for the gate's: anybody can begin one with the marker.
comment() {
	local number=${GATE_PR:-} id old new
	regular "$out/gate.md"
	[ -s "$out/gate.md" ] || return 0
	new=$(sed -n 2p "$out/gate.md")
	if [ -z "$number" ] && [ -n "${GATE_SHA:-}" ]; then
		number=$(gh api "repos/$GITHUB_REPOSITORY/commits/$GATE_SHA/pulls" --jq '.[0].number // empty') || number=
	fi
	if [ -z "$number" ]; then
		echo '::notice title=tare gate::no pull request to comment on'
		return 0
	fi
	if ! id=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$number/comments" --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id"); then
		echo '::notice title=tare gate::no permission to read comments; deploy/ci/README.md has a recipe for forks'
		return 0
	fi
	id=${id%%$'\n'*}
	head -c 60000 "$out/gate.md" >"$out/comment.md"
	if [ -z "$id" ]; then
		case $new in
		*' passes: '* | *' not blocked: '* | *' nothing to compare: '*) return 0 ;;
		esac
		gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$number/comments" -F "body=@$out/comment.md" >/dev/null || denied
		return 0
	fi
	old=$(gh api "repos/$GITHUB_REPOSITORY/issues/comments/$id" --jq .body | tr -d '\r' | sed -n 2p)
	[ "$old" = "$new" ] ||
		gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$out/comment.md" >/dev/null || denied
}

denied() {
	echo '::notice title=tare gate::no permission to comment: give the job of the comment pull-requests: write; deploy/ci/README.md has a recipe for forks'
}

verdict() {
	exit "$(cat "$out/exit-code")"
}

case ${1:-} in
install | reviews | run | comment | verdict) "$1" ;;
*)
	echo "usage: gate.sh install|reviews|run|comment|verdict" >&2
	exit 2
	;;
esac
