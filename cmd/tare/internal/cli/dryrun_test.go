package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// dryRuns returns calls of every command that has --dry-run, by its name. want is a part of what they print.
func dryRuns() map[string][]struct{ args, want string } {
	return map[string][]struct{ args, want string }{
		"run": {
			{"run json-encode --dry-run", "\n  encoding-json  "},
			{"run --dry-run", "\n  json-encode "},
			{"run json-encode --dry-run --env A=b --profile cpu -o out.json --json", `"path": "out.json"`},
		},
		"bench": {
			{"bench --base HEAD~1 --dry-run", "\n  bench example.com/m  2 contenders × 2 workloads  at most 10m"},
			{"bench --base HEAD~1 --dry-run --json", `"sub.BenchmarkX"`},
			{"bench --base HEAD~1 --until decided --max 30s --dry-run", "\n  bench example.com/m  2 contenders × 2 workloads  at most 30s"},
			{"bench --base HEAD~1 --until decided --dry-run", "\n  bench example.com/m  2 contenders × 2 workloads  1h"},
			{"bench ./other --env A=b --dry-run --rounds 12 --json", `"rounds": 12,`},
			{"bench ./sub/... --base HEAD~1 --budget 90s --receipt r.json --dry-run --json", `"path": "r.json"`},
		},
		"gate": {
			{"gate --base HEAD~1 --dry-run", "\n  gate-load-api "},
			{"gate --base HEAD~1 --dry-run --json -o gate.json --gitlab quality.json", `"gate-json-CODEC"`},
			{"gate --base HEAD --head HEAD --dry-run --json", "base and head are one and the same commit"},
		},
		"json": {
			{"json order.json --dry-run", "\n  json-order "},
			{"json order.json --only goccy --dry-run --json", `"revision": "github.com/goccy/go-json@v`},
			{"json order.json --type ./.Order --dry-run --json", `"json-order-Order"`},
		},
		"bisect": {
			{"bisect --good HEAD~1 --bench X --dry-run", "\n  bisect  2 contenders × 2 workloads  at most 5m\n"},
			{"bisect ./sub --good HEAD~1 --bench X --metric allocs --max 90s -n --json", `"seconds": 90,`},
		},
		"routes": {
			{"routes routes.txt --dry-run", "\n  routes "},
			{"routes routes.txt --only chi --dry-run --json", `"chi"`},
			{"routes routes.txt --go go1.26,go1.27.2+simd --only chi --dry-run --json", `"chi-go1.27.2+simd"`},
			{"routes routes.txt --go go1.26,go1.27 --dry-run --json", `"go": "go1.26"`},
		},
		"rpc": {{"rpc service.proto --dry-run", "\n  rpc-service "}, {"rpc service.proto --only connect --dry-run --json", `"revision": "connectrpc.com/connect@v`}},
		"load": {
			{"load --dry-run --page page.html --metrics m.txt :1", "GET /\n"},
			{"load --dry-run --json :1 :2", `"id": "load"`},
			{"load --dry-run --json --metrics m.txt --body {} :1", `"body": "e30="`},
		},
		"serve": {{"serve tiny --stack nethttp --dry-run", "\ncommand "}},
		"clean": {{"clean --dry-run", ""}, {"clean --dry-run --json", `"dry_run": true`}},
	}
}

// makeProject makes a repository with commits, and files that commands read.
func makeProject(t *testing.T) (dir string) {
	t.Helper()
	g := newGated(t)
	g.write("tare.yaml", "bench: {run: X}\njson: [order.json]\nload:\n  - program: ./api\n    args: [-addr, '127.0.0.1:$PORT']\n    mix: [GET /=1]\n")
	g.write("api/main.go", "package main\n\nfunc main() {}\n")
	g.write("order.json", `{"id": 1}`)
	g.write("order.go", "package m\n\ntype Order struct{ ID int }\n")
	g.write("routes.txt", "GET /a\nGET /b/{id}\n")
	g.write("service.proto", "syntax = \"proto3\";\npackage a.v1;\noption go_package = \"example.com/m/a\";\nservice S { rpc Get(M) returns (M); }\nmessage M { string id = 1; }\n")
	g.write("other/y_test.go", "package y\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {}\n")
	g.git("add", ".")
	g.git("commit", "--quiet", "-m", "all")
	g.write("order.go", "package m\n\ntype Order struct{ ID, Count int }\n")
	g.git("commit", "--quiet", "-a", "-m", "head")
	return g.dir
}

// Every dry run writes no file, starts nothing that stays, and needs no other program than git.
func TestDryRunsWriteNothing(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("it takes git, and symbolic links")
	}
	path, err := filepath.Abs("../../../../docs/schema/dryrun.schema.json") // before the working directory changes
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, home, tmp, bin := makeProject(t), t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Symlink(git, filepath.Join(bin, "git")); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "TMPDIR": tmp, "PATH": bin, "GOCACHE": "", "GOMODCACHE": "", "GOPATH": "", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "",
		"TARE_CACHE": "", "TARE_DATA": "", "TARE_CATALOG": "", "TARE_LOCK": ownLock,
	} {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	setReadOnly(t, dir)
	before, calls := listTree(t, dir), dryRuns()
	for _, command := range cli.Commands().Commands() {
		name := command.Name()
		if command.Flags().Lookup("dry-run") == nil {
			continue
		}
		if len(calls[name]) == 0 {
			t.Errorf("no dry run of tare %s is tried", name)
		}
		for _, tt := range calls[name] {
			var out, said bytes.Buffer
			args := strings.Fields(tt.args)
			code := cli.Main(t.Context(), cmdenv.Env{Args: args, Getenv: os.Getenv, In: strings.NewReader(""), Out: &out, Err: &said})
			if code != cmdenv.ExitOK || !strings.Contains(out.String(), tt.want) {
				t.Errorf("%s: exit code %d\n%s%s\nwant %s", tt.args, code, out.String(), said.String(), tt.want)
			}
			isDocument := slices.Contains(args, "--json") && !slices.Contains([]string{"serve", "clean"}, name)
			if isDocument {
				checkDocument(t, schema, out.String())
			}
			for _, empty := range []string{home, tmp} {
				if made := listTree(t, empty); len(made) > 1 { // the directory itself
					t.Errorf("%s makes %q", tt.args, made)
				}
			}
			if after := listTree(t, dir); !slices.Equal(after, before) {
				t.Errorf("%s: there were %q, now %q", tt.args, before, after)
			}
			if left := childrenWith(home); len(left) > 0 {
				t.Errorf("%s leaves processes: %q", tt.args, left)
			}
		}
	}
}

// checkDocument checks a document against a schema.
func checkDocument(t *testing.T, schema *jsonschema.Schema, text string) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = schema.Validate(document)
	}
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

// setReadOnly takes the permission to write from all directories below dir, until the test ends.
func setReadOnly(t *testing.T, dir string) {
	setMode := func(mode fs.FileMode) {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(path, mode)
			}
			return err
		})
	}
	setMode(0o555)
	t.Cleanup(func() { setMode(0o755) })
}

// listTree lists every file and directory of dir, with the times of their last changes.
func listTree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all = append(all, path+" "+info.ModTime().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// childrenWith returns the command lines of other processes with home as HOME, where /proc shows them.
func childrenWith(home string) (lines []string) {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range found {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environ, []byte("HOME="+home+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return lines
}
