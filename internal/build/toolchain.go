package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/machine"
)

// toolchain is the output of `go env`, read once per Builder: all settings that can change a
// binary, and those that go build needs to find modules the way the user does.
type toolchain struct {
	path string            // of the go command
	env  map[string]string // name → effective value
}

// decides are the settings that can change what is built; they enter the key.
var decides = [...]string{
	"GOVERSION", "GOTOOLCHAIN", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64",
	"CGO_ENABLED", "CC", "CXX", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS", "PKG_CONFIG",
}

// finds are the settings with the directories of modules and caches.
var finds = [...]string{
	"GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOVCS", "GOAUTH", "GOCACHE", "GOMODCACHE", "GOPATH",
}

// cleared are the variables a build must not inherit: each could change what
// is measured without leaving a trace in the sources.
var cleared = [...]string{"GOFLAGS", "GOEXPERIMENT", "GODEBUG", "GOWORK", "GOENV", "GO111MODULE", "GOOS", "GOARCH", "GOTMPDIR", "GOFIPS140"}

// Settings returns the variables of environ that affect builds, or name the directories of modules
// and caches. A process with another environment needs them to find a build again.
func Settings(environ []string) []string {
	names := slices.Concat(decides[1:], finds[:])
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(names, name)
	})
}

// loadToolchain reads the settings of the go command, once.
func (b *Builder) loadToolchain(ctx context.Context) (toolchain, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tool.path != "" {
		return b.tool, nil
	}
	name := b.Go
	if name == "" {
		name = "go"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return toolchain{}, fmt.Errorf("%w: %q was not found; install Go from https://go.dev/dl/ or put it in PATH", ErrNoToolchain, name)
	}
	names := slices.Concat(decides[:], finds[:])
	dir, remove := OutsideModules()
	defer remove()
	out, said, err := b.runSplit(ctx, path, dir, b.makeEnv(nil, append(TempEnv(dir), "GOWORK=off")...), append([]string{"env", "-json"}, names...)...)
	if ctx.Err() != nil {
		return toolchain{}, ctx.Err()
	}
	t := toolchain{path: path, env: map[string]string{}}
	if err != nil {
		return toolchain{}, fmt.Errorf("%w: %s env: %s", ErrNoToolchain, name, firstLine(said, err))
	}
	if err := json.Unmarshal([]byte(out), &t.env); err != nil || t.env["GOVERSION"] == "" {
		return toolchain{}, fmt.Errorf("%w: %s env does not answer like a go command", ErrNoToolchain, name)
	}
	if t.env["CGO_ENABLED"] == "1" && !slices.ContainsFunc(b.makeEnv(nil), func(kv string) bool { return strings.HasPrefix(kv, "CGO_ENABLED=") }) && !canCompile(ctx, t.env["CC"]) {
		t.env["CGO_ENABLED"] = "0"
	}
	b.tool = t
	return t, nil
}

// OutsideModules returns a directory in which the go command, with GOWORK=off, finds a
// go.mod that requires nothing: none above it decides on the toolchain. If no directory
// can be made it is the one of temporary files.
func OutsideModules() (dir string, remove func()) {
	dir, remove, err := machine.TempDir("go")
	if err != nil {
		return os.TempDir(), func() {}
	}
	_ = os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module outside\n\ngo 1.21\n"), 0o600)
	return dir, remove
}

// compileTime is the time limit of the C compiler for an empty program: a hundred times what it
// takes.
const compileTime = 20 * time.Second

// canCompile reports whether a C compiler makes a program. One that exists and fails counts as
// missing, and the go command then builds without cgo.
func canCompile(ctx context.Context, cc string) bool {
	words := strings.Fields(cc)
	if len(words) == 0 {
		return false
	}
	dir, remove, err := machine.TempDir("cc")
	if err != nil {
		return true // the build will report it
	}
	defer remove()
	ctx, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], "-x", "c", "-o", filepath.Join(dir, "empty"), "-")...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), TempEnv(dir)...), time.Second
	cmd.Stdin = strings.NewReader("#include <stdlib.h>\nint main(void) { return 0; }\n")
	return cmd.Run() == nil
}

