package build

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseWith(t *testing.T) {
	base := t.TempDir()
	for s, want := range map[string]With{
		"github.com/a/b@v1.2.3":                        {Path: "github.com/a/b", Version: "v1.2.3"},
		"github.com/a/b/v2@v2.0.0-rc.1":                {Path: "github.com/a/b/v2", Version: "v2.0.0-rc.1"},
		"github.com/a/b@v2.0.0+incompatible":           {Path: "github.com/a/b", Version: "v2.0.0+incompatible"},
		"gopkg.in/a.v1@feature/x":                      {Path: "gopkg.in/a.v1", Version: "feature/x"},
		"github.com/a/b=./fork":                        {Path: "github.com/a/b", Dir: filepath.Join(base, "fork")},
		"github.com/a/b=../x@y=z":                      {Path: "github.com/a/b", Dir: filepath.Join(filepath.Dir(base), "x@y=z")},
		"github.com/a/b=" + filepath.Join(base, "abs"): {Path: "github.com/a/b", Dir: filepath.Join(base, "abs")},
	} {
		got, err := ParseWith(s, base)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", s, got, err)
		}
		if again, err := ParseWith(got.String(), ""); err != nil || again != got {
			t.Errorf("%s: reads its own %s as %+v (%v)", s, got, again, err)
		}
	}
	for _, s := range []string{"", "github.com/a/b", "github.com/a/b@", "@v1", "=./x", "a b@v1", "github.com/a/b=", "-modfile=x@v1", "-x@v1.0.0", "a@-x", "a@v1\n", "a@b=c@", "/a@v1"} {
		if got, err := ParseWith(s, base); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is read as %+v (%v)", s, got, err)
		}
	}
}

func TestWhatCannotBePinned(t *testing.T) {
	leaf := makePinnable(t)
	empty := t.TempDir()
	b := (&played{}).builder(t, t.TempDir())
	for want, pin := range map[string]Pin{
		"x does not require github.com/q/r":                                               {With: []With{{Path: "github.com/q/r", Version: "v1.0.0"}}},
		"x is to be built with two versions of github.com/a/b":                            {With: []With{{Path: "github.com/a/b", Version: "v1.0.0"}, {Path: "github.com/a/b", Version: "v1.1.0"}}},
		"github.com/tarebench/tare is the SDK that contenders share and cannot be pinned": {With: []With{{Path: sdkPath, Version: "v1.0.0"}}},
		"github.com/a/b: there is no directory " + filepath.Join(empty, "gone"):           {With: []With{{Path: "github.com/a/b", Dir: filepath.Join(empty, "gone")}}},
		"github.com/a/b: there is no go.mod in " + empty:                                  {With: []With{{Path: "github.com/a/b", Dir: empty}}},
		"contenders share an SDK that needs go 1.25, asked was go1.24.11":                 {Go: "go1.24.11"},
		`"go1.27" is no Go release; write all its numbers, e.g. go1.25.5`:                 {Go: "go1.27"},
		`"latest" is no Go release; write all its numbers, e.g. go1.25.5`:                 {Go: "latest"},
	} {
		if _, err := b.Prepare(t.Context(), leaf, pin); err == nil || err.Error() != want {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}
}

func TestEdits(t *testing.T) {
	mod := parseModule("/m", []byte("module x\ngo 1.25\ntoolchain go1.26.0\nrequire a v1.0.0\nrequire b v1.0.0\nrequire (\n c v1.0.0 // indirect\n d v1.0.0 // indirect\n e v2.0.0 // indirect\n f v1.0.0 // indirect\n)\nreplace a v1.0.0 => ./a\nreplace a => a2 v1.0.0\n"))
	// a brings c and, by way of it, d; e it brings in an older version than go.mod asks for; f comes with b.
	graph := "x a@v1.0.0\nx b@v1.0.0\na@v1.0.0 c@v1.0.0\nc@v1.0.0 d@v1.0.0\nd@v1.0.0 a@v1.0.0\na@v1.0.0 e@v1.0.0\na@v1.0.0 b@v1.0.0\nx f@v1.0.0\n"
	for _, c := range []struct {
		pin  Pin
		want string
	}{
		{Pin{Go: "go1.27rc1"}, "-toolchain=none -go=1.27rc1"},
		{Pin{Go: "go1.27.2+nojsonv2+simd"}, "-toolchain=none -go=1.27.2"},
		{Pin{With: []With{{Path: "a", Version: "v0.9.0"}}}, "-dropreplace=a@v1.0.0 -dropreplace=a -droprequire=c -droprequire=d -require=a@v0.9.0"},
		{Pin{With: []With{{Path: "a", Dir: "/fork"}, {Path: "d", Version: "v1.1.0"}}}, "-dropreplace=a@v1.0.0 -dropreplace=a -droprequire=c -replace=a=/fork -require=d@v1.1.0"},
		{Pin{With: []With{{Path: "b", Version: "v1.1.0"}}}, "-require=b@v1.1.0"},
	} {
		if got := strings.Join(c.pin.editArgs(mod, graph), " "); got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.pin, got, c.want)
		}
	}
}

