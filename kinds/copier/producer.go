package copier

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/lab"
)

// Values of the setting copier.SetProducer: the language of the code that fills the C memory.
const (
	producerC    = "c"    // linked into every copier
	producerRust = "rust" // a library that tare compiles
)

// rustTimeout limits the run of the Rust compiler. It is a hundred times the usual time.
const rustTimeout = 2 * time.Minute

// rustSource is a Rust library that fills the same structs as the code in C, with the memory layout
// of C (repr(C)).
//
//go:embed rust/fixtures.rs
var rustSource []byte

// producerSpec returns the spec of a workload whose memory producer fills: the path of the Rust
// library, which it compiles into dir. It returns nil for C, whose code is part of every copier.
func (k Kind) producerSpec(producer string, shape copier.Shape, dir string) (json.RawMessage, error) {
	switch producer {
	case "", producerC:
		return nil, nil
	case producerRust: // continue below the switch
	default:
		return nil, fmt.Errorf("unknown producer %q; known: %s, %s", producer, producerC, producerRust)
	}
	if known := []string{"BenchPerson", "GameObject", "DeviceList"}; !slices.Contains(known, shape.C) {
		return nil, fmt.Errorf("the producer in Rust fills %s, not %s", strings.Join(known, ", "), shape.C)
	}
	library, err := k.rustLibrary(dir)
	if err != nil {
		return nil, err
	}
	return json.Marshal(copier.Spec{Library: library})
}

// rustLibrary compiles rustSource into a library in dir, unless dir has it already, and returns its
// path. The error is a *lab.NotInstalledError if there is no working compiler.
func (k Kind) rustLibrary(dir string) (string, error) {
	sum := sha256.Sum256(rustSource)
	name := "fixtures-" + hex.EncodeToString(sum[:6]) // another source has another name
	library, err := filepath.Abs(filepath.Join(dir, "lib"+name+".so"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	compiler := cmp.Or(k.Rust, "rustc")
	path, err := exec.LookPath(compiler)
	if err != nil {
		return "", &lab.NotInstalledError{Programs: []string{compiler}}
	}
	source := filepath.Join(dir, name+".rs")
	if err := os.WriteFile(source, rustSource, 0o644); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), rustTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--edition", "2021", "--crate-type", "cdylib", "--crate-name", "fixtures", "-O", "-C", "panic=abort", "-o", library, source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &lab.NotInstalledError{Programs: []string{fmt.Sprintf("a %s that compiles here (%s)", compiler, compilerMessage(out, err))}}
	}
	return library, nil
}

// compilerMessage returns the first line of a compiler's output, or the text of err if it has none.
func compilerMessage(out []byte, err error) string {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Error()
	}
	return err.Error()
}
