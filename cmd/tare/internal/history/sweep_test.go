package history

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/atomicfile/atomicfiletest"
)

// Whichever file operation fails, an imported run exists completely or not at all, and never
// without the mark that it was made elsewhere.
func TestNoFaultTearsAnImportedRun(t *testing.T) {
	text, sum, err := Compact(document(t, sample()))
	if err != nil {
		t.Fatal(err)
	}
	k := newDocumentInfo(sample(), sum)
	atomicfiletest.SweepNew(t, func(d atomicfile.Disk, dir string) (string, error) {
		made, err := writeImported(d, dir, k, text)
		to := filepath.Join(dir, k.started+"-"+k.seed)
		if err == nil && made != to {
			t.Errorf("kept in %s, not in %s", made, to)
		}
		if _, errStat := os.Stat(filepath.Join(to, ResultName)); errStat == nil {
			if marked, errMark := IsImported(to); !marked || errMark != nil {
				t.Errorf("a result without its mark: %v, %v", err, errMark)
			}
		}
		return filepath.Join(to, ResultName), err
	})
}

// syncs is a disk that records the directories that are synced.
type syncs struct {
	atomicfile.System
	dirs []string
}

func (s *syncs) SyncDir(dir string) error {
	s.dirs = append(s.dirs, dir)
	return nil
}

// newDir syncs each directory in which it creates one, so that a power cut does not remove them.
func TestNewDirSyncs(t *testing.T) {
	there := t.TempDir()
	results := filepath.Join(there, "results")
	study := filepath.Join(results, "json")
	d := &syncs{}
	if _, err := newDir(d, study, "run"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{there, results, study} {
		if !slices.Contains(d.dirs, dir) {
			t.Errorf("%s is not synced, only %q", dir, d.dirs)
		}
	}
}
