package session

import (
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// newEnv is an environment with one directory for everything, and a host lock of its
// own, in which nothing is built and nothing ends what a killed tare leaves.
func newEnv(errs io.Writer, dir, lock string) cmdenv.Env {
	return cmdenv.Env{
		Err: errs, Now: time.Now,
		Getenv: func(name string) string {
			return map[string]string{"HOME": dir, "TARE_DATA": dir, "TARE_CACHE": dir, "TARE_LOCK": lock}[name]
		},
		Lab: cmdenv.Lab{
			Guard:     func(string) (*trial.Guardian, error) { return nil, nil },
			Sources:   func(cmdenv.Workshop) (lab.Sources, error) { return nil, nil },
			Interrupt: func() (<-chan os.Signal, func()) { return nil, func() {} },
			Terminal:  func(any) (int, int, bool) { return 80, 24, false },
		},
	}
}

// A command that is started anywhere in a session carries the run's tag, so that
// the guardian ends it when tare is killed.
func TestCommandsOfASessionCarryItsTag(t *testing.T) {
	t.Setenv(trial.EnvRun, "outer")
	env := newEnv(io.Discard, t.TempDir(), "")
	p := NewProgress(env, true)
	defer p.End()
	err := With(t.Context(), env, Options{NoLock: true}, p, func(_ context.Context, s *Session) error {
		tag := trial.EnvRun + "=" + s.RunTag
		if s.RunTag == "" || !slices.Contains(exec.Command("go").Environ(), tag) || !slices.Contains(build.Environment(os.Environ()), tag) {
			t.Errorf("no %s; the tag is %q", tag, os.Getenv(trial.EnvRun))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv(trial.EnvRun); got != "outer" {
		t.Errorf("afterwards the tag is %q", got)
	}
}
