package build

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// makeTwin makes a repository with a contender that requires a module, and a second
// contender that is another build of the first.
func makeTwin(t *testing.T) (root string, first, second Leaf) {
	t.Helper()
	root = t.TempDir()
	writeFiles(t, root, map[string]string{
		"contenders/server/gin/go.mod":         "module example.com/gin\n\ngo 1.25\n\nrequire (\n\texample.com/fast v1.0.0\n\texample.com/slow v1.0.0\n)\n\nreplace (\n\texample.com/fast => ../../../fast\n\texample.com/slow => ../../../slow\n)\n",
		"contenders/server/gin/main.go":        "package main\n\nfunc main() { encode() }\n",
		"contenders/server/gin/slow.go":        "//go:build !fast\n\npackage main\n\nimport \"example.com/slow\"\n\nfunc encode() { slow.Encode() }\n",
		"contenders/server/gin/fast.go":        "//go:build fast && json\n\npackage main\n\nimport \"example.com/fast\"\n\nfunc encode() { fast.Encode() }\n",
		"contenders/server/gin/contender.json": `{"id":"gin","kind":"server","variants":["new","default"],"apps":["tiny","ingest"],"modules":["example.com/slow"],"symbols":["slow.Encode"]}`,
		"contenders/server/gin-fast/contender.json": `{"id":"gin-fast","kind":"server","source":"../gin","tags":["fast","json"],"apps":["ingest"],"why":"another build",
			"modules":["example.com/fast@v1.0.0"],"symbols":["fast.Encode"],"layers":["one"]}`,
		"slow/go.mod": "module example.com/slow\n", "slow/slow.go": "package slow\n\n//go:noinline\nfunc Encode() { println(1) }\n",
		"fast/go.mod": "module example.com/fast\n", "fast/fast.go": "package fast\n\n//go:noinline\nfunc Encode() { println(2) }\n", "fast/LICENSE": "is MIT",
		"fork/go.mod": "module example.com/fast\n", "fork/fast.go": "package fast\n\n//go:noinline\nfunc Encode() { println(3) }\n", "fork/LICENSE": "is ISC",
	})
	leaf := func(id string) Leaf {
		l, err := ReadLeaf(filepath.Join(root, "contenders", "server", id))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	return root, leaf("gin"), leaf("gin-fast")
}

func TestAnotherBuildOfALeaf(t *testing.T) {
	root, first, second := makeTwin(t)
	if first.Src() != first.Dir || second.Src() != first.Dir || second.Dir == first.Dir {
		t.Errorf("sources %s and %s", first.Src(), second.Src())
	}
	if ok, err := second.Requires("example.com/fast"); !ok || err != nil {
		t.Errorf("requires what its source does: %v %v", ok, err)
	}
	cache := t.TempDir()
	b := &Builder{Cache: cache, Env: append(os.Environ(), "GOPROXY=off"), Licences: spdx}
	one, err := b.Build(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.Build(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	c, d := one.Program("new").Contender, two.Program("").Contender
	if one.Path == two.Path || c.SHA256 == d.SHA256 || two.Cached {
		t.Errorf("%s and %s are one program", one.Path, two.Path)
	}
	if c.ID != "gin-new" || d.ID != "gin-fast" || d.Why != "another build" || !slices.Equal(d.Layers, []string{"one"}) || c.Name != "example.com/slow" || d.Name != "example.com/fast" {
		t.Errorf("contenders %+v and %+v", c, d)
	}
	if slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(f, "-tags") }) || !slices.Contains(d.Flags, "-tags=fast,json") {
		t.Errorf("flags %q and %q", c.Flags, d.Flags)
	}
	if len(c.Identity.MissingSymbols) != 0 || len(d.Identity.MissingSymbols) != 0 || len(d.Modules) != 1 || !slices.Equal(d.Adoption.Licences, []string{"MIT"}) {
		t.Errorf("identity %+v and %+v, modules %+v, adoption %+v", c.Identity, d.Identity, d.Modules, d.Adoption)
	}
	again := &Builder{Cache: cache, tool: b.tool, Log: func(line string) { t.Errorf("ran %s", line) }}
	if hit, err := again.Build(t.Context(), second); err != nil || !hit.Cached || hit.Path != two.Path {
		t.Errorf("second time: %v, %+v", err, hit)
	}

	writeFiles(t, root, map[string]string{"contenders/server/gin/fast.go": "//go:build fast\n\npackage main\n\nfunc encode() { nothing() }\n"})
	if _, err := b.Build(t.Context(), second); err == nil || err.Error() != "fast.go:5:17: undefined: nothing" {
		t.Errorf("what does not compile: %v", err)
	}
	wantNoLeftovers(t, cache)
}

func TestPinsOfAnotherBuild(t *testing.T) {
	root, first, second := makeTwin(t)
	before := readFiles(t, root)
	b := &Builder{Cache: t.TempDir(), Env: append(os.Environ(), "GOPROXY=off"), Licences: spdx}
	pin := Pin{With: []With{{Path: "example.com/fast", Dir: filepath.Join(root, "fork")}}}
	made, err := b.Prepare(t.Context(), second, pin)
	if err != nil {
		t.Fatal(err)
	}
	if made.Src() != made.Dir || !slices.Equal(made.Manifest.Modules, []string{"example.com/fast"}) || !slices.Equal(made.Manifest.Tags, second.Manifest.Tags) {
		t.Errorf("prepared %+v", made)
	}
	built, err := b.Build(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	c := built.Program("").Contender
	if c.ID != "gin-fast" || len(c.Modules) != 1 || !strings.HasSuffix(c.Modules[0].Replace, "fork") || !slices.Equal(c.Adoption.Licences, []string{"ISC"}) || len(c.Identity.MissingSymbols) != 0 {
		t.Errorf("contender %+v", c)
	}
	plain, err := b.Prepare(t.Context(), first, pin)
	if err != nil || plain.Dir == made.Dir {
		t.Errorf("the source itself: %v, at %s, its other build at %s", err, plain.Dir, made.Dir)
	}
	if again, err := b.Prepare(t.Context(), second, pin); err != nil || again.Dir != made.Dir {
		t.Errorf("again: %v, at %s", err, again.Dir)
	}
	if after := readFiles(t, root); len(after) != len(before) {
		t.Error("something was written into the repository")
	}
	manifest := filepath.Join(second.Dir, ManifestName)
	writeFiles(t, second.Dir, map[string]string{ManifestName: strings.Replace(readFiles(t, second.Dir)[ManifestName], "another build", "a third", 1)})
	changed, err := ReadLeaf(filepath.Dir(manifest))
	if err != nil {
		t.Fatal(err)
	}
	if other, err := b.Prepare(t.Context(), changed, pin); err != nil || other.Dir == made.Dir {
		t.Errorf("another manifest: %v, at %s", err, other.Dir)
	}
}

// Every go command that looks at packages is told the tags: they decide which
// there are.
func TestTagsReachTheGoCommand(t *testing.T) {
	_, _, second := makeTwin(t)
	real, err := (&Builder{Cache: t.TempDir(), Env: append(os.Environ(), "GOPROXY=off")}).Build(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	p := &played{made: real.Path, says: map[string]string{"list -tags=fast,json -mod=readonly -deps": "errors\n"}}
	b := p.builder(t, t.TempDir())
	if _, err := b.Build(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Prepare(t.Context(), second, Pin{Go: runtime.Version()}); err != nil {
		t.Fatal(err)
	}
	tagged := 0
	for _, line := range p.asked(t) {
		if strings.Contains(line, "-tags=fast,json ") {
			tagged++
			continue
		}
		if !strings.Contains(line, " mod edit ") && !strings.Contains(line, " list -mod=readonly -m ") {
			t.Errorf("asked without the tags: %s", line)
		}
	}
	if tagged != 2 {
		t.Errorf("asked %d times with the tags:\n%s", tagged, strings.Join(p.asked(t), "\n"))
	}
}

func TestKeyOfAnotherBuild(t *testing.T) {
	root, first, second := makeTwin(t)
	tool := toolchain{env: map[string]string{"GOVERSION": "go1.25.0"}}
	at := func(leaf Leaf) string {
		t.Helper()
		mod, err := readModule(leaf.Src())
		if err != nil {
			t.Fatal(err)
		}
		k, err := buildKey(tool, leaf, mod)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	before := at(second)
	third := second
	third.Manifest.Tags = []string{"fast"}
	if before == at(first) || before == at(third) || before != at(second) {
		t.Error("the key is not that of sources and tags")
	}
	for _, file := range []string{"contenders/server/gin/slow.go", "contenders/server/gin/go.mod", "fast/fast.go", "contenders/server/gin-fast/contender.json"} {
		old := readFiles(t, root)[file]
		writeFiles(t, root, map[string]string{file: old + "\n"})
		if at(second) == before {
			t.Errorf("changing %s leaves the key", file)
		}
		writeFiles(t, root, map[string]string{file: old})
	}
	writeFiles(t, root, map[string]string{"contenders/server/gin-fast/README.md": "words\n"})
	if at(second) != before {
		t.Error("a file that nothing reads changes the key")
	}
}

func TestSourceThroughALink(t *testing.T) {
	root, first, _ := makeTwin(t)
	link := filepath.Join(root, "contenders", "server", "gin-link")
	if err := os.Symlink(filepath.Join(root, "contenders", "server", "gin-fast"), link); err != nil {
		t.Skip(err)
	}
	leaf, err := ReadLeaf(link)
	if err != nil || leaf.Src() != first.Dir {
		t.Errorf("%v: built from %s", err, leaf.Src())
	}
}

func TestSourcesThatMakeNoSense(t *testing.T) {
	root, _, _ := makeTwin(t)
	server := filepath.Join(root, "contenders", "server")
	writeFiles(t, root, map[string]string{
		"contenders/server/chained/contender.json": `{"id":"chained","kind":"server","source":"../gin-fast"}`,
		"contenders/server/itself/contender.json":  `{"id":"itself","kind":"server","source":"../itself"}`,
		"contenders/server/nobody/contender.json":  `{"id":"nobody","kind":"server","source":"../nothing"}`,
		"contenders/server/broken/contender.json":  `{"id":"broken","kind":"server","source":"../bad"}`,
		"contenders/server/bad/contender.json":     "{\"id\":\"bad\",\n\"oops\":1}",
		"contenders/server/router/contender.json":  `{"id":"router","kind":"router","source":"../gin"}`,
		"contenders/server/both/contender.json":    `{"id":"both","kind":"server","source":"../gin"}`,
		"contenders/server/both/main.go":           "package main\n",
		"contenders/server/module/contender.json":  `{"id":"module","kind":"server","source":"../gin"}`,
		"contenders/server/module/go.mod":          "module x\n",
	})
	for id, want := range map[string]string{
		"chained": "contender.json: source ../gin-fast has a source itself, ../gin; name that",
		"itself":  "contender.json: source ../itself has a source itself, ../itself; name that",
		"nobody":  "contender.json: source ../nothing is no contender: it has no contender.json",
		"broken":  `contender.json: source ../bad/contender.json:2:9: unknown field "oops"`,
		"router":  "contender.json: source ../gin is a server, this is to be a router",
		"both":    "contender.json: it has a source and a main.go of its own; one of them must go",
		"module":  "contender.json: it has a source and a go.mod of its own; one of them must go",
	} {
		_, err := ReadLeaf(filepath.Join(server, id))
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v\nwant one line that ends with %s", id, err, want)
		}
	}
	for _, source := range []string{"gin", "./gin", "../../codec/gin", "..", "../..", "../.hidden", "../gin/", "/gin", `..\\gin`, "../gin/..", "."} {
		_, err := parseManifest([]byte(`{"id":"x","kind":"server","source":"` + source + `"}`))
		if err == nil || !strings.Contains(err.Error(), "is not the folder of a contender next to this one") || strings.Contains(err.Error(), "\n") {
			t.Errorf("source %s: %v", source, err)
		}
	}
	for manifest, want := range map[string]string{
		`"tags":[""]`:                    `: tag "" is no word`,
		`"tags":["a,b"]`:                 `: tag "a,b" is no word`,
		`"tags":["!a"]`:                  `: tag "!a" is no word`,
		`"tags":["-race"]`:               `: tag "-race" is no word`,
		`"tags":["a b"]`:                 `: tag "a b" is no word`,
		`"tags":["a\n"]`:                 `: tag "a\n" is no word`,
		`"tags":["a","a"]`:               `: tag "a" is listed twice`,
		`"tags":"a"`:                     "tags is a string",
		`"apps":["tiny","tiny"]`:         `: app "tiny" is listed twice`,
		`"apps":[""]`:                    `: app "" is listed twice, or without a name`,
		`"source":["../gin"],"tags":[1]`: "source is a array",

		`"protocols":["http","http"]`:                         `: protocol "http" is listed twice`,
		`"variants":["a"],"variant_protocols":{"b":["grpc"]}`: `: variant_protocols of "b", which is not one of its variants`,
		`"variants":["a"],"variant_protocols":{"a":[]}`:       `: variant_protocols of a is empty`,
	} {
		_, err := parseManifest([]byte(`{"id":"x","kind":"server",` + manifest + `}`))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", manifest, err, want)
		}
	}
}

// A leaf with code of its own may have tags too.
func TestTagsOfALeafsOwn(t *testing.T) {
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec","tags":["evil"]}`, tinyMain)
	_, err := (&Builder{Cache: t.TempDir()}).Build(t.Context(), leaf)
	if err == nil || err.Error() != "evil.go:5:9: undefined: thisDoesNotCompile" {
		t.Errorf("error %v", err)
	}
}
