package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

func TestEnvironment(t *testing.T) {
	for _, good := range [][]string{nil, {"GOGC=200"}, {"GOGC=off", "GOMEMLIMIT=1GiB"}, {"A="}, {"_a1=b=c d,e"}, {"MY_TARE_X=1"}} {
		if err := CheckEnvironment(good); err != nil {
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
		if err := CheckEnvironment(c.env); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), c.want) {
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
	got, err := ParsePins([]string{"example.com/a@v1.2.3", "example.com/b=."})
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
		if _, err := ParsePins(c.with); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.with, err, c.want)
		}
	}
}

func TestRelease(t *testing.T) {
	for text, want := range map[string]string{"go1.25.5": "go1.25.5", "1.25.5": "go1.25.5", "1.27rc1": "go1.27rc1"} {
		if got, err := ParseRelease([]string{text}); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, given := range [][]string{{"1.25"}, {"latest"}, {""}, {"go1.25.5,go1.26.0"}, {"go1.25.5", "go1.26.0"}} {
		if got, err := ParseRelease(given); cmdenv.ExitCode(err) != cmdenv.ExitUsage {
			t.Errorf("%q: %q, %v, want a usage error", given, got, err)
		}
	}
}
