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

// This file finds the go command and the settings with which contenders are built. For example,
// CGO_ENABLED and CC can change a binary, so a cached build belongs to their values.

// toolchain is a go command with its settings, read once from go env.
type toolchain struct {
	path string            // path of the go command
	env  map[string]string // effective values, by name
}

// keySettings are the settings that can change a binary. They are part of the key of a build.
var keySettings = [...]string{
	"GOVERSION", "GOTOOLCHAIN", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64",
	"CGO_ENABLED", "CC", "CXX", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS", "PKG_CONFIG",
}

// cacheSettings are the settings by which the go command finds modules and caches.
var cacheSettings = [...]string{
	"GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOVCS", "GOAUTH", "GOCACHE", "GOMODCACHE", "GOPATH",
}

// clearedNames are the variables that a build must not inherit. Each could change the binary, and
// the sources would not show it.
var clearedNames = [...]string{"GOFLAGS", "GOEXPERIMENT", "GODEBUG", "GOWORK", "GOENV", "GO111MODULE", "GOOS", "GOARCH", "GOTMPDIR", "GOFIPS140"}

// Settings returns keySettings and cacheSettings in environ. A process with another environment needs them to
// find a build again.
func Settings(environ []string) []string {
	names := slices.Concat(keySettings[1:], cacheSettings[:]) // GOVERSION, the first, is no variable
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(names, name)
	})
}

// loadToolchain returns the go command with its settings. It runs go env at the first call only.
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
		return toolchain{}, MissingGo(name)
	}
	names := slices.Concat(keySettings[:], cacheSettings[:])
	dir, remove := OutsideModules()
	defer remove()
	out, errText, err := b.runSplit(ctx, path, dir, b.makeEnv(nil, append(TempEnv(dir), "GOWORK=off")...), append([]string{"env", "-json"}, names...)...)
	if ctx.Err() != nil {
		return toolchain{}, ctx.Err()
	}
	if err != nil {
		return toolchain{}, fmt.Errorf("%w: %s env: %s", ErrNoToolchain, name, firstLine(errText, err))
	}
	t := toolchain{path: path, env: map[string]string{}}
	if err := json.Unmarshal([]byte(out), &t.env); err != nil || t.env["GOVERSION"] == "" {
		return toolchain{}, fmt.Errorf("%w: %s env does not answer like a go command", ErrNoToolchain, name)
	}
	isSetByUser := slices.ContainsFunc(b.makeEnv(nil), func(kv string) bool { return strings.HasPrefix(kv, "CGO_ENABLED=") })
	if t.env["CGO_ENABLED"] == "1" && !isSetByUser && !canCompile(ctx, t.env["CC"]) {
		t.env["CGO_ENABLED"] = "0"
	}
	b.tool = t
	return t, nil
}

// OutsideModules returns a new directory with a go.mod that requires nothing. With GOWORK=off, no
// go.mod above it affects the go command. remove deletes the directory. If it cannot be made,
// OutsideModules returns os.TempDir.
func OutsideModules() (dir string, remove func()) {
	dir, remove, err := machine.TempDir("go")
	if err != nil {
		return os.TempDir(), func() {}
	}
	_ = os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module outside\n\ngo 1.21\n"), 0o600)
	return dir, remove
}

// compileTimeout limits the C compiler for an empty program. It usually takes a hundredth of that.
const compileTimeout = 20 * time.Second

// canCompile reports whether the C compiler cc can make a program. If it cannot, builds are made
// without cgo.
func canCompile(ctx context.Context, cc string) bool {
	words := strings.Fields(cc)
	if len(words) == 0 {
		return false
	}
	dir, remove, err := machine.TempDir("cc")
	if err != nil {
		return true // the build will report the error
	}
	defer remove()
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], "-x", "c", "-o", filepath.Join(dir, "empty"), "-")...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), TempEnv(dir)...), time.Second
	cmd.Stdin = strings.NewReader("#include <stdlib.h>\nint main(void) { return 0; }\n")
	return cmd.Run() == nil
}

// withRelease returns t with another toolchain release, or t if release is "". It need not run go
// env again, because only the settings that it changes depend on the release.
func (t toolchain) withRelease(release string) toolchain {
	if release == "" {
		return t
	}
	release, experiments := splitToolchain(release)
	return t.withSetting("GOVERSION", release).withSetting("GOTOOLCHAIN", release).withSetting(experimentSetting, experiments)
}

