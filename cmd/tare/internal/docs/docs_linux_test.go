package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
)

func TestMain(m *testing.M) { os.Exit(testtare.Main(m, cli.RunProcess)) }

// Every shell block does what it says, in a copy of the repository, with tare on
// the path. Documents run side by side. Each has copies of its own, in which its
// blocks follow one another from the top directory on; a YAML block that says its
// name is a file of the module of one's own.
//
// Slow blocks run with TARE_DOCS=slow, in which what measures does so for two
// rounds where the block does not say how many, and with TARE_DOCS=whole
// entirely as they stand, at their own budgets. Long blocks run with the latter.
func TestShellBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the commands of the documentation")
	}
	how := os.Getenv("TARE_DOCS")
	documents := map[string][]Block{}
	for _, b := range documented(t) {
		if b.Name() != "" || b.Runs() && (how == "whole" || !b.Is(Long) && (how == "slow" || !b.Is(Slow))) {
			documents[b.File] = append(documents[b.File], b)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(documents)) {
		t.Run(file, func(t *testing.T) {
			if how != "whole" { // measurements as they stand are not disturbed
				t.Parallel()
			}
			runDocument(t, documents[file], how == "whole")
		})
	}
}

// runDocument types the blocks of one document, in its own copies.
func runDocument(t *testing.T, blocks []Block, whole bool) {
	env := environment(t, whole)
	repository := sync.OnceValue(func() string { return copyRepository(t) })
	shop := sync.OnceValue(func() string { return copyShop(t) })
	for _, b := range blocks {
		if name := b.Name(); name != "" {
			if err := os.WriteFile(filepath.Join(shop(), name), []byte(b.Text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var in place
		if b.Is(Shop) {
			in = place{dir: shop(), env: env}
		} else { // the copy is ours, and has contenders that the clone has not
			in = place{dir: repository(), env: append(slices.Clone(env), "TARE_CATALOG=")}
		}
		t.Run(strconv.Itoa(b.Line), func(t *testing.T) {
			if !b.Is(Serves) {
				in.run(t, b)
				return
			}
			for _, c := range b.Commands() {
				in.serve(t, b, c)
			}
		})
	}
}

// environment is what blocks run in: nothing of tare's but a cache and a data
// directory, GOBIN for what they install, and tare on the path.
func environment(t *testing.T, whole bool) []string {
	t.Helper()
	dir := t.TempDir()
	tare := testtare.Program(t)
	typed := filepath.Dir(tare)
	if !whole {
		typed = filepath.Join(dir, "typed")
		if err := os.Mkdir(typed, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(typed, "tare"), []byte(strings.ReplaceAll(twoRounds, "TARE", tare)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		ours := strings.HasPrefix(v, "TARE_") && !strings.HasPrefix(v, "TARE_CATALOG=") // that may name the clone, which another user made
		return ours || strings.HasPrefix(v, "GOFLAGS=") || strings.HasPrefix(v, "GITHUB_")
	})
	return append(env, "PATH="+typed+":"+os.Getenv("PATH"), "GOFLAGS=-buildvcs=false", "GOBIN="+filepath.Join(dir, "installed"),
		"TARE_CACHE="+testtare.Cache(t), "TARE_DATA="+filepath.Join(dir, "data"), "TARE_LOCK="+filepath.Base(filepath.Dir(dir)))
}

// twoRounds is tare, with two rounds in place of a budget or a longest time.
const twoRounds = `#!/bin/bash
case "$1 $2" in
"gate merge") exec 'TARE' "$@" ;;
esac
case "$1" in
run|bench|json|routes|rpc|gate)
	args=() longest=() say=yes
	while (($#)); do
		case "$1" in
		--rounds|--rounds=*|--until|--list|--show-type|--help) say= ;;
		--budget) shift 2; continue ;;
		--budget=*) shift; continue ;;
		--max) longest=("$1" "$2"); shift 2; continue ;;
		esac
		args+=("$1"); shift
	done
	[[ $say ]] && exec 'TARE' "${args[@]}" --rounds 2
	exec 'TARE' "${args[@]}" "${longest[@]}" ;;
esac
exec 'TARE' "$@"
`

// copied is a script: what git knows of the directory $1 here goes to $2,
// with a history of its own: a branch main, which stands at $2, and one commit on
// top of it that gives the shop's orders room at once.
const copied = `set -e
mkdir -p "$2"
(cd "$1" && git -c safe.directory='*' ls-files -z --cached --others --exclude-standard . | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done | tar -c --null -T -) | tar -x -C "$2"
cd "$2"
git init -q -b main
git config user.name docs; git config user.email docs@example.com
git add -A; git commit -q -m main
git update-ref refs/remotes/origin/main HEAD
git checkout -q -b change
sed -i 's/^	var orders \[\]Order$/	orders := make([]Order, 0, bytes.Count(lines, []byte("\\n")))/' "$3"
git commit -q -a -m 'shop: room for all orders at once'`

func copyRepository(t *testing.T) string { return copyOf(t, ".", "tare", "examples/shop/order.go") }

func copyShop(t *testing.T) string { return copyOf(t, "examples/shop", "shop", "order.go") }

func copyOf(t *testing.T, dir, name, changed string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("bash", "-c", copied, "bash", dir, to, changed)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return to
}
