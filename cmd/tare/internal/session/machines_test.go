package session

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/machine"
)

// onNothing is an order that --on gives no machine.
func onNothing(resume bool) *Order {
	commit := strings.Repeat("a", 40)
	return &Order{
		On: &cmdenv.Machines{Resume: resume, Prefix: fleet.DefaultPrefix}, Share: 1, Name: "bench",
		StudyOrder: fleet.StudyOrder{Command: "bench", Repo: &gitrev.Packed{Head: commit, Commits: []string{commit}, Tree: commit}, Seed: 7},
	}
}

// A run on several machines that another tare writes is not gone on with.
func TestResumeWaitsForAnother(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks of directories")
	}
	env := newEnv(io.Discard, t.TempDir(), t.Name())
	dirs, err := env.Dirs()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(dirs.Data, "fleet", filepath.Base(dirs.Results("bench")), "20260301T120000Z-7")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fleet.JournalName), []byte(`{"study":{"seed":7}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := onNothing(true)
	unlock, ok := machine.LockDir(dir)
	if !ok {
		t.Fatal("it is locked")
	}
	if _, err := o.Measure(t.Context(), env, true); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.Contains(err.Error(), "another tare is writing "+dir) {
		t.Errorf("while another writes it: %v", err)
	}
	unlock()
	if m, err := o.Measure(t.Context(), env, true); m.Dir != dir || err == nil || strings.Contains(err.Error(), "another tare") {
		t.Errorf("when it is free: %s, %v", m.Dir, err)
	}
}

// An older run does not take the place of the newest where that cannot be read.
func TestResumeReadsTheNewest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(journal string) error
		want  string // of the error; empty: the older run is taken
	}{
		{"its journal cannot be read", func(journal string) error { return os.Mkdir(journal, 0o700) }, ": is a directory"},
		{"its journal is damaged", func(journal string) error { return os.WriteFile(journal, []byte("{\"study\"\n"), 0o600) }, fleet.JournalName + ":1: damaged"},
		{"its result cannot be read", func(journal string) error {
			result := filepath.Join(filepath.Dir(journal), history.ResultName)
			return os.Symlink(result, result)
		}, ": too many levels of symbolic links"},
		{"it ends in its first line", func(journal string) error { return os.WriteFile(journal, []byte("{\"stu"), 0o600) }, ""},
		{"it has a result", func(journal string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(journal), history.ResultName), nil, 0o600)
		}, ""},
		{"it has no journal", func(string) error { return nil }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.HasPrefix(tt.want, ": ") {
				t.Skip("another system has other words")
			}
			env := newEnv(io.Discard, t.TempDir(), t.Name())
			dirs, err := env.Dirs()
			if err != nil {
				t.Fatal(err)
			}
			under := filepath.Join(dirs.Data, "fleet", filepath.Base(dirs.Results("bench")))
			older, newest := filepath.Join(under, "20260301T120000Z-7"), filepath.Join(under, "20260302T120000Z-8")
			if err := errors.Join(os.MkdirAll(older, 0o700), os.MkdirAll(newest, 0o700),
				os.WriteFile(filepath.Join(older, fleet.JournalName), []byte(`{"study":{"seed":7}}`+"\n"), 0o600),
				tt.spoil(filepath.Join(newest, fleet.JournalName))); err != nil {
				t.Fatal(err)
			}
			dir, unlock, err := onNothing(true).chooseDir(dirs, env)
			switch {
			case tt.want != "":
				if err == nil || !strings.Contains(err.Error(), newest) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s, %v", dir, err)
				}
			case err != nil || dir != older:
				t.Errorf("%s, %v", dir, err)
			}
			if err == nil {
				unlock()
			}
		})
	}
}

// Runs on several machines that begin at one instant with one seed have a directory each.
// One that never began leaves none.
func TestFleetRunsNeverShareADirectory(t *testing.T) {
	env := newEnv(io.Discard, t.TempDir(), t.Name())
	env.Now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	dirs, err := env.Dirs()
	if err != nil {
		t.Fatal(err)
	}
	o := onNothing(false)
	seen := map[string]bool{}
	for range 2 {
		dir, unlock, err := o.chooseDir(dirs, env)
		if err != nil || seen[dir] {
			t.Fatalf("%s, %v", dir, err)
		}
		defer unlock()
		seen[dir] = true
	}
	o.On.On = []string{"nowhere"}
	if m, err := o.Measure(t.Context(), env, true); err == nil || m.Dir == "" {
		t.Errorf("%q, %v", m.Dir, err)
	} else if _, err := os.Stat(m.Dir); err == nil {
		t.Errorf("%s is left", m.Dir)
	}
}
