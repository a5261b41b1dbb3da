package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A module of another project, on which tare bench is tried. It compares two of its releases.
const (
	foreign    = "golang.org/x/mod"
	foreignOld = "v0.32.0"
	foreignNew = "v0.38.0"
)

// makeForeign makes a repository in dir with a commit for each release.
func (r *release) makeForeign(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, dir, "git", "init", "--quiet"); err != nil {
		return err
	}
	for _, version := range []string{foreignOld, foreignNew} {
		cmd := exec.CommandContext(ctx, "go", "mod", "download", foreign+"@"+version)
		cmd.Dir, cmd.Env = filepath.Dir(dir), r.env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("download %s@%s: %w: %s", foreign, version, err, out)
		}
		for _, args := range [][]string{
			{"rm", "-r", "--quiet", "--ignore-unmatch", "."},
			{"--work-tree=" + filepath.Join(r.modules, foreign+"@"+version), "add", "--all"},
			{"-c", "user.name=tare", "-c", "user.email=release@tare.invalid", "commit", "--quiet", "--message", version},
			{"reset", "--hard", "--quiet"},
		} {
			if _, err := commandOutput(ctx, dir, "git", args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryArtifacts tries the commands in the Debian package and the image. out has both.
func (r *release) tryArtifacts(ctx context.Context, w io.Writer, out, dir string) error {
	debs, err := filepath.Glob(filepath.Join(out, "*.deb"))
	if err != nil {
		return fmt.Errorf("list the packages in %s: %w", out, err)
	}
	if len(debs) != 1 {
		return fmt.Errorf("%s has %d packages, not one", out, len(debs))
	}
	installed := filepath.Join(dir, "deb")
	_, err = commandOutput(ctx, dir, "dpkg-deb", "--extract", debs[0], installed)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		fmt.Fprintln(w, "no dpkg-deb in PATH: the package is not tried")
	case err != nil:
		return err
	default:
		if err := r.tryBench(ctx, w, "the package", filepath.Join(installed, "usr", "bin", "tare")); err != nil {
			return err
		}
	}
	layer, err := readImage(filepath.Join(out, "image"))
	if err != nil {
		return err
	}
	tare := filepath.Join(dir, "image", "tare")
	if err := extractFile(layer, "usr/bin/tare", tare); err != nil {
		return err
	}
	return r.tryBench(ctx, w, "the image's command", tare)
}

// extractFile writes file name of a tar archive to path.
func extractFile(archive []byte, name, path string) error {
	files := tar.NewReader(bytes.NewReader(archive))
	for {
		head, err := files.Next()
		if err != nil {
			return fmt.Errorf("find %s in the image: %w", name, err)
		}
		if head.Name != name {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o755)
	}
}

// tryBench runs tare bench on the two foreign commits, with an empty home. tare is the path of the command;
// messages use name. Any verdict is accepted.
func (r *release) tryBench(ctx context.Context, w io.Writer, name, tare string) error {
	begun := time.Now()
	home, err := os.MkdirTemp(filepath.Dir(r.clone), "home-")
	if err != nil {
		return err
	}
	env := append(slices.Clone(r.env), "HOME="+home, "TARE_CACHE="+filepath.Join(home, "cache"), "TARE_DATA="+filepath.Join(home, "data"))
	version := exec.CommandContext(ctx, tare, "version")
	version.Dir, version.Env = home, env
	versionText, err := version.Output()
	if err != nil {
		return fmt.Errorf("%s: tare version: %w", name, err)
	}
	if !strings.Contains(string(versionText), r.version) {
		return fmt.Errorf("%s: tare version prints %q, not %s", name, versionText, r.version)
	}
	cmd := exec.CommandContext(ctx, tare, "bench", "./semver", "--base", "HEAD~1", "--bench", "Compare", "--rounds", "6", "--exit-code", "--quiet")
	cmd.Dir, cmd.Env = filepath.Join(filepath.Dir(r.clone), "foreign"), env
	out, err := cmd.CombinedOutput()
	fmt.Fprintf(w, "$ %s\n%s", strings.Join(cmd.Args, " "), firstLines(string(out)))
	// Exit codes 3 to 5 are verdicts: see tare help exit-codes.
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() >= 3 && exit.ExitCode() <= 5 {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !strings.Contains(string(out), "BenchmarkCompare") {
		return fmt.Errorf("%s gave no verdict on %s", name, foreign)
	}
	fmt.Fprintf(w, "%s gives a verdict on %s, which is not ours, after %.0f s\n", name, foreign, time.Since(begun).Seconds())
	return nil
}
