package history

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/lab/journal"
)

// Run is one stored run, with or without a result.
type Run struct {
	Dir   string    // of its journal and result
	Study string    // name of the directory it is in
	Begun time.Time // from the directory's name; zero if that has no time
	Whole bool      // there is a result
}

// Result is the file of the run's result.
func (r Run) Result() string { return filepath.Join(r.Dir, ResultName) }

// NameTime is the format of the time that the name of a run's directory begins with, in UTC, so
// that names sort by age.
const NameTime = "20060102T150405Z"

// Runs lists the runs of every study under dir, the newest first. If dir does not exist it returns
// none; a directory that cannot be read is an error, or its runs would count as removed.
func Runs(dir string) ([]Run, error) {
	studies, err := listNames(dir)
	if err != nil {
		return nil, err
	}
	var all []Run
	for _, study := range studies {
		runs, err := RunsOf(filepath.Join(dir, study))
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
	}
	newestFirst(all)
	return all, nil
}

// RunsOf lists the runs of one study, the newest first.
func RunsOf(dir string) ([]Run, error) {
	names, err := listNames(dir)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue // not complete yet
		}
		run := Run{Dir: filepath.Join(dir, name), Study: filepath.Base(dir)}
		stamp, _, _ := strings.Cut(name, "-")
		run.Begun, _ = time.Parse(NameTime, stamp)
		if run.Whole, err = isFile(run.Result()); err != nil {
			return nil, err
		}
		begun := run.Whole
		if !begun {
			if begun, err = isFile(filepath.Join(run.Dir, journal.FileName)); err != nil {
				return nil, err
			}
		}
		if begun {
			runs = append(runs, run)
		}
	}
	newestFirst(runs)
	return runs, nil
}

func newestFirst(runs []Run) {
	slices.SortStableFunc(runs, func(a, b Run) int {
		if !a.Begun.Equal(b.Begun) {
			return b.Begun.Compare(a.Begun)
		}
		return strings.Compare(b.Dir, a.Dir)
	})
}

// listNames returns the names in a directory; none if it does not exist.
func listNames(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		if info, errStat := os.Stat(dir); errStat == nil && !info.IsDir() {
			return nil, nil
		}
		return nil, err
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names, nil
}

// isFile reports whether a file exists. A failing disk is an error; a missing directory is not.
func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	if err == nil {
		return info.Mode().IsRegular(), nil
	}
	if above, errAbove := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) || errAbove == nil && !above.IsDir() {
		return false, nil
	}
	return false, err
}
