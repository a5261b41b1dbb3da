package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab/journal"
)

// write makes a journal of two whole rounds and a slice of a third.
func write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), journal.FileName)
	w, err := journal.Create(path, journal.Head{Study: "s", Fingerprint: "f"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	append := func(e journal.Entry) {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	append(journal.Entry{Plan: &tare.Plan{Seed: "7"}})
	for round := 1; round <= 3; round++ {
		append(journal.Entry{Slice: &tare.Slice{Round: round, Ops: 1, WallNS: 1}})
		if round == 3 {
			break
		}
		append(journal.Entry{Trial: &tare.Trial{Round: round}})
		append(journal.Entry{Round: &tare.Round{Index: round}})
	}
	return path
}

func TestOnlyWholeRoundsCount(t *testing.T) {
	path := write(t)
	log, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Rounds) != 2 || len(log.Slices) != 2 || len(log.Trials) != 2 || log.Lost != 1 || log.Plan.Seed != "7" {
		t.Errorf("%d rounds, %d slices, %d trials, %d lost", len(log.Rounds), len(log.Slices), len(log.Trials), log.Lost)
	}
}

func TestResumeCutsOffTheRoundInFlight(t *testing.T) {
	path := write(t)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"slice":{"round":3,"ops`) // torn
	f.Close()
	_, w, err := journal.Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(journal.Entry{Round: &tare.Round{Index: 3}}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	log, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Rounds) != 3 || len(log.Slices) != 2 {
		t.Errorf("%d rounds with %d slices after resuming, want 3 with 2", len(log.Rounds), len(log.Slices))
	}
}

func TestBadJournals(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"empty":      {"", ":1: journal without a head"},
		"garbage":    {"{\"head\":{\"format\":\"tare.journal/1\"}}\nnot json\n", ":2: not a journal line"},
		"other":      {"{\"head\":{\"format\":\"tare.journal/9\"}}\n", "tare.journal/9"},
		"headless":   {"{\"plan\":{}}\n", ":1: journal without a head"},
		"torn first": {"{\"head\":", ":1: journal without a head"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := journal.Read(filepath.Join(dir, "absent")); err == nil {
		t.Error("an absent journal was read")
	}
	path := write(t)
	if _, err := journal.Create(path, journal.Head{}); err == nil {
		t.Error("a journal was overwritten")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"head\":{\"format\":\"tare.journal/1\"}}\n{\"slice\":{}}\n{\"round\":{}}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, src, 0o644); err != nil {
			t.Fatal(err)
		}
		log, err := journal.Read(path)
		if err == nil && log.Head.Format != journal.Format {
			t.Error("a journal without a head was read")
		}
	})
}
