package journal_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarebench/tare/lab/journal"
)

// TestSavedJournalStillReads reads the journal of a run of homelab that an
// earlier version wrote.
func TestSavedJournalStillReads(t *testing.T) {
	packed, err := os.Open("testdata/homelab.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	text, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.ndjson")
	plain, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(plain, text); err != nil || plain.Close() != nil {
		t.Fatal("unpack the journal")
	}
	log, err := journal.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	rounds, slices, trials := len(log.Rounds), len(log.Slices), len(log.Trials)
	if rounds != 12 || slices != 192 || trials != 48 || log.Lost != 0 {
		t.Errorf("%d rounds, %d slices, %d trials, %d lost", rounds, slices, trials, log.Lost)
	}
	if log.Plan == nil || log.Plan.Seed != "11" || len(log.Pilots) == 0 || len(log.Conformance) == 0 || log.Done == nil {
		t.Errorf("plan %v, %d pilots, %d conformance cases, done %v", log.Plan, len(log.Pilots), len(log.Conformance), log.Done)
	}
}
