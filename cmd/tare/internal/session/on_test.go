package session

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/bring/tree"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/machine"
)

// onNothing is an order that --on gives no machine.
func onNothing(resume bool) *Order {
	commit := strings.Repeat("a", 40)
	return &Order{
		On: &cmdenv.Machines{Resume: resume, Prefix: fleet.DefaultPrefix}, Share: 1, Name: "bench",
		StudyOrder: fleet.StudyOrder{Command: "bench", Repo: &tree.Packed{Head: commit, Commits: []string{commit}, Tree: commit}, Seed: 7},
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
		dir, unlock, err := o.directory(dirs, env)
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
