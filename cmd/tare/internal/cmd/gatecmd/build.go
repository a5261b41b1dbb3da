package gatecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
)

// This file builds the servers of tare.yaml before and after a change. It also finds the modules
// that the change updates.

// buildServers builds the servers of tare.yaml before and after the change (base and head), each in a
// directory below dir.
func (e *extraStudies) buildServers(ctx context.Context, dir string) error {
	for _, server := range e.request.Project.Load {
		inHead := func(file string) string { // both sides get the requests of the head
			if file == "" {
				return ""
			}
			return filepath.Join(e.projectDirs.Head, filepath.FromSlash(file))
		}
		requests := loadstudy.Requests{Mix: server.Mix, Feed: inHead(server.Feed), FeedBodies: inHead(server.FeedBodies)}
		feed, err := requests.List(loadstudy.Target{Path: "/"}, nil)
		if err == nil && feed.Kind != traffic.Unknown && feed.Kind != traffic.Lines {
			err = fmt.Errorf("%s is %s, not a request on each line; tare load --feed %s --dry-run --json prints it so", server.Feed, feed.Kind, server.Feed)
		}
		if err != nil { // the user knows files by their paths in the project
			return e.placeError(server.Place, strings.ReplaceAll(err.Error(), e.projectDirs.Head+string(filepath.Separator), ""))
		}
		serverDir := filepath.Join(dir, server.ID)
		if err := os.Mkdir(serverDir, 0o755); err != nil {
			return err
		}
		file := filepath.Join(serverDir, "requests.ndjson")
		if err := loadstudy.WriteRequests(file, feed.Requests); err != nil {
			return err
		}
		built, ok, err := e.buildServer(ctx, server, serverDir)
		if err != nil {
			return err
		}
		if ok {
			m := gate.Server(server, e.request, built, e.projectDirs, file)
			m.Requirements.Place = gate.Place{File: e.config, Line: server.Line}
			e.servers = append(e.servers, m)
		}
	}
	return nil
}

// buildServer builds a server from both sides, and returns the programs, which are in dir. If base
// does not have it or a side does not build, ok is false, and e.measured.Skipped gets the reason.
func (e *extraStudies) buildServer(ctx context.Context, server project.Server, dir string) (programs gate.SidePaths, ok bool, err error) {
	skipped := gate.Skipped{What: "load " + server.ID}
	exists, err := gate.IsDir(filepath.Join(e.projectDirs.Head, filepath.FromSlash(server.Program)))
	if err != nil {
		return programs, false, err
	}
	if !exists {
		return programs, false, e.placeError(server.Place, "there is no directory "+server.Program+" in the head")
	}
	if exists, err = gate.IsDir(filepath.Join(e.projectDirs.Base, filepath.FromSlash(server.Program))); err != nil {
		return programs, false, err
	}
	if !exists {
		skipped.Why, skipped.OneSided = server.Program+" is in head only", true
		e.measured.Skipped = append(e.measured.Skipped, skipped)
		return programs, false, nil
	}
	for _, side := range []struct {
		name, dir string
		file      *string // set to the path of the program
	}{
		{gate.HeadID, e.projectDirs.Head, &programs.Head},
		{gate.BaseID, e.projectDirs.Base, &programs.Base},
	} {
		e.session.Progress.Status("build", side.name+": building "+server.Program)
		*side.file = filepath.Join(dir, side.name)
		err := gate.Build(ctx, filepath.Join(side.dir, filepath.FromSlash(server.Program)), *side.file)
		var broken *gate.BuildError
		switch {
		case ctx.Err() != nil:
			return programs, false, cmdenv.ErrInterrupted
		case errors.As(err, &broken):
			skipped.Why = fmt.Sprintf("%s of %s does not build: %s", server.Program, side.name, format.Line(broken.What, 0))
			skipped.Broken = side.name == gate.HeadID
			e.measured.Skipped = append(e.measured.Skipped, skipped)
			return programs, false, nil
		case err != nil:
			return programs, false, err
		}
	}
	return programs, true, nil
}

// newModuleVersions returns a function about a contender of the catalog. It returns the modules of
// the contender that the project requires before and after the change, and whether a version
// differs. dirs are the project's directories.
func newModuleVersions(ctx context.Context, all catalog.Catalog, dirs gate.SidePaths) (gate.ModuleVersions, error) {
	base, err := requiredModules(ctx, dirs.Base)
	if err != nil {
		return nil, err
	}
	head, err := requiredModules(ctx, dirs.Head)
	if err != nil {
		return nil, err
	}
	return func(kind string, e tare.Entry) (before, after []string, ok bool, err error) {
		leaf, _, err := all.Leaf(kind, e.Leaf())
		if err != nil {
			return nil, nil, false, err
		}
		for _, module := range leaf.Manifest.Modules {
			module, _, _ = strings.Cut(module, "@")
			baseVersion, headVersion := base[module], head[module]
			if baseVersion == "" || headVersion == "" {
				continue
			}
			isRequired, err := leaf.Requires(module)
			if err != nil {
				return nil, nil, false, err
			}
			if !isRequired {
				continue
			}
			before, after = append(before, module+"@"+baseVersion), append(after, module+"@"+headVersion)
			ok = ok || baseVersion != headVersion
		}
		return before, after, ok, nil
	}, nil
}

// requiredModules returns the versions of the modules that the go.mod in dir requires, by path. It
// omits replaced modules.
func requiredModules(ctx context.Context, dir string) (map[string]string, error) {
	file := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "edit", "-json", file)
	cmd.Dir, cmd.Env = dir, build.Environment(os.Environ())
	out, err := cmd.Output()
	var failure *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, cmdenv.ErrInterrupted
	case errors.As(err, &failure):
		return nil, cmdenv.Usage(format.Line(strings.TrimSpace(string(failure.Stderr)), 0), "")
	case err != nil:
		return nil, fmt.Errorf("run the go command: %w", err)
	}
	var mod struct {
		Require []struct{ Path, Version string }
		Replace []struct{ Old struct{ Path string } }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return nil, fmt.Errorf("read what go mod edit wrote of %s: %w", file, err)
	}
	versions := map[string]string{}
	for _, r := range mod.Require {
		versions[r.Path] = r.Version
	}
	for _, r := range mod.Replace {
		delete(versions, r.Old.Path)
	}
	return versions, nil
}
