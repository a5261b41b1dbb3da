package clean

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/internal/machine"
)

// This file finds the files that tare clean removes: builds of other versions and unfinished files in
// the cache, temporary directories, and runs. It finds only files that match the names that tare gives
// them.

// Kinds of litter (files that tare does not need), as in JSON.
const (
	kindBuild      = "build" // a built contender (program under test)
	kindPinned     = "pinned"
	kindCatalog    = "catalog"
	kindTree       = "revision" // files of a commit
	kindSent       = "sent"     // a file of an order from another machine
	kindTyped      = "typed catalog"
	kindRoutes     = "routes"
	kindServers    = "servers"
	kindSQLite     = "sqlite"
	kindKnown      = "answers" // stored results about contenders
	kindUnfinished = "unfinished build"
	kindTemp       = "temporary folder"
	kindRun        = "run" // results of a run
)

// runName matches the names of runs' directories, which begin with a time: 20240501T093000Z-.
var runName = lazyregexp.New(`^[0-9]{8}T[0-9]{6}Z-`)

// checkOwnership rejects directories that cannot be tare's: the root of the file system and the home
// directory.
func checkOwnership(variable, dir, home string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir // it does not exist
	}
	isRoot := filepath.Dir(real) == real
	isHome := home != "" && (real == filepath.Clean(home) || dir == filepath.Clean(home))
	if isRoot || isHome {
		return cmdenv.Usage(fmt.Sprintf("%s is not a directory of tare's own", dir), "set "+variable+" to one, or leave it unset")
	}
	return nil
}

// findLitter finds the files that the flags select, of any age. skipped has a line for each selected
// file that stays.
func findLitter(ctx context.Context, env cmdenv.Env, d cmdenv.Dirs, o options) (found []litter, skipped []string, err error) {
	cached, skipped, err := findInCache(d.Cache)
	if err != nil {
		return nil, nil, err
	}
	needed := map[string]bool{}    // paths in the cache that stay, with everything directly below them
	if !o.results || o.older > 0 { // some results stay, and so do the routes that they name
		why, err := addNamedRoutes(needed, d, cached)
		if err != nil {
			return nil, nil, err
		}
		skipped = append(skipped, why...)
	}
	if !o.cache {
		why, err := addOfVersion(ctx, needed, env, d, o, cached)
		if err != nil {
			return nil, nil, err
		}
		skipped = append(skipped, why...)
	}
	for _, l := range cached {
		if !needed[l.Path] && !needed[filepath.Dir(l.Path)] {
			found = append(found, l)
		}
	}
	temporary, err := findTempDirs()
	if err != nil {
		return nil, nil, err
	}
	found = append(found, temporary...)
	if o.results {
		runs, others, err := findRuns(d)
		if err != nil {
			return nil, nil, err
		}
		found, skipped = append(found, runs...), append(skipped, others...)
	}
	return found, skipped, nil
}

// addNamedRoutes adds the lists of routes that stored results name to needed. If it cannot read a
// result, it adds all lists, and skipped has the reason.
func addNamedRoutes(needed map[string]bool, d cmdenv.Dirs, cached []litter) (skipped []string, err error) {
	inUse, unread, err := findRoutes(d)
	if err != nil {
		return nil, err
	}
	maps.Copy(needed, inUse)
	if len(unread) == 0 {
		return nil, nil
	}
	addKinds(needed, cached, kindRoutes)
	others := ""
	if n := len(unread) - 1; n > 0 {
		others = " (and " + format.Count(n, "other result") + ")"
	}
	return []string{unread[0] + others + "; a result may name any list of routes: they all stay"}, nil
}

// addOfVersion adds the builds, the catalog and the caches of this version to needed. Without a go
// command it adds all builds, and skipped has the reason.
func addOfVersion(ctx context.Context, needed map[string]bool, env cmdenv.Env, d cmdenv.Dirs, o options, cached []litter) (skipped []string, err error) {
	needed[filepath.Join(d.Cache, index.CodeDir)] = true
	needed[catalog.Unpacked(d.Cache)] = true
	needed[d.Known()] = true
	builds, err := neededBuilds(ctx, env, d, o)
	switch {
	case ctx.Err() != nil:
		return nil, cmdenv.ErrInterrupted
	case errors.Is(err, build.ErrNoToolchain):
		addKinds(needed, cached, kindBuild, kindPinned)
		return []string{"without the go command it cannot be told which builds are of this version: they stay; --cache removes them all"}, nil
	case err != nil:
		return nil, err
	}
	for _, dir := range builds {
		needed[dir] = true
	}
	return nil, nil
}

