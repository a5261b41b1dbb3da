package clean

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
)

// Kinds of litter.
const (
	kindBuild      = "build"
	kindPinned     = "pinned"
	kindCatalog    = "catalog"
	kindTree       = "revision"
	kindSent       = "sent"
	kindTyped      = "typed catalog"
	kindRoutes     = "routes"
	kindServers    = "servers"
	kindSQLite     = "sqlite"
	kindKnown      = "answers"
	kindUnfinished = "unfinished build"
	kindTemp       = "temporary folder"
	kindRun        = "run"
)

var runName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-`)

// checkOwnership rejects directories with other content than tare's: the root and the home
// directory.
func checkOwnership(variable, dir, home string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir // it does not exist
	}
	if filepath.Dir(real) == real || home != "" && (real == filepath.Clean(home) || dir == filepath.Clean(home)) {
		return cmdenv.Usage(fmt.Sprintf("%s is not a directory of tare's own", dir), "set "+variable+" to one, or leave it unset")
	}
	return nil
}

// findLitter finds what the options choose; left holds the skipped paths.
func findLitter(ctx context.Context, env cmdenv.Env, d cmdenv.Dirs, o options) (found []litter, left []string, err error) {
	builds, left, err := findInCache(d.Cache)
	if err != nil {
		return nil, nil, err
	}
	keep := map[string]bool{}
	if !o.results || o.older > 0 { // otherwise no result stays
		var unread []string
		if keep, unread, err = findRoutes(d); err != nil {
			return nil, nil, err
		}
		if len(unread) > 0 {
			others := ""
			if n := len(unread) - 1; n > 0 {
				others = " (and " + format.Count(n, "other result") + ")"
			}
			left = append(left, unread[0]+others+"; a result may name any list of routes: they all stay")
			for _, l := range builds {
				keep[l.Path] = keep[l.Path] || l.Kind == kindRoutes
			}
		}
	}
	if !o.cache {
		keep[filepath.Join(d.Cache, index.CodeDir)] = true
		keep[catalog.Unpacked(d.Cache)] = true
		keep[d.Known()] = true
		keepBuilds, err := neededBuilds(ctx, env, d, o)
		switch {
		case ctx.Err() != nil:
			return nil, nil, cmdenv.ErrInterrupted
		case errors.Is(err, build.ErrNoToolchain):
			left = append(left, "without the go command it cannot be told which builds are of this version: they stay; --cache removes them all")
			for _, l := range builds {
				keep[l.Path] = keep[l.Path] || l.Kind == kindBuild || l.Kind == kindPinned
			}
		case err != nil:
			return nil, nil, err
		}
		for _, dir := range keepBuilds {
			keep[dir] = true
		}
	}
	for _, l := range builds {
		if !keep[l.Path] && !keep[filepath.Dir(l.Path)] {
			found = append(found, l)
		}
	}
	temporary, err := findTempDirs()
	if err != nil {
		return nil, nil, err
	}
	found = append(found, temporary...)
	if o.results {
		runs, passed, err := findRuns(d)
		if err != nil {
			return nil, nil, err
		}
		found, left = append(found, runs...), append(left, passed...)
	}
	return found, left, nil
}

// neededBuilds returns the directories of builds of this version's contenders.
func neededBuilds(ctx context.Context, env cmdenv.Env, d cmdenv.Dirs, o options) ([]string, error) {
	if entries, err := os.ReadDir(filepath.Join(d.Cache, "bin")); err != nil || len(entries) == 0 {
		return nil, nil
	}
	tmp, remove, err := machine.TempDir("clean")
	if err != nil {
		return nil, err
	}
	defer remove()
	c, err := cmdenv.Workshop{Catalog: env.CatalogDir(o.catalog), Cache: tmp}.FindCatalog() // builds are identified by content, not by path
	if err != nil {
		return nil, err
	}
	b := &build.Builder{Cache: d.Cache}
	var dirs []string
	for _, leaf := range c.Leaves() {
		dir, err := b.Dir(ctx, leaf)
		if errors.Is(err, build.ErrNoToolchain) {
			return nil, err
		}
		if err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs, ctx.Err()
}

// findInCache lists tare's files in the cache. It returns an error if it finds other files,
// because the directory is then not tare's.
func findInCache(dir string) (found []litter, left []string, err error) {
	for _, place := range cachePlaces() {
		top := filepath.Join(dir, place.name)
		info, err := os.Lstat(top)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read %s: %w", top, cmdenv.Cause(err))
		}
		if !info.IsDir() {
			left = append(left, top+" is no directory, or a link to one; it was left alone")
			continue
		}
		entries, err := os.ReadDir(top)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read %s: %w", top, cmdenv.Cause(err))
		}
		for _, e := range entries {
			path, name := filepath.Join(top, e.Name()), filepath.Join(place.name, e.Name())
			info, err := e.Info()
			if err != nil {
				continue // removed meanwhile
			}
			l := litter{Kind: place.kind, Path: path, Made: info.ModTime(), top: dir, name: name}
			switch half := place.isUnfinished(e.Name()); {
			case half && info.Mode().IsRegular() == place.files && time.Since(info.ModTime()) > unfinishedFor:
				l.Kind = kindUnfinished
			case half, place.name == "", strings.HasPrefix(e.Name(), "."):
				continue // in progress, the file manager's, or another cachePlace
			case info.Mode().IsRegular() != place.files || !place.files && !info.IsDir() || place.names == nil || !place.names.MatchString(e.Name()):
				return nil, nil, cmdenv.Usage(path+" is not something tare put there: nothing was removed", "set TARE_CACHE to a directory of tare's own")
			case place.proof != "" && !isRegular(filepath.Join(path, place.proof)):
				left = append(left, fmt.Sprintf("%s holds no %s; it was left alone", path, place.proof))
				continue
			}
			l.Bytes, l.What = cmdenv.DirSize(path), describeBuild(path)
			found = append(found, l)
		}
	}
	return found, left, nil
}

// findTempDirs lists temporary directories whose tare was killed.
func findTempDirs() (found []litter, err error) {
	dirs, err := machine.TempDirs()
	if err != nil {
		return nil, fmt.Errorf("cannot read the directory of temporary files: %w", err)
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !machine.CanLockDirs && time.Since(info.ModTime()) < unfinishedFor {
			continue
		}
		unlock, free := machine.LockDir(dir)
		if !free {
			continue // in use
		}
		unlock()
		found = append(found, litter{Kind: kindTemp, Path: dir, Bytes: cmdenv.DirSize(dir), Made: info.ModTime(), top: filepath.Dir(dir), name: filepath.Base(dir)})
	}
	return found, nil
}

func isRegular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// describeBuild returns the contender of a build, or "" if it is unknown.
func describeBuild(dir string) string {
	src, err := os.ReadFile(filepath.Join(dir, "built.json"))
	if err != nil {
		return ""
	}
	var r struct {
		Contender tare.Contender `json:"contender"`
	}
	if json.Unmarshal(src, &r) != nil {
		return ""
	}
	return strings.TrimSpace(r.Contender.String() + " " + r.Contender.Go)
}

// findRuns lists the runs that tare made; other files among them are skipped.
func findRuns(d cmdenv.Dirs) (found []litter, left []string, err error) {
	top := d.AllResults()
	if info, err := os.Lstat(top); err == nil && !info.IsDir() {
		return nil, []string{top + " is no directory, or a link to one; it was left alone"}, nil
	}
	runs, err := history.Runs(top)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the runs in %s: %w", d.Data, cmdenv.Cause(err))
	}
	for _, r := range runs {
		name, err := filepath.Rel(d.Data, r.Dir)
		if err != nil {
			return nil, nil, err
		}
		info, errRun := os.Lstat(r.Dir)
		study, errStudy := os.Lstat(filepath.Dir(r.Dir))
		if errRun != nil || errStudy != nil || !info.IsDir() || !study.IsDir() || !runName.MatchString(filepath.Base(r.Dir)) {
			left = append(left, r.Dir+" was not made by a run; it was left alone")
			continue
		}
		found = append(found, litter{Kind: kindRun, Path: r.Dir, What: r.Study, Bytes: cmdenv.DirSize(r.Dir), Made: r.Begun, top: d.Data, name: name})
	}
	return found, left, nil
}

// errInUse is returned if another tare is writing a run or uses a temporary directory.
var errInUse = errors.New("another tare is writing it")

// removeLitter removes l and an empty directory of its study. A dry run only checks that l is
// not in use. It cannot reach files outside of l.top.
func removeLitter(l litter, dryRun bool) error {
	if l.Kind == kindRun || l.Kind == kindTemp {
		unlock, ok := machine.LockDir(l.Path)
		if !ok {
			return errInUse
		}
		defer unlock()
	}
	if dryRun {
		return nil
	}
	root, err := os.OpenRoot(l.top)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(l.name); err != nil {
		return err
	}
	if l.Kind == kindRun {
		_ = root.Remove(filepath.Dir(l.name)) // fails while it holds other runs
	}
	return nil
}