// withRelease returns t with another toolchain release, or t if release is "". It runs no command:
// of the output of go env, only these two settings depend on the release.
func (t toolchain) withRelease(release string) toolchain {
	if release == "" {
		return t
	}
	return t.withSetting("GOVERSION", release).withSetting("GOTOOLCHAIN", release)
}

// withSetting returns t with one setting changed.
func (t toolchain) withSetting(name, value string) toolchain {
	t.env = maps.Clone(t.env)
	t.env[name] = value
	return t
}

// settingsText returns one line per setting that can change a binary.
func (t toolchain) settingsText() string {
	var s strings.Builder
	fmt.Fprintf(&s, "GOOS=%s\nGOARCH=%s\n", runtime.GOOS, runtime.GOARCH)
	for _, name := range decides {
		fmt.Fprintf(&s, "%s=%s\n", name, strconv.Quote(t.env[name]))
	}
	if t.env["CGO_ENABLED"] == "1" {
		s.WriteString(compilerStamp(t.env["CC"]) + compilerStamp(t.env["CXX"]))
	}
	return s.String()
}

// compilerStamp distinguishes a C compiler from its successor at the same path without running it.
func compilerStamp(cc string) string {
	words := strings.Fields(cc)
	if len(words) == 0 {
		return ""
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
}

// buildEnv returns the environment of go build: the user's own, with everything
// that decides the binary pinned and nothing else let in. GOENV=off because an
// empty GOFLAGS in the environment would fall through to the user's file.
func (b *Builder) buildEnv(t toolchain, tmp string) []string {
	set := append(TempEnv(tmp), "GOENV=off", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	for _, name := range slices.Concat(decides[1:], finds[:], []string{"GOFLAGS"}) { // the last is supply's
		if v := t.env[name]; v != "" {
			set = append(set, name+"="+v)
		}
	}
	return b.makeEnv(cleared[:], set...)
}

// TempEnv makes the go command and the C compilers that it starts write their temporary files below
// dir, which the caller removes: a killed compiler leaves its own.
func TempEnv(dir string) []string {
	return []string{"GOTMPDIR=" + dir, "TMPDIR=" + dir, "TMP=" + dir, "TEMP=" + dir}
}

// makeEnv returns the builder's environment without drop and with set.
func (b *Builder) makeEnv(drop []string, set ...string) []string {
	base := b.Env
	if base == nil {
		base = os.Environ()
	}
	if b.Run != "" {
		set = append(set, envRun+"="+b.Run)
	}
	var out []string
	for _, kv := range Environment(base) {
		name, _, _ := strings.Cut(kv, "=")
		internal := strings.HasPrefix(name, "TARE_") || strings.HasPrefix(name, "GOTOOLCHAIN_INTERNAL")
		if internal || slices.Contains(drop, name) || slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") }) {
			continue
		}
		out = append(out, kv)
	}
	return append(out, set...)
}

// cacheError returns err with the directory that could not be written.
func cacheError(dir string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%w %s: %w; set TARE_CACHE to a directory that can be written", ErrCache, dir, err)
}

// Here reports whether Go release, e.g. go1.27.2, is installed, so that building with it downloads
// nothing.
func (b *Builder) Here(ctx context.Context, release string) bool {
	t, err := b.loadToolchain(ctx)
	if err != nil || t.env["GOVERSION"] == release {
		return err == nil
	}
	dir := fmt.Sprintf("toolchain@v0.0.1-%s.%s-%s", release, runtime.GOOS, runtime.GOARCH)
	info, err := os.Stat(filepath.Join(t.env["GOMODCACHE"], "golang.org", dir))
	return err == nil && info.IsDir()
}
