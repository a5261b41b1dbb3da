// Package contendertest is the conformance suite for contenders, in whatever
// language they are written: it starts the built program as a lab would and
// holds it to docs/contender-protocol.md. Passing it is what being a contender
// means. For a leaf, a folder with contender.json and a Go module of its own:
//
//	func TestConformance(t *testing.T) { contendertest.Run(t, ".") }
package contendertest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// manifest is what the suite needs of contender.json.
type manifest struct {
	ID        string              `json:"id"`
	Kind      string              `json:"kind"`
	Variants  []string            `json:"variants"`
	Trap      bool                `json:"trap"`              // its answers need not be right
	Apps      []string            `json:"apps"`              // of a server
	Answers   map[string]string   `json:"variant_answers"`   // of a server, by variant: status, where nothing else of an answer is right
	Protocols []string            `json:"protocols"`         // of kind rpc, the usual one first
	Others    map[string][]string `json:"variant_protocols"` // of variants that speak others
	Source    string              `json:"source"`            // another leaf, relative to this one, whose sources it is built from
	Tags      []string            `json:"tags"`              // to build it with
}

// Run builds the leaf at dir and runs the suite on each of its variants.
func Run(t *testing.T, dir string) {
	t.Helper()
	m, err := readManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), m.ID)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := m.build(dir, path); err != nil {
		t.Fatal(err)
	}
	run(t, m, path)
}

// RunCommand runs the suite on a program that was built some other way. dir
// holds its contender.json.
func RunCommand(t *testing.T, dir string, command ...string) {
	t.Helper()
	m, err := readManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	run(t, m, command...)
}

func run(t *testing.T, m manifest, command ...string) {
	t.Helper()
	variants := m.Variants
	if len(variants) == 0 {
		variants = []string{""}
	}
	for i, v := range variants {
		t.Run(strings.Trim(m.ID+"-"+v, "-"), func(t *testing.T) {
			t.Parallel() // much of it is waiting
			m := m
			if own, ok := m.Others[v]; ok {
				m.Protocols = own
			}
			s := subject{command: command, manifest: m, variant: v, limit: 30 * time.Second, hasty: testing.Short() || i > 0, logf: t.Logf}
			for _, err := range s.examine(t.TempDir()) {
				t.Error(err)
			}
		})
	}
}

func readManifest(dir string) (manifest, error) {
	path := filepath.Join(dir, "contender.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return manifest{}, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	if m.ID == "" || m.ID != filepath.Base(m.ID) {
		return manifest{}, fmt.Errorf("%s: id %q is not a name", path, m.ID)
	}
	return m, nil
}

// build compiles the leaf alone, as tare does: its own versions, no workspace.
func (m manifest) build(dir, path string) error {
	cmd := exec.Command("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-tags="+strings.Join(m.Tags, ","), "-o", path, ".")
	cmd.Dir = filepath.Join(dir, filepath.FromSlash(m.Source))
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "GODEBUG=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", dir, err, out)
	}
	return nil
}
