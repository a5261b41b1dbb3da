package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// release is a version in progress. Its modules are packed like those of a Go module proxy. So the go command can
// install the version before it is published.
type release struct {
	version    string
	clone      string // clone with the command's commit
	proxy      string // directory of the module proxy
	mainCommit string // commit of root and cgocopy
	cmdCommit  string // commit of the command

	env     []string // environment of a user, with GOPROXY=proxy and GOMODCACHE=modules
	modules string   // empty module cache
}

// packModules writes all modules into the proxy, the command last. The command gets its own commit in the clone.
// There it contains the packed catalog and requires the root module of this version.
func (r *release) packModules(ctx context.Context) error {
	var err error
	if r.mainCommit, err = commandOutput(ctx, r.clone, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	if err := r.packModule(ctx, cgocopy, "cgocopy", r.mainCommit); err != nil {
		return err
	}
	if err := r.packModule(ctx, root, "", r.mainCommit); err != nil {
		return err
	}
	cmdDir := filepath.Join(r.clone, "cmd", "tare")
	archive := filepath.Join(cmdDir, "internal", "catalog", "packed", "catalog.txt")
	if _, err := commandOutput(ctx, cmdDir, "go", "run", "./internal/catalog/pack", "-root", r.clone, "-o", archive); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, r.clone, "git", "add", "--force", archive); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, cmdDir, "go", "mod", "edit", "-dropreplace", root, "-require", root+"@"+r.version); err != nil {
		return err
	}
	if err := r.addSums(filepath.Join(cmdDir, "go.sum")); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, r.clone, "git", "-c", "user.name=tare", "-c", "user.email=release@tare.invalid",
		"commit", "--quiet", "--all", "--message", "release: cmd/tare "+r.version+" requires the root module of that version"); err != nil {
		return err
	}
	if r.cmdCommit, err = commandOutput(ctx, r.clone, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	return r.packModule(ctx, command, "cmd/tare", r.cmdCommit)
}

// packModule writes the proxy's files for module path. dir is its directory at commit.
func (r *release) packModule(ctx context.Context, path, dir, commit string) error {
	when, err := commandOutput(ctx, r.clone, "git", "show", "--no-patch", "--format=%cI", commit)
	if err != nil {
		return err
	}
	committed, err := time.Parse(time.RFC3339, when)
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{r.version, committed.UTC()})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(r.clone, filepath.FromSlash(dir), "go.mod"))
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := zip.CreateFromVCS(&archive, module.Version{Path: path, Version: r.version}, r.clone, commit, dir); err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	proxyDir, err := r.proxyDir(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(proxyDir, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list":              []byte(r.version + "\n"),
		r.version + ".info": info,
		r.version + ".mod":  mod,
		r.version + ".zip":  archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(proxyDir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) proxyDir(path string) (string, error) {
	escaped, err := module.EscapePath(path)
	return filepath.Join(r.proxy, filepath.FromSlash(escaped), "@v"), err
}

// addSums adds the checksums of the root module to the go.sum file.
func (r *release) addSums(file string) error {
	dir, err := r.proxyDir(root)
	if err != nil {
		return err
	}
	archive, err := dirhash.HashZip(filepath.Join(dir, r.version+".zip"), dirhash.Hash1)
	if err != nil {
		return err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(dir, r.version+".mod"))
	})
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := append(strings.Split(string(old), "\n"),
		fmt.Sprintf("%s %s %s", root, r.version, archive), fmt.Sprintf("%s %s/go.mod %s", root, r.version, mod))
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	slices.Sort(lines) // in the order of the go command
	return os.WriteFile(file, []byte(strings.Join(slices.Compact(lines), "\n")+"\n"), 0o644)
}
