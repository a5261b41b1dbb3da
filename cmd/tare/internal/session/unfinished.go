package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/journal"
	"github.com/tarebench/tare/report"
)

// newRunDir makes the directory of a new run: UTC time and seed, so that names
// sort by age. Two runs never share one.
func newRunDir(results string, now time.Time, seed uint64) (string, error) {
	dir, err := history.NewDir(results, fmt.Sprintf("%s-%d", now.UTC().Format(history.NameTime), seed))
	if err != nil {
		return "", fmt.Errorf("make the run's directory: %w", err)
	}
	return dir, nil
}

// listUnfinished lists the runs in results that can be resumed, the newest first: those with a
// journal and without a result, and those that the user interrupted. A disk error is returned: a
// run with a result must not count as one without.
func listUnfinished(results string) ([]string, error) {
	entries, err := os.ReadDir(results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range slices.Backward(entries) {
		dir := filepath.Join(results, e.Name())
		if !e.IsDir() {
			continue
		}
		begun, err := journal.Begun(filepath.Join(dir, journal.FileName))
		if err != nil {
			return nil, err
		}
		if !begun {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, history.ResultName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			var r struct {
				Stopped string `json:"stopped"`
			}
			if json.Unmarshal(src, &r) == nil && r.Stopped != lab.Interrupted {
				continue
			}
		}
		found = append(found, dir)
	}
	return found, nil
}

// isResumable reports whether the files of a failed run in dir are worth keeping. It is true if the
// disk does not tell whether the journal has begun.
func isResumable(dir string, err error) bool {
	if cmdenv.ExitCode(err) == cmdenv.ExitUsage {
		return false
	}
	begun, err := journal.Begun(filepath.Join(dir, journal.FileName))
	return begun || err != nil
}

// saveResult writes the document next to the journal, atomically.
func saveResult(disk atomicfile.Disk, dir string, res *tare.Result) error {
	out, err := cmdenv.OpenOutputOn(disk, filepath.Join(dir, history.ResultName), 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	return out.Save(func(f io.Writer) error { return report.JSON(f, res) })
}
