package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare"
)

// Manifest is the part of contender.json that the suite needs.
type Manifest struct {
	ID        string              `json:"id"`
	Kind      string              `json:"kind"`
	Variants  []string            `json:"variants"`
	Trap      bool                `json:"trap"`              // its answers need not be right
	Apps      []string            `json:"apps"`              // of a server
	Answers   map[string]string   `json:"variant_answers"`   // of a server, by variant: status, if only the status of an answer is correct
	Protocols []string            `json:"protocols"`         // of kind rpc, the usual one first
	Others    map[string][]string `json:"variant_protocols"` // of variants that speak others
	Source    string              `json:"source"`            // another contender, relative to this one, whose sources it is built from
	Tags      []string            `json:"tags"`              // to build it with
	Expect    tare.Expect         `json:"expect"`            // checks that void it; build: it does not build
}

// ReadManifest reads the manifest of the contender in dir.
func ReadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, "contender.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	if m.ID == "" || m.ID != filepath.Base(m.ID) {
		return Manifest{}, fmt.Errorf("%s: id %q is not a name", path, m.ID)
	}
	return m, nil
}

// Build compiles the contender by itself, as tare does: its own versions, no workspace.
func (m Manifest) Build(dir, path string) error {
	cmd := exec.Command("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-tags="+strings.Join(m.Tags, ","), "-o", path, ".")
	cmd.Dir = filepath.Join(dir, filepath.FromSlash(m.Source))
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "GODEBUG=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", dir, err, out)
	}
	return nil
}
