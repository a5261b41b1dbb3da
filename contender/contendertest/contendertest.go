// Package contendertest is the conformance suite for contenders in any language. It starts the
// built program as a lab, the tare process that measures contenders, would, and checks it against
// docs/contender-protocol.md. A program that passes is a contender. The test of a contender module,
// a directory with contender.json and go.mod, is:
//
//	func TestConformance(t *testing.T) { contendertest.Run(t, ".") }
package contendertest

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	homelabconformance "github.com/tarebench/tare/apps/homelab/conformance"
	"github.com/tarebench/tare/apps/ingest"
	ingestconformance "github.com/tarebench/tare/apps/ingest/conformance"
	"github.com/tarebench/tare/apps/tiny"
	tinyconformance "github.com/tarebench/tare/apps/tiny/conformance"
	usersconformance "github.com/tarebench/tare/apps/users/conformance"
	"github.com/tarebench/tare/internal/conformance"
)

func listKinds() map[string]conformance.Kind {
	return map[string]conformance.Kind{
		"codec":  conformance.Codecs(),
		"copier": conformance.Copiers(),
		"router": conformance.Routers(),
		"rpc":    usersconformance.Suite(),
		"server": conformance.Servers(map[string]func() (conformance.App, error){tiny.Name: tinyconformance.App, ingest.Name: ingestconformance.App, homelab.Name: homelabconformance.App}),
	}
}

// Run builds the contender at dir and runs the suite on each of its variants.
func Run(t *testing.T, dir string) {
	t.Helper()
	m, err := conformance.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), m.ID)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	err = m.Build(dir, path)
	switch mustFail := slices.Contains(m.Expect.Void, "build"); { // see tare.Expect
	case mustFail && err == nil:
		t.Fatalf("%s builds, and its manifest expects that it does not", m.ID)
	case mustFail:
		return // it reproduces a published program that does not compile
	case err != nil:
		t.Fatal(err)
	}
	runVariants(t, m, path)
}

// RunCommand runs the suite on a program that was built in another way. dir
// contains its contender.json.
func RunCommand(t *testing.T, dir string, command ...string) {
	t.Helper()
	m, err := conformance.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	runVariants(t, m, command...)
}

// runVariants runs the suite on all variants in parallel. Variants after the first get a shorter suite.
func runVariants(t *testing.T, m conformance.Manifest, command ...string) {
	t.Helper()
	variants := m.Variants
	if len(variants) == 0 {
		variants = []string{""}
	}
	for i, v := range variants {
		t.Run(strings.Trim(m.ID+"-"+v, "-"), func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			m := m
			if protocols, ok := m.Others[v]; ok { // v has other protocols
				m.Protocols = protocols
			}
			s := conformance.Subject{
				Command: command, Manifest: m, Variant: v, Logf: t.Logf,
				Limit: 30 * time.Second, SkipSlow: testing.Short() || i > 0,
			}
			for _, err := range s.Test(listKinds(), t.TempDir()) {
				t.Error(err)
			}
		})
	}
}
