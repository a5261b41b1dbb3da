package journal_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab/journal"
)

// TestSavedJournalsStillRead reads journals that earlier versions wrote: of a run of
// homelab, without checksums, and of tare bench, with them.
func TestSavedJournalsStillRead(t *testing.T) {
	for _, saved := range []struct {
		name, study, seed      string
		rounds, slices, trials int
	}{
		{"homelab", "homelab", "11", 12, 192, 48},
		{"checksums", "bench example.com/shop", "439429485", 8, 128, 32},
	} {
		t.Run(saved.name, func(t *testing.T) {
			path := unpacked(t, filepath.Join("testdata", saved.name+".ndjson.gz"))
			log, err := journal.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(log.Rounds) != saved.rounds || len(log.Slices) != saved.slices || len(log.Trials) != saved.trials || log.Lost != 0 {
				t.Errorf("%d rounds, %d slices, %d trials, %d lost", len(log.Rounds), len(log.Slices), len(log.Trials), log.Lost)
			}
			if log.Head.Study != saved.study || log.Plan == nil || log.Plan.Seed != saved.seed || len(log.Pilots) == 0 || len(log.Conformance) == 0 || log.Done == nil {
				t.Errorf("study %q, plan %v, %d pilots, %d conformance cases, done %v", log.Head.Study, log.Plan, len(log.Pilots), len(log.Conformance), log.Done)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, w, err := journal.Resume(path) // and goes on in the form that it has
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Append(journal.Entry{Round: &tare.Round{Index: saved.rounds + 1}}), w.Close()); err != nil {
				t.Fatal(err)
			}
			if log, err = journal.Read(path); err != nil || len(log.Rounds) != saved.rounds+1 {
				t.Errorf("gone on with: %v, %v", log, err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.HasPrefix(after, before) {
				t.Errorf("what was there changed: %v", err)
			}
		})
	}
}

func unpacked(t *testing.T, packed string) string {
	t.Helper()
	f, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), journal.FileName)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
