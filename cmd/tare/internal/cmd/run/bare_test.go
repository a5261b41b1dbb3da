package run

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/studies"
)

// terminal is a terminal that keeps all lines that were written to it.
type terminal struct {
	mu          sync.Mutex
	columns     int
	lines       [][]rune
	row, column int
}

// Write interprets what tare writes: text, line ends, and the sequences that move up and erase.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for text := string(p); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(c rune) bool { return c >= '@' && c <= '~' })
			t.control(rest[:end], rest[end])
			text = rest[end+1:]
			continue
		}
		c, size := utf8.DecodeRuneInString(text)
		t.put(c)
		text = text[size:]
	}
	return len(p), nil
}

// control carries out a sequence; colours are ignored.
func (t *terminal) control(parameter string, command byte) {
	switch command {
	case 'A':
		n := 1
		fmt.Sscan(parameter, &n)
		t.row = max(t.row-n, 0)
	case 'K':
		t.grow()
		t.lines[t.row] = t.lines[t.row][:min(t.column, len(t.lines[t.row]))]
	case 'J':
		t.control("", 'K')
		t.lines = t.lines[:t.row+1]
	}
}

// put writes one character at the cursor.
func (t *terminal) put(c rune) {
	switch c {
	case '\r':
		t.column = 0
		return
	case '\n':
		t.row, t.column = t.row+1, 0
		t.grow()
		return
	}
	if t.column == t.columns {
		t.row, t.column = t.row+1, 0
	}
	t.grow()
	for len(t.lines[t.row]) <= t.column {
		t.lines[t.row] = append(t.lines[t.row], ' ')
	}
	t.lines[t.row][t.column] = c
	t.column++
}

// grow adds lines up to the cursor.
func (t *terminal) grow() {
	for len(t.lines) <= t.row {
		t.lines = append(t.lines, nil)
	}
}

// text returns the lines up to the cursor.
func (t *terminal) text() []string {
	var out []string
	for _, line := range t.lines[:t.row] {
		out = append(out, string(line))
	}
	return out
}

// readKept returns the result of a study that is kept for tests.
func readKept(study string) (*tare.Result, error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "report", "html", "testdata", "results", study+".json.gz"))
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var r tare.Result
	return &r, json.NewDecoder(z).Decode(&r)
}

// All that a bare run of thirteen studies leaves on a terminal of 80 columns, what it says before the
// first block and after the last included, are at most 45 lines.
func TestBareRunOnATerminal(t *testing.T) {
	screen, home := &terminal{columns: 80}, t.TempDir()
	env := cmdenv.Env{
		Out: screen, Err: screen, Now: time.Now,
		Getenv: func(name string) string {
			return map[string]string{"HOME": home, "TARE_DATA": filepath.Join(home, "data"), "TARE_CACHE": filepath.Join(home, "cache"), "TARE_LOCK": filepath.Join(home, "lock")}[name]
		},
		Lab: cmdenv.Lab{
			Studies:   studies.FS,
			Guard:     func(string) (*trial.Guardian, error) { return nil, nil },
			Sources:   func(cmdenv.Workshop) (lab.Sources, error) { return nil, nil },
			Interrupt: func() (<-chan os.Signal, func()) { return nil, func() {} },
			Terminal:  func(any) (int, int, bool) { return screen.columns, 50, true },
			Run: func(_ context.Context, s tare.Study, o lab.Options) (*tare.Result, error) {
				o.Progress(lab.Event{Phase: "build", Contender: "a"})
				o.Progress(lab.Event{Phase: "plan", Rounds: 12})
				o.Progress(lab.Event{Phase: "round", Round: 1, Rounds: 12})
				o.Progress(lab.Event{Phase: "done"})
				return readKept(s.ID)
			},
		},
	}
	cmd := Command(env)
	cmd.SetArgs([]string{})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.ExecuteContext(t.Context()); cmdenv.ExitCode(err) != cmdenv.ExitOK {
		t.Fatal(err)
	}
	lines := screen.text()
	text := strings.Join(lines, "\n")
	t.Logf("%d lines:\n%s", len(lines), text)
	if len(lines) > 45 {
		t.Errorf("%d lines", len(lines))
	}
	blocks := 0
	for _, name := range env.Bundled() {
		if strings.Contains(text, " "+name+" ") {
			blocks++
		}
	}
	if blocks < 13 {
		t.Errorf("%d blocks", blocks)
	}
	for _, want := range []string{"13 studies, quick budget, about ", "left out (see --list): sinks", "Criteria: ", "Claims: ", "One in full", "claims as a page: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}
