package clean

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/lab/journal"
)

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "30d": 30 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "12h": 12 * time.Hour, "90m": 90 * time.Minute, "15250w": 15250 * 7 * 24 * time.Hour} {
		if got, err := parseAge(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"soon", "0d", "-1d", "1.5d", "d", "0s", "-3h", "99999999d", "15251w"} {
		if _, err := parseAge(text); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
			t.Errorf("%q is an age: %v", text, err)
		}
	}
}

func TestDirectoriesThatAreNotOurs(t *testing.T) {
	home := t.TempDir()
	for dir, refused := range map[string]bool{
		string(filepath.Separator): true, home: true, filepath.Join(home, "tare"): false, filepath.Join(home, "nowhere", "tare"): false,
	} {
		if err := checkOwnership("TARE_CACHE", dir, home); (err != nil) != refused {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestWhatLiesInTheCache: every place that tare fills is known, what is under
// way stays, and of lists of routes those that a kept result names.
func TestWhatLiesInTheCache(t *testing.T) {
	d := cmdenv.Dirs{Cache: t.TempDir(), Data: t.TempDir()}
	put := func(dir, path, text string) {
		t.Helper()
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", t.TempDir())
	sent := "sent/" + strings.Repeat("0123456789abcdef", 4)
	put(d.Cache, sent, "what a coordinator sent")
	put(d.Cache, "sent/new-1", "half of it")
	put(d.Cache, "sent/new-2", "half of it")
	const tree, named, other, typed = "0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123", "1123456789abcdef0123", "2123456789abcdef0123"
	put(d.Cache, "lock", "")
	put(d.Cache, "trees/"+tree+"/main.go", "package main")
	put(d.Cache, "trees/new-1/index", "")
	put(d.Cache, "bench/run-1/base.test", "half a program")
	put(d.Cache, "bench/run-2/base.test", "half a program")
	put(d.Cache, "document/"+typed+"/go.mod", "module x")
	put(d.Cache, "document/.making-1/go.mod", "module x")
	put(d.Cache, "routes/"+named+"/routes.yaml", "study: routes")
	put(d.Cache, "routes/"+other+"/routes.yaml", "study: routes")
	put(d.Cache, "rpc/"+typed+"/plugins/go.mod", "module x")
	put(d.Cache, "sqlite/wazero-v1.11.0-amd64-linux/aa", "code")
	put(d.Cache, "answers/0f/x.json", "{}")
	put(d.Cache, ".reference-1/x", "")
	put(d.Data, "results/routes/20260301T120000Z-1/result.json", `{"schema": "tare.result/1", "study": "routes", "asked": {"study_dir": "`+filepath.ToSlash(filepath.Join(d.Cache, "routes", named))+`"}}`)
	old := time.Now().Add(-2 * unfinishedFor)
	for _, name := range []string{"bench/run-2", ".reference-1", "sent/new-2"} {
		if err := os.Chtimes(filepath.Join(d.Cache, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for what, c := range map[string]struct {
		o    options
		want []string
	}{
		"by itself":    {options{}, []string{".reference-1", "bench/run-2", "document/" + typed, "routes/" + other, "rpc/" + typed, sent, "sent/new-2", "trees/" + tree}},
		"the cache":    {options{cache: true}, []string{".reference-1", "answers/0f", "bench/run-2", "document/" + typed, "routes/" + other, "rpc/" + typed, sent, "sent/new-2", "sqlite/wazero-v1.11.0-amd64-linux", "trees/" + tree}},
		"with results": {options{results: true}, []string{".reference-1", "bench/run-2", "document/" + typed, "results/routes/20260301T120000Z-1", "routes/" + named, "routes/" + other, "rpc/" + typed, sent, "sent/new-2", "trees/" + tree}},
		"older ones":   {options{results: true, older: time.Hour}, []string{".reference-1", "bench/run-2", "document/" + typed, "results/routes/20260301T120000Z-1", "routes/" + other, "rpc/" + typed, sent, "sent/new-2", "trees/" + tree}},
	} {
		found, left, err := findLitter(t.Context(), cmdenv.Env{}, d, c.o)
		if err != nil || len(left) > 0 {
			t.Fatalf("%s: %q, %v", what, left, err)
		}
		var got []string
		for _, l := range found {
			got = append(got, filepath.ToSlash(l.name))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", what, got, c.want)
		}
	}
	put(d.Cache, "sent/"+strings.Repeat("0", 64)+"/x", "")
	if _, _, err := findLitter(t.Context(), cmdenv.Env{}, d, options{}); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
		t.Errorf("a directory among the files: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(d.Cache, "sent")); err != nil {
		t.Fatal(err)
	}
	put(d.Cache, "trees/deploy.sh", "")
	if _, _, err := findLitter(t.Context(), cmdenv.Env{}, d, options{}); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
		t.Errorf("somebody else's file: %v", err)
	}
}

// TestTempFolders: what a killed tare left among temporary files goes; what is in use, a
// link and what is another program's stay.
func TestTempFolders(t *testing.T) {
	if !machine.CanLockDirs {
		t.Skip("this system has no locks of directories")
	}
	t.Setenv("TMPDIR", t.TempDir())
	home := t.TempDir()
	var out, errs bytes.Buffer
	env := cmdenv.Env{Out: &out, Err: &errs, Now: time.Now, Getenv: func(name string) string {
		return map[string]string{"HOME": home, "TARE_DATA": filepath.Join(home, "data"), "TARE_CACHE": filepath.Join(home, "cache")}[name]
	}}
	used, remove, err := machine.TempDir("agent")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	prefix := used[:strings.LastIndex(used, "-")]
	for _, dir := range []string{prefix + "-killed/files", filepath.Join(os.TempDir(), "tare-other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(home, prefix+"-link"); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false, false} {
		if err := runClean(t.Context(), env, options{dryRun: dry}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(prefix + "-killed"); (err == nil) != dry {
			t.Errorf("dry %v: what was left: %v", dry, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if want := []string{used, prefix + "-link", filepath.Join(os.TempDir(), "tare-other")}; len(left) != len(want) {
		t.Errorf("%q stay, want %q", left, want)
	}
	if want := "1 temporary folder"; strings.Count(out.String(), want) != 2 || errs.Len() > 0 {
		t.Errorf("want %q twice:\n%s%s", want, out.String(), errs.String())
	}
}

// TestResultThatCannotBeRead: such a result may name any list of routes, so all
// lists stay, until it is removed.
func TestResultThatCannotBeRead(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d := cmdenv.Dirs{Cache: t.TempDir(), Data: t.TempDir()}
	list := filepath.Join(d.Cache, "routes", "0123456789abcdef0123")
	runs := filepath.Join(d.AllResults(), "routes")
	cut, locked, journaled := filepath.Join(runs, "20260301T120000Z-1"), filepath.Join(runs, "20260302T120000Z-1"), filepath.Join(runs, "20260303T120000Z-1")
	for _, dir := range []string{list, cut, locked, journaled} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(journaled, journal.FileName), "{}\n", 0o600) // it has no result
	goes := func(o options, want bool) string {
		t.Helper()
		found, left, err := findLitter(t.Context(), cmdenv.Env{}, d, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(found, func(l litter) bool { return l.Path == list }); got != want {
			t.Errorf("%+v: the list goes: %v", o, got)
		}
		return strings.Join(left, "\n")
	}
	if left := goes(options{}, true); left != "" {
		t.Error(left)
	}
	put(filepath.Join(cut, history.ResultName), `{"schema": "tare.result/1", "asked"`, 0o600)
	const stay = "; a result may name any list of routes: they all stay"
	if left, want := goes(options{}, false), "cannot read "+filepath.Join(cut, history.ResultName)+": unexpected end of JSON input"+stay; left != want {
		t.Errorf("%q, want %q", left, want)
	}
	goes(options{cache: true}, false)
	goes(options{results: true, older: time.Hour}, false)
	goes(options{results: true}, true) // no result stays
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		return // no file is unreadable
	}
	put(filepath.Join(locked, history.ResultName), "{}", 0)
	if left, want := goes(options{}, false), "cannot read "+filepath.Join(locked, history.ResultName)+": permission denied (and 1 other result)"+stay; left != want {
		t.Errorf("%q, want %q", left, want)
	}
}

// TestRunThatIsWritten: a run that another tare writes stays, and clean says so.
func TestRunThatIsWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks of directories")
	}
	t.Setenv("TMPDIR", t.TempDir())
	home := t.TempDir()
	var out, errs bytes.Buffer
	env := cmdenv.Env{Out: &out, Err: &errs, Now: time.Now, Getenv: func(name string) string {
		return map[string]string{"HOME": home, "TARE_DATA": filepath.Join(home, "data"), "TARE_CACHE": filepath.Join(home, "cache")}[name]
	}}
	runs := filepath.Join(home, "data", "results", "s")
	written, over := filepath.Join(runs, "20260301T120000Z-1"), filepath.Join(runs, "20260302T120000Z-1")
	for _, dir := range []string{written, over} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, journal.FileName), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unlock, ok := machine.LockDir(written)
	if !ok {
		t.Fatal("it is locked")
	}
	for _, dry := range []bool{true, false} {
		out.Reset()
		errs.Reset()
		if err := runClean(t.Context(), env, options{results: true, dryRun: dry}); err != nil {
			t.Fatal(err)
		}
		if want := "tare: another tare is writing " + written + "; it was left alone\n"; errs.String() != want {
			t.Errorf("dry %v: %q, want %q", dry, errs.String(), want)
		}
		if text := out.String(); strings.Contains(text, written) || !strings.Contains(text, "1 kept run") {
			t.Errorf("dry %v: %s", dry, text)
		}
		if _, err := os.Stat(filepath.Join(written, journal.FileName)); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(over); (err == nil) != dry {
			t.Errorf("dry %v: the other run: %v", dry, err)
		}
	}
	unlock()
	if err := runClean(t.Context(), env, options{results: true}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(runs); err == nil {
		t.Error("it stays when it is free")
	}
}
