package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tarebench/tare"
)

// Errors that end a run; they are wrapped, use errors.Is.
var (
	// ErrNoToolchain: there is no Go toolchain to build contenders with.
	ErrNoToolchain = errors.New("no Go toolchain")
	// ErrCache: a cache directory cannot be written.
	ErrCache = errors.New("cannot write the cache")
)

// DefaultTimeout is how long one build may take.
const DefaultTimeout = 10 * time.Minute

// Builder builds contenders. Cache is needed; every other zero value works.
// A Builder may be used concurrently and must not be copied.
type Builder struct {
	Cache   string        // directory; binaries go to Cache/bin/<key>/
	Go      string        // go command; empty: "go" from PATH
	Env     []string      // environment of the go command; nil: this process's
	Run     string        // tag of the whole run, put into TARE_RUN of every process started; empty: none
	Timeout time.Duration // for one build; zero: DefaultTimeout
	Log     func(string)  // gets one line per go command run; nil: nobody listens

	mu   sync.Mutex
	tool toolchain
}

// Program is a contender that can be started.
type Program struct {
	Path      string // of the binary
	Variant   string // told to the program in hello; empty where it has none
	Cached    bool   // it was built before: no compiler ran
	Contender tare.Contender
}

// Built is a contender's binary.
type Built struct {
	Leaf    Leaf
	Path    string  // of the binary
	Cached  bool    // it was built before: no compiler ran
	Seconds float64 // wall time of the go build that made it

	contender tare.Contender // common to all variants; without id and variant
}

// Program is the built contender as one of its variants; "" is a contender
// without variants.
func (b Built) Program(variant string) Program {
	c := b.contender
	c.ID, c.Variant = b.Leaf.Manifest.VariantID(variant), variant
	return Program{Path: b.Path, Variant: variant, Cached: b.Cached, Contender: c}
}

// record is built.json, beside a cached binary.
type record struct {
	Seconds   float64        `json:"seconds"`
	Contender tare.Contender `json:"contender"`
}

const recordName = "built.json"

// Build returns the leaf's binary, from the cache where its content was built
// before. The error is one line; it wraps ErrNoToolchain, ErrCache or the
// context's error where one of these is the reason.
func (b *Builder) Build(ctx context.Context, leaf Leaf) (Built, error) {
	tool, err := b.toolchain(ctx)
	if err != nil {
		return Built{}, err
	}
	mod, err := moduleOf(leaf.Dir)
	if err != nil {
		return Built{}, err
	}
	key, err := key(tool, leaf, mod)
	if err != nil {
		return Built{}, fmt.Errorf("reading the sources of %s: %w", leaf.Manifest.ID, err)
	}
	dir := filepath.Join(b.Cache, "bin", key)
	if built, ok := load(dir, leaf); ok {
		return built, nil
	}
	if err := b.create(ctx, tool, mod, leaf, dir); err != nil {
		return Built{}, err
	}
	built, ok := load(dir, leaf)
	if !ok {
		return Built{}, fmt.Errorf("%w %s: what was just built cannot be read back", ErrCache, dir)
	}
	built.Cached = false
	return built, nil
}

// load reads a cached build. A binary that is not the one that was recorded
// counts as absent.
func load(dir string, leaf Leaf) (Built, bool) {
	src, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		return Built{}, false
	}
	var r record
	if json.Unmarshal(src, &r) != nil {
		return Built{}, false
	}
	path := filepath.Join(dir, binaryName())
	sum, size, err := digest(path)
	if err != nil || sum != r.Contender.SHA256 || size != r.Contender.BinaryBytes {
		return Built{}, false
	}
	return Built{Leaf: leaf, Path: path, Cached: true, Seconds: r.Seconds, contender: r.Contender}, true
}

func binaryName() string {
	if runtime.GOOS == "windows" {
		return "contender.exe"
	}
	return "contender"
}

// create builds leaf beside the cache and moves the finished directory to dir
// in one rename, so that nobody ever sees half of it.
func (b *Builder) create(ctx context.Context, tool toolchain, mod module, leaf Leaf, dir string) (err error) {
	bin := filepath.Dir(dir)
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return cacheError(bin, err)
	}
	sweep(bin)
	tmp, err := os.MkdirTemp(bin, tmpPrefix)
	if err != nil {
		return cacheError(bin, err)
	}
	defer removeAll(tmp)
	done, work := filepath.Join(tmp, "done"), filepath.Join(tmp, "work")
	for _, d := range []string{done, work} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return cacheError(bin, err)
		}
	}
	out, seconds, err := b.compile(ctx, tool, mod, leaf, filepath.Join(done, binaryName()), work)
	if err != nil {
		return err
	}
	c, err := describe(filepath.Join(done, binaryName()), leaf.Manifest)
	if err != nil {
		return fmt.Errorf("reading the binary of %s: %w", leaf.Manifest.ID, err)
	}
	if cold(out, c.Modules) {
		c.Adoption.ColdBuildSeconds = seconds
	}
	src, err := json.MarshalIndent(record{seconds, c}, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(done, recordName), append(src, '\n'), 0o644); err != nil {
		return cacheError(bin, err)
	}
	return b.publish(done, dir, leaf)
}

// publish moves a finished build to its place. Another tare may have been
// faster: then its build stands, if it is whole.
func (b *Builder) publish(done, dir string, leaf Leaf) error {
	err := os.Rename(done, dir)
	if err == nil {
		return nil
	}
	if _, ok := load(dir, leaf); ok {
		return nil
	}
	removeAll(dir) // damaged
	if err = os.Rename(done, dir); err != nil {
		if _, ok := load(dir, leaf); ok {
			return nil
		}
		return cacheError(filepath.Dir(dir), err)
	}
	return nil
}

// compile runs go build and returns what it printed and how long it took.
func (b *Builder) compile(ctx context.Context, tool toolchain, mod module, leaf Leaf, binary, work string) (string, float64, error) {
	timeout := b.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	args := slices.Concat([]string{"build"}, buildFlags[:], []string{"-v", "-o", binary, "."})
	began := time.Now()
	out, err := b.command(limited, tool.path, leaf.Dir, b.buildEnv(tool, work), args...)
	seconds := time.Since(began).Seconds()
	switch {
	case ctx.Err() != nil:
		return "", 0, fmt.Errorf("building %s: %w", leaf.Manifest.ID, ctx.Err())
	case limited.Err() != nil:
		return "", 0, fmt.Errorf("building %s took longer than %v and was ended", leaf.Manifest.ID, timeout)
	case err != nil:
		return "", 0, compileError(out, err, leaf.Dir, mod.base())
	}
	if !program(binary) {
		return "", 0, fmt.Errorf("%s: not package main: a contender is a program", relative(".", leaf.Dir, mod.base()))
	}
	return out, seconds, nil
}

// program reports whether go build made a program; of any other package it
// makes an archive.
func program(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 7)
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) != "!<arch>"
}

// cold reports whether a build says what adopting the contender costs: every
// third-party module was compiled anew, and the SDK, which is not the
// contender's, was not. printed is what go build -v wrote: the packages it
// compiled.
func cold(printed string, modules []tare.Module) bool {
	compiled := strings.Split(printed, "\n")
	within := func(path string) bool {
		return slices.ContainsFunc(compiled, func(pkg string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") })
	}
	for _, m := range modules {
		if m.Path != sdkPath && !within(m.Path) {
			return false
		}
	}
	return !within(sdkPath+"/contender") && !within(sdkPath+"/app")
}
