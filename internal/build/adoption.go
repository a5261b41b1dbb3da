package build

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file finds facts about the modules of a contender that matter to users who consider adopting
// its library: licences and the date of the release. For example: MIT, 2026-03-02.

const unknownLicence = "unknown" // name of a licence that was not recognised or not found

const maxLicenceBytes = 256 << 10

var (
	// For example LICENSE, licence.md, UNLICENSE or COPYING.
	licenceFile = lazyregexp.New(`(?i)^(un)?licen[cs]e|^copying|^mit-licen[cs]e`)
	// pseudoVersion matches the end of v0.0.0-20190930134022-aa0246cd15f7. The first group is the time.
	pseudoVersion = lazyregexp.New(`[-.]([0-9]{14})-[0-9a-f]{12}(\+incompatible)?$`)
)

type moduleInfo struct {
	Path, Version, Dir string
	Time               time.Time
	Replace            *moduleInfo
}

// addAdoption adds to c the licences of the linked modules, and the release date of the library. An
// unreadable module is no error, because a contender can be measured without these facts. complete
// is false if a module was unreadable: a later run should try again. work is a directory for
// temporary files.
func (b *Builder) addAdoption(ctx context.Context, tool toolchain, leaf Leaf, work string, c *tare.Contender) (complete bool) {
	unread := map[string]bool{}
	for _, m := range c.Modules {
		if m.Path != sdkPath {
			unread[m.Path] = true
		}
	}
	if len(unread) == 0 {
		return true
	}
	limited, cancel := b.withTimeout(ctx)
	defer cancel()
	args := append([]string{"list", "-mod=readonly", "-m", "-e", "-json"}, slices.Sorted(maps.Keys(unread))...)
	out, _, err := b.runSplit(limited, tool.path, leaf.Src(), b.buildEnv(tool, work), args...)
	complete = err == nil
	var licences []string
	d := json.NewDecoder(strings.NewReader(out))
	for {
		var m moduleInfo
		if err := d.Decode(&m); err != nil {
			complete = complete && errors.Is(err, io.EOF)
			break
		}
		delete(unread, m.Path)
		linked := m // the module whose code is linked
		if m.Replace != nil {
			linked = *m.Replace
		}
		if m.Path == c.Name {
			c.Adoption.Released = releaseDate(linked)
		}
		if b.Licences != nil {
			found, err := b.findLicences(linked.Dir)
			licences = append(licences, found...)
			complete = complete && err == nil
		}
	}
	if len(unread) > 0 {
		complete = false
		if b.Licences != nil {
			licences = append(licences, unknownLicence)
		}
	}
	slices.Sort(licences)
	c.Adoption.Licences = slices.Compact(licences)
	return complete
}

// releaseDate returns the date of a version's commit in the module cache. Otherwise it uses a pseudo-version.
// "" means unknown.
func releaseDate(m moduleInfo) string {
	released := m.Time
	if m.Version == "" {
		return ""
	}
	if match := pseudoVersion.FindStringSubmatch(m.Version); match != nil && released.IsZero() {
		released, _ = time.Parse("20060102150405", match[1])
	}
	if released.IsZero() {
		return ""
	}
	return released.UTC().Format(time.DateOnly)
}

// findLicences returns the licences of the module in dir, from the licence files in its root. It
// returns unknownLicence if there are none. If it cannot read a file completely, it also returns an
// error.
func (b *Builder) findLicences(dir string) ([]string, error) {
	var found []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, readErr := readBeginning(filepath.Join(dir, e.Name()))
		names := b.Licences(text)
		if len(names) == 0 {
			names = []string{unknownLicence}
		}
		found = append(found, names...)
		err = errors.Join(err, readErr)
	}
	if len(found) == 0 {
		found = []string{unknownLicence}
	}
	return found, err
}

func readBeginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxLicenceBytes))
}
