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

// buildServers builds the servers of tare.yaml on both sides, in dir.
func (b *nonBench) buildServers(ctx context.Context, dir string) error {
	for _, l := range b.request.Project.Load {
		asking := loadstudy.Requests{Mix: l.Mix}
		for file, flag := range map[string]*string{l.Feed: &asking.Feed, l.FeedBodies: &asking.FeedBodies} {
			if file != "" {
				*flag = filepath.Join(b.dirs.Head, filepath.FromSlash(file))
			}
		}
		feed, err := asking.List(loadstudy.Target{Path: "/"}, nil)
		if err == nil && feed.Kind != traffic.Unknown && feed.Kind != traffic.Lines {
			err = fmt.Errorf("%s is %s, not a request on each line; tare load --feed %s --dry-run --json prints it so", l.Feed, feed.Kind, l.Feed)
		}
		if err != nil {
			return b.placeError(l.Place, strings.ReplaceAll(err.Error(), b.dirs.Head+string(filepath.Separator), ""))
		}
		own := filepath.Join(dir, l.ID)
		if err := os.Mkdir(own, 0o755); err != nil {
			return err
		}
		file := filepath.Join(own, "requests.ndjson")
		if err := loadstudy.WriteRequests(file, feed.Requests); err != nil {
			return err
		}
		built, ok, err := b.buildServer(ctx, l, own)
		if err != nil {
			return err
		}
		if ok {
			w := gate.Server(l, b.request, built, b.dirs, file)
			w.Held.Place = gate.Place{File: b.config, Line: l.Line}
			b.servers = append(b.servers, w)
		}
	}
	return nil
}

// buildServer returns the program of both sides. It returns false and records why if a side has
// none.
func (b *nonBench) buildServer(ctx context.Context, l project.Server, dir string) (programs gate.Trees, ok bool, err error) {
	left := gate.Left{What: "load " + l.ID}
	there, err := gate.IsDir(filepath.Join(b.dirs.Head, filepath.FromSlash(l.Program)))
	if err != nil {
		return programs, false, err
	}
	if !there {
		return programs, false, b.placeError(l.Place, "there is no directory "+l.Program+" in the head")
	}
	if there, err = gate.IsDir(filepath.Join(b.dirs.Base, filepath.FromSlash(l.Program))); err != nil {
		return programs, false, err
	}
	if !there {
		left.Why, left.OneSided = l.Program+" is in head only", true
		b.measured.Left = append(b.measured.Left, left)
		return programs, false, nil
	}
	for _, side := range []struct {
		name, here string
		file       *string
	}{{gate.HeadID, b.dirs.Head, &programs.Head}, {gate.BaseID, b.dirs.Base, &programs.Base}} {
		b.Progress.Status("build", side.name+": building "+l.Program)
		*side.file = filepath.Join(dir, side.name)
		err := gate.Build(ctx, filepath.Join(side.here, filepath.FromSlash(l.Program)), *side.file)
		var wrong *gate.BuildError
		switch {
		case ctx.Err() != nil:
			return programs, false, cmdenv.ErrInterrupted
		case errors.As(err, &wrong):
			left.Why = fmt.Sprintf("%s of %s does not build: %s", l.Program, side.name, format.Line(wrong.What, 0))
			left.Broken = side.name == gate.HeadID
			b.measured.Left = append(b.measured.Left, left)
			return programs, false, nil
		case err != nil:
			return programs, false, err
		}
	}
	return programs, true, nil
}

// movedModules reports by contender of the catalog which of its modules go.mod requires in
// another version in the head.
func movedModules(ctx context.Context, all catalog.Catalog, here gate.Trees) (gate.Moved, error) {
	base, err := requiredModules(ctx, here.Base)
	if err != nil {
		return nil, err
	}
	head, err := requiredModules(ctx, here.Head)
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
			old, fresh := base[module], head[module]
			if old == "" || fresh == "" {
				continue
			}
			takes, err := leaf.Requires(module)
			if err != nil {
				return nil, nil, false, err
			}
			if !takes {
				continue
			}
			before, after = append(before, module+"@"+old), append(after, module+"@"+fresh)
			ok = ok || old != fresh
		}
		return before, after, ok, nil
	}, nil
}

// requiredModules returns the versions of the modules that the go.mod in dir requires, without
// replaced ones. It returns nil if there is no go.mod.
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
	var said *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, cmdenv.ErrInterrupted
	case errors.As(err, &said):
		return nil, cmdenv.Usage(format.Line(strings.TrimSpace(string(said.Stderr)), 0), "")
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
