//go:build unix

package trial

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// command starts this program in a part that needs no wire.
func command(t *testing.T, part string, change func(*Spec)) *Command {
	t.Helper()
	spec := Spec{Path: os.Args[0], Name: part, Run: "test-" + t.Name(), Env: []string{quick, envPart + "=" + part}}
	if change != nil {
		change(&spec)
	}
	c, err := StartCommand(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// exited waits for c to end by itself.
func exited(t *testing.T, c *Command) {
	t.Helper()
	select {
	case <-c.Exited():
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestCommandIsToldToEnd(t *testing.T) {
	t.Parallel()
	c := command(t, "ends when told", nil)
	printed(t, c, "up\n")
	if err := c.Lost("serve"); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "linux" && !slices.Equal(c.PIDs(), []int{c.PID()}) {
		t.Errorf("processes %v, want %d", c.PIDs(), c.PID())
	}
	inTime := within(t, 4*time.Second, "closing") // it goes when told, before it is made to
	e := c.Close(t.Context())
	inTime()
	if e.KilledGroup || e.PID != c.PID() || e.StdoutBytes != int64(len("up\ndown\n")) {
		t.Errorf("evidence %+v", e)
	}
	if again := c.Close(t.Context()); again != e {
		t.Errorf("closed again: %+v, first %+v", again, e)
	}
	if c.PIDs() != nil || alive(c.PID()) {
		t.Error("it is still there")
	}
}

// printed waits until c has printed at least as many bytes as text.
func printed(t *testing.T, c *Command, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); c.Printed() < int64(len(text)); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("printed %d bytes, want %q", c.Printed(), text)
		}
	}
}

func TestCommandThatWillNotEnd(t *testing.T) {
	t.Parallel()
	c := command(t, "sleeps through signals", nil)
	printed(t, c, "up\n")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	inTime := within(t, 10*time.Second, "closing")
	e := c.Close(ctx)
	inTime()
	if !e.KilledGroup || alive(c.PID()) {
		t.Errorf("evidence %+v, alive %v", e, alive(c.PID()))
	}
}

func TestCommandThatEnds(t *testing.T) {
	t.Parallel()
	c := command(t, "crash at once", nil)
	exited(t, c)
	asClass(t, c.Lost("start"), tare.ErrExit, "ended during start with exit status 3: no licence found")
	asClass(t, c.Lost("serve"), tare.ErrExit, "ended during start") // the first counts
	c.Close(t.Context())
}

func TestCommandThatCannotStart(t *testing.T) {
	_, err := StartCommand(t.Context(), Spec{Path: "/nowhere/at/all"})
	asClass(t, err, tare.ErrStart, "no such file")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := StartCommand(ctx, Spec{Path: os.Args[0]}); err == nil {
		t.Error("started under a context that had ended")
	}
}

// What a command has started ends with it, wherever it went.
func TestCommandLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	c := command(t, "leaves a child and waits", func(s *Spec) { s.Env = append(s.Env, envPIDs+"="+pids) })
	printed(t, c, "up\n")
	children := numbers(t, pids)
	if e := c.Close(t.Context()); !e.KilledGroup {
		t.Error("a child was left, and the evidence does not say so")
	}
	for _, pid := range append(children, c.PID()) {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if left := findTagged([]string{EnvTrial + "=" + c.ID()}); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestCommandOverItsLimits(t *testing.T) {
	t.Parallel()
	c := command(t, "prints without end", func(s *Spec) { s.OutputLimit = 1 << 20 })
	exited(t, c)
	asClass(t, c.Lost("serve"), tare.ErrOutput, "more than 1 MiB")
}

// What was printed and not read yet counts.
func TestPrintedCountsWhatWaits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	defer theirs.Close()
	if _, err := theirs.WriteString("four"); err != nil {
		t.Fatal(err)
	}
	if n := countUnread(ours); n != 4 {
		t.Errorf("%d bytes wait, want 4", n)
	}
	screen, child, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer child.Close()
	if _, err := child.WriteString("four\n"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); countUnread(screen) != 6; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes wait on a terminal, want 6", countUnread(screen))
		}
	}
}

// On a terminal a line feed is two bytes, and a program can tell.
func TestTerminal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	t.Parallel()
	c := command(t, "looks at stdout", func(s *Spec) { s.Terminal = true })
	exited(t, c)
	e := c.Close(t.Context())
	if e.StdoutBytes != int64(len("terminal\r\n")) {
		t.Errorf("%d bytes on a terminal", e.StdoutBytes)
	}
	c = command(t, "looks at stdout", nil)
	exited(t, c)
	if e := c.Close(t.Context()); e.StdoutBytes != int64(len("other\n")) {
		t.Errorf("%d bytes on a pipe", e.StdoutBytes)
	}
}

// A terminal is read as fast as it is written to.
func TestTerminalIsDrained(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	t.Parallel()
	c := command(t, "prints a lot", func(s *Spec) { s.Terminal = true })
	exited(t, c)
	if e := c.Close(t.Context()); e.StdoutBytes != lots*int64(len(lotsLine)+1) || !strings.HasSuffix(lotsLine, "\n") {
		t.Errorf("%d bytes came, want %d", e.StdoutBytes, lots*(len(lotsLine)+1))
	}
}

func TestCommandOutput(t *testing.T) {
	t.Parallel()
	const all = lots * len(lotsLine)
	for kept, want := range map[int]int{0: tailBytes, 100_000: 100_000, 2 * all: all} {
		c := command(t, "prints a lot", func(s *Spec) { s.Stdout = kept })
		if text, err := c.Output("printing"); err != nil || len(text) != want || !strings.HasSuffix(text, lotsLine) {
			t.Errorf("%d bytes requested: %d, %v, want %d", kept, len(text), err, want)
		}
	}
	c := command(t, "crash at once", nil)
	_, err := c.Output("printing")
	asClass(t, err, tare.ErrExit, "ended during printing with exit status 3: no licence found")
	c = command(t, "prints without end", func(s *Spec) { s.OutputLimit = 1 << 20 })
	text, err := c.Output("printing")
	asClass(t, err, tare.ErrOutput, "wrote more than 1 MiB")
	if len(text) != tailBytes {
		t.Errorf("%d bytes are kept", len(text))
	}
}