// experimentSetting has the experiments of a toolchain. A build does not inherit the user's.
const experimentSetting = "GOEXPERIMENT"

// splitToolchain splits the name of a toolchain, such as go1.26.8+jsonv2, into its release and the
// value of GOEXPERIMENT. Each experiment follows a plus sign.
func splitToolchain(name string) (release, experiments string) {
	release, experiments, _ = strings.Cut(name, "+")
	return release, strings.ReplaceAll(experiments, "+", ",")
}

// ToolchainEnv returns the variables with which the go command uses a toolchain, such as
// go1.26.8+jsonv2.
func ToolchainEnv(name string) []string {
	release, experiments := splitToolchain(name)
	return []string{"GOTOOLCHAIN=" + release, experimentSetting + "=" + experiments}
}

// releaseOf removes experiments from the Go version of a binary, as in go1.26.8-X:jsonv2.
func releaseOf(goVersion string) string {
	release, _, _ := strings.Cut(goVersion, " ")
	release, _, _ = strings.Cut(release, "-X:")
	return release
}

func (t toolchain) withSetting(name, value string) toolchain {
	t.env = maps.Clone(t.env)
	t.env[name] = value
	return t
}

// settingsText returns everything about the toolchain that can change a binary. It is part of the key under
// which a binary is cached.
func (t toolchain) settingsText() string {
	var s strings.Builder
	fmt.Fprintf(&s, "GOOS=%s\nGOARCH=%s\n", runtime.GOOS, runtime.GOARCH)
	for _, name := range keySettings {
		fmt.Fprintf(&s, "%s=%s\n", name, strconv.Quote(t.env[name]))
	}
	if experiments := t.env[experimentSetting]; experiments != "" {
		fmt.Fprintf(&s, "%s=%s\n", experimentSetting, experiments)
	}
	if t.env["CGO_ENABLED"] == "1" {
		s.WriteString(compilerStamp(t.env["CC"]) + compilerStamp(t.env["CXX"]))
	}
	return s.String()
}

// compilerStamp returns the path, size and modification time of a C compiler. They change when
// another version is installed. It returns "" without a compiler.
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

// buildEnv returns the environment of go build. Everything that can change the binary is set or removed. GOENV
// is off, because the user's file could set GOFLAGS.
func (b *Builder) buildEnv(t toolchain, tmp string) []string {
	set := append(TempEnv(tmp), "GOENV=off", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	for _, name := range slices.Concat(keySettings[1:], cacheSettings[:], []string{"GOFLAGS", experimentSetting}) { // supplySDK may set GOFLAGS
		if v := t.env[name]; v != "" {
			set = append(set, name+"="+v)
		}
	}
	return b.makeEnv(clearedNames[:], set...)
}

// TempEnv returns variables that make the go command and its C compilers write temporary files into
// dir. The caller removes dir, because a killed compiler leaves its files.
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
		isInternal := strings.HasPrefix(name, "TARE_") || strings.HasPrefix(name, "GOTOOLCHAIN_INTERNAL")
		isReplaced := slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
		if isInternal || isReplaced || slices.Contains(drop, name) {
			continue
		}
		out = append(out, kv)
	}
	return append(out, set...)
}

func cacheError(dir string, err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr): // its path may be temporary
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return fmt.Errorf("%w %s: %w; set TARE_CACHE to a directory that can be written", ErrCache, dir, err)
}

// IsInstalled reports whether the toolchain of a Go release, e.g. go1.27.2, is on this machine.
// Building with it then downloads nothing.
func (b *Builder) IsInstalled(ctx context.Context, release string) bool {
	t, err := b.loadToolchain(ctx)
	if err != nil {
		return false
	}
	if t.env["GOVERSION"] == release {
		return true
	}
	dir := fmt.Sprintf("toolchain@v0.0.1-%s.%s-%s", release, runtime.GOOS, runtime.GOARCH)
	info, err := os.Stat(filepath.Join(t.env["GOMODCACHE"], "golang.org", dir))
	return err == nil && info.IsDir()
}
