package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// release is a version in progress.
type release struct {
	version string
	clone   string // of the repository, where the command's commit is made
	proxy   string // directory of files as a module proxy serves them
	main    string // commit of the root module and of cgocopy
	own     string // commit of the command

	env     []string // of who installs the version: the proxy first, an empty module cache
	modules string   // that module cache
}

// packModules creates the command's commit and packs the modules.
func (r *release) packModules(ctx context.Context) error {
	var err error
	if r.main, err = commandOutput(ctx, r.clone, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	if err := r.packModule(ctx, cgocopy, "cgocopy", r.main); err != nil {
		return err
	}
	if err := r.packModule(ctx, root, "", r.main); err != nil {
		return err
	}
	at := filepath.Join(r.clone, "cmd", "tare")
	archive := filepath.Join(at, "internal", "catalog", "packed", "catalog.txt")
	if _, err := commandOutput(ctx, at, "go", "run", "./internal/catalog/pack", "-root", r.clone, "-o", archive); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, r.clone, "git", "add", "--force", archive); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, at, "go", "mod", "edit", "-dropreplace", root, "-require", root+"@"+r.version); err != nil {
		return err
	}
	if err := r.addSums(filepath.Join(at, "go.sum")); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, r.clone, "git", "-c", "user.name=tare", "-c", "user.email=release@tare.invalid",
		"commit", "--quiet", "--all", "--message", "release: cmd/tare "+r.version+" requires the root module of that version"); err != nil {
		return err
	}
	if r.own, err = commandOutput(ctx, r.clone, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	return r.packModule(ctx, command, "cmd/tare", r.own)
}

// packModule writes the proxy's files for a module, which is in dir at a commit.
func (r *release) packModule(ctx context.Context, path, dir, commit string) error {
	when, err := commandOutput(ctx, r.clone, "git", "show", "--no-patch", "--format=%cI", commit)
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, when)
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{r.version, at.UTC()})
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
	into, err := r.proxyDir(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(r.version + "\n"), r.version + ".info": info, r.version + ".mod": mod, r.version + ".zip": archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(into, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// proxyDir returns the directory of a module in the proxy.
func (r *release) proxyDir(path string) (string, error) {
	escaped, err := module.EscapePath(path)
	return filepath.Join(r.proxy, filepath.FromSlash(escaped), "@v"), err
}

// addSums adds the root module's checksums to a go.sum.
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
	lines := fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", root, r.version, archive, root, r.version, mod)
	// Sorted, as the go command writes them.
	all := append(strings.SplitAfter(strings.TrimSuffix(string(old), "\n"), "\n"), strings.SplitAfter(lines, "\n")...)
	return os.WriteFile(file, []byte(sortLines(all)), 0o644)
}
