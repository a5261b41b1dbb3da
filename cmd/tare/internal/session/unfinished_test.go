package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestRunsNeverShareADirectory(t *testing.T) {
	results, now := t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var names []string
	for range 3 {
		dir, err := newRunDir(results, now, 7)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(dir))
	}
	if want := []string{"20260301T120000Z-7", "20260301T120000Z-7-2", "20260301T120000Z-7-3"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func TestUnfinished(t *testing.T) {
	results := t.TempDir()
	for name, files := range map[string]map[string]string{
		"20260301T120000Z-1": {"journal.ndjson": "{}\n"},
		"20260302T120000Z-1": {"journal.ndjson": "{}\n", "result.json": `{"stopped": "decided"}`},
		"20260303T120000Z-1": {"journal.ndjson": "{}\n", "result.json": `{"stopped": "interrupted"}`},
		"20260304T120000Z-1": {"journal.ndjson": ""},
		"20260305T120000Z-1": {"input.ndjson": "{}\n"},
		"20260306T120000Z-1": {"journal.ndjson": "{}\n", "result.json": `{"stopp`},
		"20260307T120000Z-1": {"journal.ndjson": `{"head":{"format":"tare.jou`}, // killed in its first line
	} {
		for file, text := range files {
			if err := os.MkdirAll(filepath.Join(results, name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(results, name, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	found, err := listUnfinished(results)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range found {
		got = append(got, filepath.Base(dir))
	}
	if want := []string{"20260306T120000Z-1", "20260303T120000Z-1", "20260301T120000Z-1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, err := listUnfinished(filepath.Join(results, "nobody")); got != nil || err != nil {
		t.Errorf("no directory: %v, %v", got, err)
	}
	for name, want := range map[string]bool{"20260301T120000Z-1": true, "20260304T120000Z-1": false, "20260305T120000Z-1": false, "20260307T120000Z-1": false} {
		if got := isResumable(filepath.Join(results, name), errors.New("killed")); got != want {
			t.Errorf("resumable(%s) = %v, want %v", name, got, want)
		}
	}
}