func TestAVersionThatIsOverruled(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"go.mod": "module x\nrequire a v1.5.0\n"})
	pin := Pin{With: []With{{Path: "a", Version: "v1.4.0"}}}
	leaf := Leaf{Dir: dir, Manifest: Manifest{ID: "x"}}
	if err := pin.checkPins(leaf); err == nil || err.Error() != "x cannot be built with a@v1.4.0: something else in it needs v1.5.0" {
		t.Errorf("error %v", err)
	}
	pin.With[0].Version = "v1.5.0"
	if err := pin.checkPins(leaf); err != nil {
		t.Error(err)
	}
}

func TestWhatTheGoCommandSaysInOneLine(t *testing.T) {
	exit := errors.New("exit status 1")
	asked := Leaf{Dir: "/c/x", Manifest: Manifest{ID: "x"}, Go: "go1.25.5"}
	plain := Leaf{Dir: "/c/x", Manifest: Manifest{ID: "x"}}
	for _, c := range []struct {
		name, out, want string
		leaf            Leaf
	}{
		{"needs a newer Go", "go: downloading a/b v1.0.0\ngo: a/b@v1.0.0 requires go >= 1.26 (running go 1.25.5; GOTOOLCHAIN=go1.25.5)\n", "x needs go 1.26, asked was go1.25.5", asked},
		{"than the machine's", "go: a/b@v1.0.0 requires go >= 1.27.1 (running go 1.26.8; GOTOOLCHAIN=local)\n", "x needs go 1.27.1, this is go1.26.8", plain},
		{"no such toolchain", "go: downloading go1.25.5 (linux/amd64)\ngo: download go1.25.5: golang.org/toolchain@v0.0.1-go1.25.5.linux-amd64: reading https://proxy.example/t/@v/list: 404 Not Found\n\tserver response: gone.\n",
			"toolchain go1.25.5 is not on this machine and cannot be downloaded: golang.org/toolchain@v0.0.1-go1.25.5.linux-amd64: 404 Not Found: gone", asked},
		{"offline", "go: download go1.25.5 for linux/amd64: toolchain not available\n", "toolchain go1.25.5 is not on this machine and cannot be downloaded: toolchain not available", asked},
		{"no such version", "main.go:7:2: a/b@v1.9.0: reading https://proxy.example/a/b/@v/v1.9.0.info: 404 Not Found\n\tserver response: not found: unknown revision v1.9.0\n",
			"x cannot be built with that: a/b@v1.9.0: 404 Not Found: not found: unknown revision v1.9.0", plain},
		{"no such major version", "go: errors parsing go.mod:\ngo.mod:7: require a/b: version \"v9.0.0\" invalid: should be v0 or v1, not v9\n", `x cannot be built with that: require a/b: version "v9.0.0" invalid: should be v0 or v1, not v9`, plain},
		{"nothing", "", "x cannot be built with that: exit status 1", plain},
		{"very much", "go: " + strings.Repeat("ä", 500) + " b\n", "x cannot be built with that: " + strings.Repeat("ä", messageLimit/2) + "…", plain},
	} {
		if got := pinError(c.out, exit, c.leaf).Error(); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	out := "# a/b\n" + filepath.Join("/cache", "a", "b@v1.0.0", "s.go") + ":3:1: undefined: foo\n"
	tool := toolchain{env: map[string]string{"GOMODCACHE": "/cache"}}
	if got := compileError(out, exit, plain, tool.messageBases(leafModule{root: "/c/x"})...).Error(); got != "a/b@v1.0.0/s.go:3:1: undefined: foo" {
		t.Errorf("in a module: %s", got)
	}
}

func TestPinErrorsComeThrough(t *testing.T) {
	p := &played{fail: map[string]string{"list -mod=mod": "go: a/b@v1.0.0 requires go >= 1.26 (running go 1.25.5; GOTOOLCHAIN=go1.25.5)\n"}}
	cache := t.TempDir()
	_, err := p.builder(t, cache).Prepare(t.Context(), makePinnable(t), Pin{Go: "go1.25.5"})
	if err == nil || err.Error() != "x needs go 1.26, asked was go1.25.5" {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "pinned", "*")); len(left) != 0 {
		t.Errorf("left %q: what failed is tried again", left)
	}
}

