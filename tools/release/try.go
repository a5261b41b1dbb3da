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

// sortLines returns lines as a text, sorted and without duplicates and empty lines.
func sortLines(lines []string) string {
	var out []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "\n") + "\n"
}

// tryInstall installs the version like a user and runs it, in an empty directory and home and with empty caches
// of tare and of modules. Modules of other projects come from the module cache of this machine if they are
// there. The build cache of this machine is used too.
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
			return fmt.Errorf("%s says %q, not %s", tare, out, r.version)
		}
	}
	left, err := os.ReadDir(work)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%d files are left in the working directory, e.g. %s", len(left), left[0].Name())
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

// firstLines returns the first 12 lines of a text, and their number if there are more.
func firstLines(text string) string {
	const maxLines = 12
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("… (%d lines)\n", len(lines)))
	}
	return strings.Join(lines, "")
}
