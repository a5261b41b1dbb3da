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
	Trap      bool                `json:"trap"`              // wrong on purpose: its answers need not be correct
	Apps      []string            `json:"apps"`              // apps of a server
	Answers   map[string]string   `json:"variant_answers"`   // by variant of a server: "status" if only the status of its answers is compared
	Protocols []string            `json:"protocols"`         // protocols of kind rpc, the default first
	Others    map[string][]string `json:"variant_protocols"` // by variant: its protocols, if they differ from Protocols
	Source    string              `json:"source"`            // directory of the contender whose sources it is built from, relative to this one; "" for its own
	Tags      []string            `json:"tags"`              // build tags
	Expect    tare.Expect         `json:"expect"`            // checks that must void it; check build if it must not build
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

// Build compiles the contender in dir to path, as tare does: with the versions of its own go.mod and
// without a workspace.
func (m Manifest) Build(dir, path string) error {
	cmd := exec.Command("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-tags="+strings.Join(m.Tags, ","), "-o", path, ".")
	cmd.Dir = filepath.Join(dir, filepath.FromSlash(m.Source))
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "GODEBUG=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", dir, err, out)
	}
	return nil
}