func addKinds(needed map[string]bool, cached []litter, kinds ...string) {
	for _, l := range cached {
		if slices.Contains(kinds, l.Kind) {
			needed[l.Path] = true
		}
	}
}

// neededBuilds returns the directories of the builds that this version's contenders use. They may
// not exist. It returns nil if the cache has no builds.
func neededBuilds(ctx context.Context, env cmdenv.Env, d cmdenv.Dirs, o options) ([]string, error) {
	if entries, err := os.ReadDir(filepath.Join(d.Cache, "bin")); err != nil || len(entries) == 0 {
		return nil, nil
	}
	tmp, remove, err := machine.TempDir("clean")
	if err != nil {
		return nil, err
	}
	defer remove()
	// The catalog may be unpacked into tmp, because builds are identified by content, not by path.
	c, err := cmdenv.Workshop{Catalog: env.CatalogDir(o.catalog), Cache: tmp}.FindCatalog()
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
		if err == nil { // otherwise the contender cannot be built, so it has no build
			dirs = append(dirs, dir)
		}
	}
	return dirs, ctx.Err()
}

// findInCache lists tare's files in the cache directory dir. An unknown file is an error: the
// directory may belong to another program. skipped has a line for each link and incomplete
// directory.
func findInCache(dir string) (found []litter, skipped []string, err error) {
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
			skipped = append(skipped, top+" is no directory, or a link to one; it was left alone")
			continue
		}
		entries, err := os.ReadDir(top)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read %s: %w", top, cmdenv.Cause(err))
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				continue // another process has removed it
			}
			path := filepath.Join(top, e.Name())
			kind, why, err := place.classifyEntry(path, info)
			if err != nil {
				return nil, nil, err
			}
			if why != "" {
				skipped = append(skipped, why)
			}
			if kind != "" {
				found = append(found, litter{
					Kind: kind, What: describeBuild(path), Path: path, Bytes: cmdenv.DirSize(path), Made: info.ModTime(),
					top: dir, name: filepath.Join(place.name, e.Name()),
				})
			}
		}
	}
	return found, skipped, nil
}

// classifyEntry returns the kind of a file to remove, or "" if the file stays. why is then the
// reason, or "" if it need not be printed.
func (p cachePlace) classifyEntry(path string, info fs.FileInfo) (kind, why string, err error) {
	isUnfinished := p.isUnfinished(info.Name())
	isOld := time.Since(info.ModTime()) > unfinishedFor
	hasName := p.names != nil && p.names.MatchString(info.Name())
	lacksProof := p.proof != "" && !isRegular(filepath.Join(path, p.proof))
	switch {
	case isUnfinished && isOld && info.Mode().IsRegular() == p.files:
		return kindUnfinished, "", nil
	case isUnfinished, p.name == "", strings.HasPrefix(info.Name(), "."):
		return "", "", nil // being written, in another cachePlace, or a file of the file manager
	case !p.hasType(info) || !hasName:
		return "", "", cmdenv.Usage(path+" is not something tare put there: nothing was removed", "set TARE_CACHE to a directory of tare's own")
	case lacksProof:
		return "", fmt.Sprintf("%s holds no %s; it was left alone", path, p.proof), nil
	}
	return p.kind, "", nil
}

func findTempDirs() (found []litter, err error) {
	dirs, err := machine.TempDirs()
	if err != nil {
		return nil, fmt.Errorf("cannot read the directory of temporary files: %w", err)
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		isOld := err == nil && time.Since(info.ModTime()) >= unfinishedFor
		mayBeInUse := !machine.CanLockDirs && !isOld // without locks, only the age shows that it is not in use
		if err != nil || mayBeInUse {
			continue
		}
		unlock, isFree := machine.LockDir(dir)
		if !isFree {
			continue
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

func findRuns(d cmdenv.Dirs) (found []litter, skipped []string, err error) {
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
		isRun := isDir(r.Dir) && isDir(filepath.Dir(r.Dir)) && runName.MatchString(filepath.Base(r.Dir))
		if !isRun {
			skipped = append(skipped, r.Dir+" was not made by a run; it was left alone")
			continue
		}
		found = append(found, litter{Kind: kindRun, Path: r.Dir, What: r.Study, Bytes: cmdenv.DirSize(r.Dir), Made: r.Begun, top: d.Data, name: name})
	}
	return found, skipped, nil
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// errInUse reports that another tare writes the run or uses the directory.
var errInUse = errors.New("another tare is writing it")

// removeLitter removes l and, after the last run of a study, the study's directory. It returns
// errInUse if another tare uses the files. A dry run only makes this check. It cannot reach files
// outside of l.top.
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
		_ = root.Remove(filepath.Dir(l.name)) // fails if the study has other runs
	}
	return nil
}
