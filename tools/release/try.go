package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tryInstall installs the version like a user, and runs it. Home, caches and working directory are empty in dir.
// Only the build cache is that of this machine. Modules of the version come from r.proxy, others from this
// machine. If artifacts is set, packages are written there and tried.
func (r *release) tryInstall(ctx context.Context, w io.Writer, dir, artifacts string, studies bool) error {
	settings := map[string]string{}
	for _, name := range []string{"GOMODCACHE", "GOPROXY", "GOCACHE"} {
		var err error
		if settings[name], err = commandOutput(ctx, dir, "go", "env", name); err != nil {
			return err
		}
	}
	work, bin, home := filepath.Join(dir, "work"), filepath.Join(dir, "bin"), filepath.Join(dir, "home")
	for _, d := range []string{work, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	r.modules = filepath.Join(dir, "modules")
	cached := filepath.Join(settings["GOMODCACHE"], "cache", "download")
	r.env = append(os.Environ(), "HOME="+home, "GOCACHE="+settings["GOCACHE"],
		"GOPROXY=file://"+filepath.ToSlash(r.proxy)+",file://"+filepath.ToSlash(cached)+","+settings["GOPROXY"],
		"GONOSUMDB="+root+","+foreign, "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "GOMODCACHE="+r.modules, "NO_COLOR=1",
	)
	env := append(slices.Clone(r.env), "GOBIN="+bin, "TARE_CACHE="+filepath.Join(dir, "cache"), "TARE_DATA="+filepath.Join(dir, "data"))
	if err := r.makeForeign(ctx, filepath.Join(dir, "foreign")); err != nil {
		return err
	}
	tare := filepath.Join(bin, "tare")
	steps := [][]string{
		{"go", "install", command + "@" + r.version},
		{"go", "install", cgocopy + "/cmd/cgocopy@" + r.version},
		{tare, "version"},
		{tare, "list", "contenders"},
	}
	if studies {
		steps = append(steps, [][]string{
			{tare, "run", "json-encode", "--contender", "jsoniter-fastest", "--workload", "devices-50/marshal", "--rounds", "2"},
			{tare, "run", "tiny", "--contender", "gin-new", "--workload", "get-random/c50", "--rounds", "2"},
			{tare, "run", "users", "--contender", "grpc", "--workload", "get/c10", "--rounds", "2"},
		}...)
	}
	for _, step := range steps {
		fmt.Fprintf(w, "$ %s\n", strings.Join(step, " "))
		cmd := exec.CommandContext(ctx, step[0], step[1:]...)
		cmd.Dir, cmd.Env = work, env
		out, err := cmd.CombinedOutput()
		fmt.Fprint(w, firstLines(string(out)))
		if err != nil {
			return withStderr(cmd, err)
		}
		if slices.Contains(step, "version") && !strings.Contains(string(out), r.version) {
			return fmt.Errorf("%s prints %q, not %s", tare, out, r.version)
		}
	}
	leftovers, err := os.ReadDir(work)
	if err != nil {
		return err
	}
	if len(leftovers) > 0 {
		return fmt.Errorf("tare wrote %d files into the working directory, e.g. %s", len(leftovers), leftovers[0].Name())
	}
	if err := r.tryBench(ctx, w, "go install's command", tare); err != nil {
		return err
	}
	if artifacts != "" {
		if err := r.writeArtifacts(ctx, artifacts); err != nil {
			return err
		}
		if err := r.tryArtifacts(ctx, w, artifacts, dir); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, r.version+" installs and runs")
	return nil
}

// firstLines returns the first lines of a text, and the number of all.
func firstLines(text string) string {
	const maxLines = 12
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("… (%d lines)\n", len(lines)))
	}
	return strings.Join(lines, "")
}
