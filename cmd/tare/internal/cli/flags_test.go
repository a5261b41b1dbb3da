package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
)

func TestEnvironment(t *testing.T) {
	for _, good := range [][]string{nil, {"GOGC=200"}, {"GOGC=off", "GOMEMLIMIT=1GiB"}, {"A="}, {"_a1=b=c d,e"}, {"MY_TARE_X=1"}} {
		if err := environment(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"GOGC"}, `--env "GOGC" is no variable; NAME=value, e.g. GOGC=200`},
		{[]string{"=1"}, `--env "=1" is no variable; `},
		{[]string{""}, `--env "" is no variable; `},
		{[]string{"A B=1"}, `--env "A B=1" is no variable; `},
		{[]string{"1A=1"}, `--env "1A=1" is no variable; `},
		{[]string{"GOMAXPROCS=2"}, "--env GOMAXPROCS is not taken; --procs N sets it"},
		{[]string{"gomaxprocs=2"}, "--env GOMAXPROCS is not taken; --procs N sets it"},
		{[]string{"TARE_WIRE=3,4"}, "--env TARE_WIRE is not taken: TARE_ variables are tare's own; set TARE_CACHE and TARE_DATA in the environment of tare itself"},
		{[]string{"GOGC=1", "GOGC=2"}, "--env GOGC is given twice; "},
	} {
		if err := environment(c.env); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.env, err, c.want)
		}
	}
}

func TestPins(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("go.mod", []byte("module example.com/b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := pins([]string{"example.com/a@v1.2.3", "example.com/b=."})
	if here, _ := os.Getwd(); err != nil || !slices.Equal(got, []string{"example.com/a@v1.2.3", "example.com/b=" + here}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		with []string
		want string
	}{
		{[]string{"example.com/a"}, `--with "example.com/a" is neither module@version nor module=./dir`},
		{[]string{"example.com/a@v1", "example.com/a=."}, "--with example.com/a is given twice; "},
		{[]string{"example.com/a=./nowhere"}, "--with example.com/a=./nowhere: there is no go.mod in " + filepath.Join(dir, "nowhere")},
	} {
		if _, err := pins(c.with); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.with, err, c.want)
		}
	}
}

func TestRelease(t *testing.T) {
	for text, want := range map[string]string{"go1.25.5": "go1.25.5", "1.25.5": "go1.25.5", "1.27rc1": "go1.27rc1"} {
		if got, err := release([]string{text}); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, given := range [][]string{{"1.25"}, {"latest"}, {""}, {"go1.25.5,go1.26.0"}, {"go1.25.5", "go1.26.0"}} {
		if got, err := release(given); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
			t.Errorf("%q: %q, %v, want a usage error", given, got, err)
		}
	}
}

// The last of the commands that tare new prints is a study that can be read.
func TestNextCommands(t *testing.T) {
	const edit = " mod edit "
	for _, c := range []struct {
		at, sdk string
		inside  bool
		want    []string // but the last
		entry   tare.Entry
	}{
		{"contenders/codec/mine", "", true, []string{"GOWORK=off go -C contenders/codec/mine get MODULE@VERSION", "make contenders LEAVES=contenders/codec/mine"}, tare.Entry{ID: "mine"}},
		{"/src/tare/contenders/codec/mine", "", true, []string{"GOWORK=off go -C /src/tare/contenders/codec/mine get MODULE@VERSION", "make -C /src/tare contenders LEAVES=contenders/codec/mine"}, tare.Entry{ID: "mine"}},
		{"bench/mine", "", false, []string{"GOWORK=off go -C bench/mine get . MODULE@VERSION", "GOWORK=off go -C bench/mine vet ."}, tare.Entry{ID: "mine", Program: "./bench/mine"}},
		{"/a b/mine", "/my cache/catalog/0", false, []string{
			"GOWORK=off go -C '/a b/mine'" + edit + "'-replace=github.com/tarebench/tare=/my cache/catalog/0' # for go and an editor on this machine",
			"GOWORK=off go -C '/a b/mine' get . MODULE@VERSION", "GOWORK=off go -C '/a b/mine' vet .",
			"GOWORK=off go -C '/a b/mine'" + edit + "-dropreplace=github.com/tarebench/tare # before it goes to another; tare needs none",
		}, tare.Entry{ID: "mine", Program: "/a b/mine"}},
	} {
		got := next("codec", "mine", c.at, c.sdk)
		if c.inside {
			got = nextInside("codec", "mine", c.at)
		}
		last := len(got) - 1
		if !slices.Equal(got[:last], c.want) {
			t.Errorf("%s: %q\nwant %q", c.at, got[:last], c.want)
		}
		s := piped(t, got[last])
		if len(s.Contenders) != 2 || s.Contenders[1].ID != c.entry.ID || s.Contenders[1].Program != c.entry.Program {
			t.Errorf("%s: %+v", got[last], s.Contenders)
		}
	}
	for _, kind := range catalog.Kinds() {
		if s := piped(t, weighed(kind, "mine", "mine")); !slices.Equal(s.Kinds, []string{kind}) || s.Contenders[0].ID != s.Baseline {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// piped is the study that a command pipes into tare.
func piped(t *testing.T, command string) tare.Study {
	t.Helper()
	_, study, _ := strings.Cut(command, "'")
	study, run, _ := strings.Cut(study, "'")
	s, err := studyfile.Parse("stdin", []byte(study))
	if err != nil || run != " | tare run -" {
		t.Fatalf("%s: %v", command, err)
	}
	return s
}
