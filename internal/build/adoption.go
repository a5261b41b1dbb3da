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

// unknownLicence represents the unidentified terms of a module.
const unknownLicence = "unknown"

// maxLicenceBytes is the number of bytes of a licence's text that are read.
const maxLicenceBytes = 256 << 10

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^mit-licen[cs]e`)
	pseudo      = regexp.MustCompile(`[-.]([0-9]{14})-[0-9a-f]{12}(\+incompatible)?$`)
)

// moduleInfo is a module as go list -m -json shows it.
type moduleInfo struct {
	Path, Version, Dir string
	Time               time.Time
	Replace            *moduleInfo
}

// addAdoption adds to c the licences of the linked modules and the release date of the version that
// gives c its name. Unknown facts stay unknown; unreadable sources of a module are no reason not to
// measure it. complete is true if every module could be read: what is unknown then stays unknown.
func (b *Builder) addAdoption(ctx context.Context, tool toolchain, leaf Leaf, work string, c *tare.Contender) (complete bool) {
	unanswered := map[string]bool{}
	for _, m := range c.Modules {
		if m.Path != sdkPath {
			unanswered[m.Path] = true
		}
	}
	if len(unanswered) == 0 {
		return true
	}
	limited, cancel := b.withTimeout(ctx)
	defer cancel()
	args := append([]string{"list", "-mod=readonly", "-m", "-e", "-json"}, slices.Sorted(maps.Keys(unanswered))...)
	out, _, err := b.runSplit(limited, tool.path, leaf.Src(), b.buildEnv(tool, work), args...)
	complete = err == nil
	var licences []string
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var m moduleInfo
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
			c.Adoption.Released = releaseDate(code)
		}
		if b.Licences != nil {
			found, err := b.findLicences(code.Dir)
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

// releaseDate returns the day of a version: of its commit as the module cache has it, else of the
// pseudo-version. It returns "" for a directory.
func releaseDate(m moduleInfo) string {
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

// findLicences names the terms of the module in dir by the texts in its root, at least one. With an
// error, there may be others.
func (b *Builder) findLicences(dir string) ([]string, error) {
	var found []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, errText := readBeginning(filepath.Join(dir, e.Name()))
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

// readBeginning returns the first maxLicenceBytes of a file.
func readBeginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxLicenceBytes))
}