func TestAnotherToolchainThanAsked(t *testing.T) {
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec"}`, tinyMain)
	built, err := (&Builder{Cache: t.TempDir()}).Build(t.Context(), leaf)
	if err != nil {
		t.Fatal(err)
	}
	p := &played{made: built.Path}
	b := p.builder(t, t.TempDir())
	leaf.Go = "go1.25.99"
	_, err = b.Build(t.Context(), leaf)
	if err == nil || !strings.HasPrefix(err.Error(), "tiny was built by go1.") || !strings.HasSuffix(err.Error(), ", asked was go1.25.99") {
		t.Errorf("error %v", err)
	}
	if got := p.asked(t); len(got) != 1 || !slices.Contains(strings.Fields(got[0]), "build") || !strings.HasPrefix(got[0], "go1.25.99off ") {
		t.Errorf("asked %q", got)
	}
}

func FuzzParseWith(f *testing.F) {
	f.Add("github.com/a/b@v1.2.3")
	f.Add("github.com/a/b=../x@y")
	f.Fuzz(func(t *testing.T, s string) {
		w, err := ParseWith(s, "/studies")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		if strings.HasPrefix(w.Path, "-") || (w.Dir == "") == (w.Version == "") || w.Dir != "" && !filepath.IsAbs(w.Dir) {
			t.Errorf("%q: %+v", s, w)
		}
		if again, err := ParseWith(w.String(), ""); err != nil || again != w {
			t.Errorf("%q: %+v, then %+v (%v)", s, w, again, err)
		}
	})
}

// Versions that name a commit or a branch are no releases.
func TestIsTag(t *testing.T) {
	for version, want := range map[string]bool{
		"v1.14.0": true, "v0.0.1": true, "v1.2.3-rc.1": true, "v2.0.0+incompatible": true, "v1.0.0-0.1": true,
		"v0.0.0-20240102030405-abcdefabcdef": false, "v1.2.4-0.20240102030405-abcdefabcdef": false, "v2.0.1-0.20240102030405-abcdefabcdef+incompatible": false,
		"v1.2.4-rc.0.20240102030405-abcdefabcdef": false, "v0.0.0-20240102030405-ABCDEF": false,
		"abcdefabcdef": false, "main": false, "latest": false, "upgrade": false, "v1": false, "v1.2": false, "v01.2.3": false, "v1.2.3+meta": false, "": false,
	} {
		if got := (With{Path: "example.com/m", Version: version}).IsTag(); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}
