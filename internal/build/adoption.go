package build

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
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
// reason not to measure it. It returns whether every module could be asked: what
// is unknown then will stay so.
func (b *Builder) adopt(ctx context.Context, tool toolchain, leaf Leaf, work string, c *tare.Contender) (complete bool) {
	unanswered := map[string]bool{}
	for _, m := range c.Modules {
		if m.Path != sdkPath {
			unanswered[m.Path] = true
		}
	}
	if len(unanswered) == 0 {
		return true
	}
	limited, cancel := b.limit(ctx)
	defer cancel()
	args := append([]string{"list", "-mod=readonly", "-m", "-e", "-json"}, slices.Sorted(maps.Keys(unanswered))...)
	out, _, err := b.query(limited, tool.path, leaf.Src(), b.buildEnv(tool, work), args...)
	complete = err == nil
	var licences []string
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var m listed
		if err := d.Decode(&m); err != nil {
			complete = complete && errors.Is(err, io.EOF)
			break
		}
		delete(unanswered, m.Path)
		code := m
		if m.Replace != nil {
			code = *m.Replace
		}
		if m.Path == c.Name {
			c.Adoption.Released = released(code)
		}
		if b.Licences != nil {
			found, err := b.licences(code.Dir)
			licences, complete = append(licences, found...), complete && err == nil
		}
	}
	if len(unanswered) > 0 {
		complete = false
		if b.Licences != nil {
			licences = append(licences, unknownLicence)
		}
	}
	slices.Sort(licences)
	c.Adoption.Licences = slices.Compact(licences)
	return complete
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
// least one. With an error, there may be others.
func (b *Builder) licences(dir string) ([]string, error) {
	var found []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, errText := beginning(filepath.Join(dir, e.Name()))
		names := b.Licences(text)
		if len(names) == 0 {
			names = []string{unknownLicence}
		}
		found, err = append(found, names...), errors.Join(err, errText)
	}
	if len(found) == 0 {
		found = []string{unknownLicence}
	}
	return found, err
}

// beginning is the first part of a file.
func beginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, licenceBytes))
}
