package cmdenv

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
)

// Dirs contains the directories of tare's files.
type Dirs struct {
	Cache string // can be made again, such as binaries; and the lock for measuring
	Data  string // all other files: results and their journals, keys
}

// Lock returns the path of the cache's lock for measuring.
func (d Dirs) Lock() string { return filepath.Join(d.Cache, "lock") }

// Known returns the directory of results about programs, so that later runs do not send the same
// requests again.
func (d Dirs) Known() string { return filepath.Join(d.Cache, "answers") }

// Results returns the directory of a study's runs. In its name, _ replaces characters that file names
// cannot contain.
func (d Dirs) Results(study string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, study)
	if strings.HasPrefix(name, ".") {
		name = "_" + name
	}
	return filepath.Join(d.AllResults(), name)
}

// AllResults returns the directory of the runs of all studies, with a subdirectory each.
func (d Dirs) AllResults() string { return filepath.Join(d.Data, "results") }

// findDirs returns the directories in TARE_CACHE and TARE_DATA. If one is not set, it is the directory
// tare where the operating system goos stores such files. Without a home directory, that is a usage
// error.
func findDirs(env func(string) string, goos string) (Dirs, error) {
	d := Dirs{Cache: env("TARE_CACHE"), Data: env("TARE_DATA")}
	var cacheBase, dataBase string
	switch home := env("HOME"); goos {
	case "windows":
		cacheBase, dataBase = env("LocalAppData"), env("AppData")
	case "darwin":
		if home != "" {
			cacheBase, dataBase = filepath.Join(home, "Library", "Caches"), filepath.Join(home, "Library", "Application Support")
		}
	default:
		cacheBase, dataBase = env("XDG_CACHE_HOME"), env("XDG_DATA_HOME")
		if cacheBase == "" && home != "" {
			cacheBase = filepath.Join(home, ".cache")
		}
		if dataBase == "" && home != "" {
			dataBase = filepath.Join(home, ".local", "share")
		}
	}
	for _, x := range []struct {
		dir  *string
		base string
		name string
	}{
		{&d.Cache, cacheBase, "TARE_CACHE"},
		{&d.Data, dataBase, "TARE_DATA"},
	} {
		if *x.dir == "" {
			if x.base == "" {
				return d, Usage("no home directory to keep files in", "set HOME to a directory, for Go's caches too, or "+x.name)
			}
			*x.dir = filepath.Join(x.base, "tare")
		}
		abs, err := filepath.Abs(*x.dir)
		if err != nil {
			return d, err
		}
		*x.dir = abs
	}
	return d, nil
}

// HostLock returns the name of the machine's lock for measuring. At most one tare has the lock at a
// time. Processes that share no processors can use different names.
func (env Env) HostLock() string { return cmp.Or(env.Getenv("TARE_LOCK"), "measuring") }

// Dirs returns the directories of this call.
func (env Env) Dirs() (Dirs, error) { return findDirs(env.Getenv, runtime.GOOS) }

// ensureWritable creates dir with mode 0700 and creates a file in it.
func ensureWritable(dir string) error {
	if err := atomicfile.MakeDir(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-")
	if err != nil {
		return err
	}
	f.Close() // nothing was written, so an error means nothing
	return os.Remove(f.Name())
}

// adviseDir returns what to do if dir, which the variable called name can replace, cannot be written.
// If that is the home directory, tare's other files and those of Go cannot be written there either.
func adviseDir(name, dir string) string {
	home := os.Getenv("HOME")
	if home != "" && strings.HasPrefix(dir, filepath.Clean(home)+string(filepath.Separator)) {
		return "set HOME to a directory that can be written, for Go's caches too, or " + name
	}
	return "set " + name + " to a directory that can be written"
}

// MakeCache creates the cache directory, and checks that it is writable.
func (d Dirs) MakeCache() error {
	if err := ensureWritable(d.Cache); err != nil {
		return fmt.Errorf("%w %s: %w; %s", build.ErrCache, d.Cache, Cause(err), adviseDir("TARE_CACHE", d.Cache))
	}
	return nil
}

// MakeData creates the data directory, and checks that it is writable.
func (d Dirs) MakeData() error {
	if err := ensureWritable(d.Data); err != nil {
		return fmt.Errorf("cannot write results to %s: %w; %s", d.Data, Cause(err), adviseDir("TARE_DATA", d.Data))
	}
	return nil
}
