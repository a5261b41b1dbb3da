package build

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// unknownLicence stands for a module whose terms nobody could name.
const unknownLicence = "unknown"

// licenceBytes is how much of a licence's text is looked at.
const licenceBytes = 256 << 10

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^mit-licen[cs]e`)
	pseudo      = regexp.MustCompile(`[-.]([0-9]{14})-[0-9a-f]{12}(\+incompatible)?$`)
)

// listed is a module as go list -m -json shows it.
type listed struct {
	Path, Version, Dir string
	Time               time.Time
	Replace            *listed
}

// adopt adds to c what the linked modules say about themselves: under which
// terms, and when the version that gives c its name was released. What cannot
// be found out stays unknown; that a module's sources cannot be looked at is no
// reason not to measure it.
func (b *Builder) adopt(ctx context.Context, tool toolchain, leaf Leaf, work string, c *tare.Contender) {
	var paths []string
	for _, m := range c.Modules {
		if m.Path != sdkPath {
			paths = append(paths, m.Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	limited, cancel := b.limit(ctx)
	defer cancel()
	out, _, _ := b.query(limited, tool.path, leaf.Src(), b.buildEnv(tool, work), append([]string{"list", "-mod=readonly", "-m", "-e", "-json"}, paths...)...)
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var m listed
		if err := d.Decode(&m); err != nil {
			break // the end, or nothing that can be read
		}
		code := m
		if m.Replace != nil {
			code = *m.Replace
		}
		if m.Path == c.Name {
			c.Adoption.Released = released(code)
		}
		if b.Licences != nil {
			c.Adoption.Licences = append(c.Adoption.Licences, b.licences(code.Dir)...)
		}
	}
	slices.Sort(c.Adoption.Licences)
	c.Adoption.Licences = slices.Compact(c.Adoption.Licences)
}

// released is the day of a version: of its commit as the module cache has it,
// else the one that a pseudo-version carries. A directory has none.
func released(m listed) string {
	at := m.Time
	if m.Version == "" {
		return ""
	}
	if p := pseudo.FindStringSubmatch(m.Version); p != nil && at.IsZero() {
		at, _ = time.Parse("20060102150405", p[1])
	}
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

// licences names the terms of the module in dir by the texts at its top, at
// least one.
func (b *Builder) licences(dir string) []string {
	var found []string
	entries, _ := os.ReadDir(dir) // none where it cannot be read
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		names := b.Licences(beginning(filepath.Join(dir, e.Name())))
		if len(names) == 0 {
			names = []string{unknownLicence}
		}
		found = append(found, names...)
	}
	if len(found) == 0 {
		return []string{unknownLicence}
	}
	return found
}

// beginning is the first part of a file; nothing where it cannot be read.
func beginning(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, licenceBytes))
	return text
}
