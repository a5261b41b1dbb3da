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

// sortLines sorts lines and removes duplicates.
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

// tryInstall installs the version like a user and runs it: in an empty directory, with empty
// caches of tare. Other modules come from the machine's module cache if it has them.
func (r *release) tryInstall(ctx context.Context, w io.Writer, dir string) error {
	have, err := commandOutput(ctx, dir, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	proxies, err := commandOutput(ctx, dir, "go", "env", "GOPROXY")
	if err != nil {
		return err
	}
	work, bin := filepath.Join(dir, "work"), filepath.Join(dir, "bin")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	env := append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(r.proxy)+",file://"+filepath.ToSlash(filepath.Join(have, "cache", "download"))+","+proxies,
		"GONOSUMDB="+root, "GOWORK=off", "GOFLAGS=-modcacherw", "GOBIN="+bin, "GOMODCACHE="+filepath.Join(dir, "modules"),
		"TARE_CACHE="+filepath.Join(dir, "cache"), "TARE_DATA="+filepath.Join(dir, "data"), "NO_COLOR=1",
	)
	tare := filepath.Join(bin, "tare")
	for _, step := range [][]string{
		{"go", "install", command + "@" + r.version},
		{"go", "install", cgocopy + "/cmd/cgocopy@" + r.version},
		{tare, "version"},
		{tare, "list", "contenders"},
		{tare, "run", "json-encode", "--contender", "jsoniter-fastest", "--workload", "devices-50/marshal", "--rounds", "2"},
		{tare, "run", "tiny", "--contender", "gin-new", "--workload", "get-random/c50", "--rounds", "2"},
		{tare, "run", "users", "--contender", "grpc", "--workload", "get/c10", "--rounds", "2"},
	} {
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
	fmt.Fprintln(w, r.version+" installs and runs")
	return nil
}

// firstLines returns the first lines of a text.
func firstLines(text string) string {
	const most = 12
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("… (%d lines)\n", len(lines)))
	}
	return strings.Join(lines, "")
}
