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

// Manifest contains the fields of a contender's file contender.json that the tests use.
type Manifest struct {
	ID             string              `json:"id"`
	Kind           string              `json:"kind"`
	Variants       []string            `json:"variants"`
	WrongOnPurpose bool                `json:"trap"`              // it repeats a published mistake: its answers need not be correct
	Apps           []string            `json:"apps"`              // services that a server provides
	Answers        map[string]string   `json:"variant_answers"`   // by variant; "status" means that only the status of responses is checked
	Protocols      []string            `json:"protocols"`         // protocols of kind rpc, the default first
	Others         map[string][]string `json:"variant_protocols"` // protocols of variants, if they differ from Protocols
	Source         string              `json:"source"`            // directory of its sources relative to the manifest's; "" for the same
	Tags           []string            `json:"tags"`              // build tags
	Expect         tare.Expect         `json:"expect"`            // checks that must reject its results; check build if it must not build
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

// Build compiles the contender in dir to path. Like tare, it uses the contender's go.mod and no workspace.
func (m Manifest) Build(dir, path string) error {
	cmd := exec.Command("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-tags="+strings.Join(m.Tags, ","), "-o", path, ".")
	cmd.Dir = filepath.Join(dir, filepath.FromSlash(m.Source))
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "GODEBUG=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", dir, err, out)
	}
	return nil
}
