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

// Run is one run that was kept, whether it came to a result or not.
type Run struct {
	Dir   string    // of its journal and result
	Study string    // name of the directory it is in
	Begun time.Time // from the directory's name; zero where that tells no time
	Whole bool      // there is a result
}

// Result is the file of the run's result.
func (r Run) Result() string { return filepath.Join(r.Dir, ResultName) }

// NameTime is the form of the time that the name of a run's directory begins
// with, in UTC, so that names sort by age.
const NameTime = "20060102T150405Z"

// Runs lists the runs of every study under dir, the newest first. A directory
// that does not exist holds none; one that cannot be read is an error, or its runs
// would be taken for gone.
func Runs(dir string) ([]Run, error) {
	studies, err := entries(dir)
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
	names, err := entries(dir)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue // not whole yet
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

// entries are the names in a directory; none where there is no such directory.
func entries(dir string) ([]string, error) {
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

// isFile reports whether a file is there, which a failing disk leaves open. What is
// under no directory is not there either.
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
