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

// newRunDir makes the directory of a new run. Its name begins with the UTC time, so names sort by age. No two
// runs share a directory.
func newRunDir(results string, now time.Time, seed uint64) (string, error) {
	dir, err := history.NewDir(results, fmt.Sprintf("%s-%d", now.UTC().Format(history.NameTime), seed))
	if err != nil {
		return "", fmt.Errorf("make the run's directory: %w", err)
	}
	return dir, nil
}

// listUnfinished returns runs that can be resumed, newest first. They have a journal but no result, or the
// user has interrupted them. An unreadable result is an error.
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

// isResumable reports whether the run in dir can be resumed after err: its journal has begun, and err is no
// usage error. If the journal cannot be read it returns true, so that dir is not removed.
func isResumable(dir string, err error) bool {
	if cmdenv.ExitCode(err) == cmdenv.ExitUsage {
		return false
	}
	begun, err := journal.Begun(filepath.Join(dir, journal.FileName))
	return begun || err != nil
}

func saveResult(disk atomicfile.Disk, dir string, res *tare.Result) error {
	return cmdenv.SaveFile(disk, filepath.Join(dir, history.ResultName), 0o600, func(f io.Writer) error { return report.JSON(f, res) })
}
