package build

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// spdx stands in for the detector: it knows texts that begin with "is ".
func spdx(text []byte) []string {
	if rest, ok := bytes.CutPrefix(text, []byte("is ")); ok {
		return strings.Fields(string(rest))
	}
	return nil
}

func TestAdopt(t *testing.T) {
	mods := t.TempDir()
	write(t, mods, map[string]string{
		"a/LICENSE": "is MIT", "a/licenses/LICENSE-other": "is GPL-3.0-only", "a/license.go": "is Zlib", "a/README": "is ISC",
		"b/COPYING.txt": "is Apache-2.0 BSD-3-Clause", "b/LICENCE": "is MIT", "fork/UNLICENSE": "is Unlicense", "e/LICENSE": "some terms of our own", "f/f.go": "package f",
	})
	at := func(name string) string { return filepath.Join(mods, name) }
	p := &played{says: map[string]string{"list -mod=readonly -m -e -json m/a m/b m/c m/e m/f": fmt.Sprintf(
		`{"Path":"m/a","Version":"v1.0.0","Time":"2021-09-11T23:10:30-05:00","Dir":%q} {"Path":"m/b","Version":"v1.0.0","Time":"2019-01-01T00:00:00Z","Dir":%q}
		{"Path":"m/c","Version":"v1.0.0","Time":"2019-01-01T00:00:00Z","Replace":{"Path":"../fork","Dir":%q}} {"Path":"m/e","Dir":%q} {"Path":"m/f","Error":{"Err":"gone"}}`,
		at("a"), at("b"), at("fork"), at("e"))}}
	b := p.builder(t, t.TempDir())
	b.Licences = spdx
	tool, err := b.toolchain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	contender := func(name string) tare.Contender {
		return tare.Contender{Name: name, Build: tare.Build{Modules: []tare.Module{{Path: "m/a"}, {Path: "m/b"}, {Path: sdkPath}, {Path: "m/c"}, {Path: "m/e"}, {Path: "m/f"}}}}
	}
	for name, day := range map[string]string{"m/a": "2021-09-12", "m/b": "2019-01-01", "m/c": "", "m/f": "", "encoding/json": "", "": ""} {
		c := contender(name)
		b.adopt(t.Context(), tool, Leaf{Dir: mods}, mods, &c)
		if c.Adoption.Released != day {
			t.Errorf("%q was released on %q, want %q", name, c.Adoption.Released, day)
		}
		if got := strings.Join(c.Adoption.Licences, " "); got != "Apache-2.0 BSD-3-Clause MIT Unlicense unknown" {
			t.Errorf("licences %s", got)
		}
	}
	b.Licences = nil
	c := contender("m/a")
	if b.adopt(t.Context(), tool, Leaf{Dir: mods}, mods, &c); c.Adoption.Licences != nil || c.Adoption.Released == "" {
		t.Errorf("without a detector: %+v", c.Adoption)
	}
	before := len(p.asked(t))
	std := tare.Contender{Name: "encoding/json", Build: tare.Build{Modules: []tare.Module{{Path: sdkPath}}}}
	if b.adopt(t.Context(), tool, Leaf{Dir: mods}, mods, &std); std.Adoption.Released != "" || len(p.asked(t)) != before {
		t.Errorf("of the standard library: %+v, asked %q", std.Adoption, p.asked(t)[before:])
	}
	p.fail = map[string]string{"list": "go: no\n"}
	c, b = contender("m/a"), p.builder(t, t.TempDir())
	if b.adopt(t.Context(), tool, Leaf{Dir: mods}, mods, &c); c.Adoption.Released != "" || c.Adoption.Licences != nil {
		t.Errorf("where nothing can be found out: %+v", c.Adoption)
	}
}

func TestReleased(t *testing.T) {
	day := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		m    listed
		want string
	}{
		{listed{Version: "v1.0.0", Time: day}, "2020-02-03"},
		{listed{Version: "v1.0.0"}, ""}, // no guess
		{listed{Version: "v0.0.0-20190930134022-aa0246cd15f7"}, "2019-09-30"},
		{listed{Version: "v1.2.4-0.20190930134022-aa0246cd15f7"}, "2019-09-30"},
		{listed{Version: "v2.0.1-rc.0.20190930134022-aa0246cd15f7+incompatible"}, "2019-09-30"},
		{listed{Version: "v0.0.0-20190930134022-aa0246cd15f7", Time: day}, "2020-02-03"},
		{listed{Version: "v0.0.0-20191330134022-aa0246cd15f7"}, ""},
		{listed{Version: "v1.0.0-20190930"}, ""},
		{listed{Time: day}, ""}, // a directory
	} {
		if got := released(c.m); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}
