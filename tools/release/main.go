// Command release creates the versions that users install.
//
// In the repository the command requires the root module by a replace directive, which go install rejects. So a
// version has two commits. The root module and cgocopy are tagged at the commit of main. The command is tagged at
// a later commit, on no branch, that requires the tagged root module.
//
//	release -version v0.1.0          tag it locally; nothing is pushed
//	release -version v0.1.0 -check   tag nothing: install it by go install and use it
//
// With -out DIR, -check also writes an archive, a Debian package, a container image and checksums. It then tries
// the commands in package and image on a module of another project.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Modules of a version.
const (
	root    = "github.com/tarebench/tare"
	cgocopy = root + "/cgocopy"
	command = root + "/cmd/tare"
)

func main() {
	version := flag.String("version", "", "the `version`, e.g. v0.1.0")
	check := flag.Bool("check", false, "tag nothing; install the version from a proxy of files, and use it")
	out := flag.String("out", "", "with -check: `directory` for the archive, package, image and checksums, which are tried as well")
	studies := flag.Bool("studies", false, "with -check: also run studies, which builds contenders")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runCommand(ctx, os.Stdout, *version, *check, *out, *studies); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

// runCommand makes the commits of a version and packs its modules, in a temporary clone. Then it tags the commits,
// or with check tries the modules.
func runCommand(ctx context.Context, w io.Writer, version string, check bool, out string, studies bool) error {
	if semver.Canonical(version) != version || module.CheckPathMajor(version, "") != nil {
		return fmt.Errorf("version %q: a version of a module is v0.N.N or v1.N.N", version)
	}
	repo, err := commandOutput(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	changes, err := commandOutput(ctx, repo, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" && !check {
		return fmt.Errorf("the tree has changes that no commit has, e.g. %.60q", changes)
	}
	dir, err := os.MkdirTemp("", "tare-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := release{version: version, clone: filepath.Join(dir, "clone"), proxy: filepath.Join(dir, "proxy")}
	if _, err := commandOutput(ctx, repo, "git", "clone", "--quiet", "--no-checkout", repo, r.clone); err != nil {
		return err
	}
	if _, err := commandOutput(ctx, r.clone, "git", "checkout", "--quiet", "--detach"); err != nil {
		return err
	}
	if err := r.packModules(ctx); err != nil {
		return err
	}
	if check {
		return r.tryInstall(ctx, w, dir, out, studies)
	}
	return r.tagCommits(ctx, w, repo)
}

func (r *release) tagCommits(ctx context.Context, w io.Writer, repo string) error {
	tags := []string{r.version, "cgocopy/" + r.version, "cmd/tare/" + r.version}
	for _, tag := range tags {
		found, err := commandOutput(ctx, repo, "git", "tag", "--list", tag)
		if err != nil {
			return err
		}
		if found != "" {
			return fmt.Errorf("there is a tag %s already", tag)
		}
	}
	for i, tag := range tags {
		commit := r.mainCommit
		if i == len(tags)-1 { // only the clone has the command's commit
			commit = r.cmdCommit
			if _, err := commandOutput(ctx, repo, "git", "fetch", "--quiet", r.clone, commit); err != nil {
				return err
			}
		}
		if _, err := commandOutput(ctx, repo, "git", "tag", "--annotate", "--message", "tare "+r.version, tag, commit); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "tagged. To publish:\n  git push origin %s\n", strings.Join(tags, " "))
	return nil
}

func commandOutput(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", withStderr(cmd, err)
	}
	return strings.TrimSpace(string(out)), nil
}

func withStderr(cmd *exec.Cmd, err error) error {
	var text string
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		text = ": " + strings.TrimSpace(string(exit.Stderr))
	}
	return fmt.Errorf("%s: %w%s", strings.Join(cmd.Args, " "), err, text)
}
