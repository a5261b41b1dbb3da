package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
)

// Errors that end a run, because nothing can be built. They are wrapped: use errors.Is.
var (
	// ErrNoToolchain means that there is no Go toolchain.
	ErrNoToolchain = errors.New("no Go toolchain")
	// ErrCache means that a cache directory cannot be written.
	ErrCache = errors.New("cannot write the cache")
)

// MissingGo returns the error of a go command that was not found. name is that of the program.
func MissingGo(name string) error {
	return fmt.Errorf("%w: %q was not found; install Go from https://go.dev/dl/ or put it in PATH", ErrNoToolchain, name)
}

// DefaultTimeout is the maximum duration of a build. From an empty build cache, with two busy
// processors, the largest contender takes over ten minutes.
const DefaultTimeout = 30 * time.Minute

// Builder builds contenders, the programs that tare compares. Only Cache is required. A Builder may be used
// concurrently and must not be copied.
type Builder struct {
	Cache   string        // directory: binaries are in Cache/bin/<key>/, contenders with pinned versions in Cache/pinned/<key>/
	Go      string        // go command; "" means "go" from PATH
	Env     []string      // environment of the go command; nil means that of this process
	Run     string        // tag of the run, set as TARE_RUN for every process that is started; "" means none
	Timeout time.Duration // limit of one build; 0 means DefaultTimeout
	Log     func(string)  // gets a line per go command that is run; may be nil

	// SDK is the directory of the module github.com/tarebench/tare. Contenders that require it are built with
	// it, unless their go.mod names an existing directory. If SDK is "", the go command finds the module.
	SDK string

	// Licences returns the SPDX identifiers of the licences in a text, or nil if it does not recognise
	// the text. If Licences is nil, contenders have no list of licences.
	Licences func(text []byte) []string

	mu   sync.Mutex
	tool toolchain
}

// Program is a contender that can be started.
type Program struct {
	Path      string
	Variant   string // sent to the program in hello; "" if the contender has no variants
	Cached    bool   // no compiler ran
	Contender tare.Contender
}

// Built is a contender's binary.
type Built struct {
	Leaf    Leaf
	Path    string  // path of the binary
	Cached  bool    // no compiler ran
	Seconds float64 // wall time of go build

	incomplete bool           // see buildRecord
	contender  tare.Contender // common to all variants, without id and variant
}

// Program returns the built contender as one of its variants. variant is "" if the contender has none.
func (b Built) Program(variant string) Program {
	m, c := b.Leaf.Manifest, b.contender
	c.ID, c.Variant = m.VariantID(variant), variant
	c.Layers, c.Protocols = m.LayersOf(variant), m.ProtocolsOf(variant)
	return Program{Path: b.Path, Variant: variant, Cached: b.Cached, Contender: c}
}

// Build returns the contender's binary, from the cache if the same sources were built before. The
// error is one line. It may wrap ErrNoToolchain, ErrCache or the error of ctx.
func (b *Builder) Build(ctx context.Context, leaf Leaf) (Built, error) {
	tool, mod, err := b.findTools(ctx, leaf)
	if err != nil {
		return Built{}, err
	}
	key, err := buildKey(tool, leaf, mod)
	if err != nil {
		return Built{}, fmt.Errorf("reading the sources of %s: %w", leaf.Manifest.ID, err)
	}
	dir := filepath.Join(b.Cache, "bin", key)
	if built, ok := loadBuild(dir, leaf); ok {
		b.completeAdoption(ctx, tool, mod, &built, dir)
		return built, nil
	}
	if err := b.buildInto(ctx, tool, mod, leaf, dir); err != nil {
		return Built{}, err
	}
	built, ok := loadBuild(dir, leaf)
	if !ok {
		return Built{}, fmt.Errorf("%w %s: what was just built cannot be read back", ErrCache, dir)
	}
	built.Cached = false
	return built, nil
}

// buildInto builds the contender next to the cache. It then moves the finished directory to dir in
// one rename, so that no process sees a part of it.
func (b *Builder) buildInto(ctx context.Context, tool toolchain, mod leafModule, leaf Leaf, dir string) error {
	tmp, work, done, err := makeWorkDirs(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer removeAll(tmp)
	if tool, err = b.supplySDK(ctx, tool, mod, work); err != nil {
		return err
	}
	binary := filepath.Join(done, binaryName())
	output, seconds, err := b.goBuild(ctx, tool, mod, leaf, binary, work)
	if err != nil {
		return err
	}
	c, err := describeBinary(binary, leaf.Manifest)
	if err != nil {
		return fmt.Errorf("reading the binary of %s: %w", leaf.Manifest.ID, err)
	}
	if release, _ := splitToolchain(leaf.Go); release != "" && releaseOf(c.Go) != release {
		return fmt.Errorf("%s was built by %s, asked was %s", leaf.Manifest.ID, c.Go, leaf.Go)
	}
	if isCold(output, mod.path, c.Modules) {
		c.Adoption.ColdBuildSeconds = seconds
	}
	c.Adoption.ModulesRequired = mod.thirdParty()
	complete := b.addAdoption(ctx, tool, leaf, work, &c)
	if ctx.Err() != nil {
		return fmt.Errorf("building %s: %w", leaf.Manifest.ID, ctx.Err())
	}
	if err := writeRecord(atomicfile.System{}, done, buildRecord{Seconds: seconds, Incomplete: !complete, Contender: c}); err != nil {
		return err
	}
	return publishBuild(done, dir, leaf)
}

func (b *Builder) findTools(ctx context.Context, leaf Leaf) (toolchain, leafModule, error) {
	tool, err := b.loadToolchain(ctx)
	if err != nil {
		return toolchain{}, leafModule{}, err
	}
	mod, err := b.loadModule(leaf.Src())
	return tool.withRelease(leaf.Go), mod, err
}

func (b *Builder) buildTimeout() time.Duration {
	if b.Timeout <= 0 {
		return DefaultTimeout
	}
	return b.Timeout
}

func (b *Builder) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, b.buildTimeout())
}

// goBuild runs go build to make binary. It returns the command's output and its duration in
// seconds. work is a directory for temporary files.
func (b *Builder) goBuild(ctx context.Context, tool toolchain, mod leafModule, leaf Leaf, binary, work string) (output string, seconds float64, err error) {
	limited, cancel := b.withTimeout(ctx)
	defer cancel()
	args := leaf.withTags("build", slices.Concat(buildFlags[:], []string{"-v", "-o", binary, "."})...)
	began := time.Now()
	out, err := b.runCombined(limited, tool.path, leaf.Src(), b.buildEnv(tool, work), args...)
	seconds = time.Since(began).Seconds()
	switch {
	case ctx.Err() != nil:
		return "", 0, fmt.Errorf("building %s: %w", leaf.Manifest.ID, ctx.Err())
	case limited.Err() != nil:
		return "", 0, fmt.Errorf("building %s took longer than %v and was ended", leaf.Manifest.ID, b.buildTimeout())
	case err != nil:
		return "", 0, compileError(out, err, leaf, tool.messageBases(mod)...)
	}
	if !isProgram(binary) {
		return "", 0, fmt.Errorf("%s: not package main: a contender is a program", relativeToBase(".", leaf.Src(), tool.messageBases(mod)))
	}
	return out, seconds, nil
}

// isProgram reports whether go build made a program. For a package that is not main it makes an
// archive.
func isProgram(path string) bool {
	const archiveMagic = "!<arch>"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, len(archiveMagic))
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) != archiveMagic
}
