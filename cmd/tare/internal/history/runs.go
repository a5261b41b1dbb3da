package history

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/lab/journal"
)

// Run is one stored run, e.g. results/STUDY/20060102T150405Z-7. It has a journal, and a result if the
// run came to its end.
type Run struct {
	Dir   string    // directory of its journal and result
	Study string    // name of the directory that contains Dir
	Begun time.Time // from the name of Dir; zero if the name has no time
	Whole bool      // it has a result
}

// Result returns the path of the result, which need not exist.
func (r Run) Result() string { return filepath.Join(r.Dir, ResultName) }

// NameTime is the format of the time that the name of a run's directory begins with, in UTC. Such names
// sort by age.
const NameTime = "20060102T150405Z"

// Runs lists the runs of every study under dir, the newest first. An unreadable directory is an error:
// callers take missing runs for removed. A missing dir has no runs.
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
	sortNewestFirst(all)
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
			continue // a directory that is being created
		}
		run := Run{Dir: filepath.Join(dir, name), Study: filepath.Base(dir)}
		stamp, _, _ := strings.Cut(name, "-")
		run.Begun, _ = time.Parse(NameTime, stamp)
		if run.Whole, err = isFile(run.Result()); err != nil {
			return nil, err
		}
		isRun := run.Whole
		if !isRun {
			if isRun, err = isFile(filepath.Join(run.Dir, journal.FileName)); err != nil {
				return nil, err
			}
		}
		if isRun {
			runs = append(runs, run)
		}
	}
	sortNewestFirst(runs)
	return runs, nil
}

// sortNewestFirst sorts runs by their time, and runs of the same time by directory.
func sortNewestFirst(runs []Run) {
	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Or(b.Begun.Compare(a.Begun), strings.Compare(b.Dir, a.Dir))
	})
}

// listNames returns the names in a directory, or none if it does not exist or is a file.
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

// isFile reports whether path is a regular file. A missing parent directory is no error.
func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	if err == nil {
		return info.Mode().IsRegular(), nil
	}
	parent, errParent := os.Stat(filepath.Dir(path))
	parentIsFile := errParent == nil && !parent.IsDir()
	if errors.Is(err, fs.ErrNotExist) || parentIsFile {
		return false, nil
	}
	return false, err
}
