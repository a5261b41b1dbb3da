package cgoflags

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"":                  nil,
		"  gcc\t-m64 \n":    {"gcc", "-m64"},
		`"/a dir/gcc" -m32`: {"/a dir/gcc", "-m32"},
		`'-DX="y"' -DZ='1'`: {`-DX="y"`, "-DZ='1'"},
		`-I/a\ b`:           {`-I/a\`, "b"},
	} {
		if got, err := Split(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := Split("gcc 'open"); err == nil || !strings.Contains(err.Error(), "not closed") {
		t.Error(err)
	}
}

func TestUnescaped(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                     nil,
		"-I/usr/include/a -DB \n":              {"-I/usr/include/a", "-DB"},
		`-I/opt/my\ lib "-DA=\"b c\"" '-Dd\e'`: {"-I/opt/my lib", `-DA="b c"`, `-Dd\e`},
		`-DA=""`:                               {"-DA="},
		`"a\nb"`:                               {`a\nb`},
	} {
		if got, err := splitEscaped(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`-I"open`, `-I\`} {
		if _, err := splitEscaped(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestContext(t *testing.T) {
	for text, want := range map[string]string{
		"":                              runtime.GOOS + " " + runtime.GOARCH + " []",
		"cgo && sqlite":                 runtime.GOOS + " " + runtime.GOARCH + " [cgo sqlite]",
		"plan9 && mips && !x":           "plan9 mips []",
		"unix && (plan9 || windows)":    runtime.GOOS + " " + runtime.GOARCH + " [unix plan9 windows]",
		"linux && arm64 && one && !386": "linux arm64 [one]",
	} {
		c := Context(text)
		if got := fmt.Sprint(c.GOOS, " ", c.GOARCH, " ", c.BuildTags); got != want || !c.CgoEnabled {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestRead checks that Read returns all flags that the go command gives a compiler, with paths relative to
// the package.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "pkg")
	for name, text := range map[string]string{
		"a.go": "package a\n\n// #cgo CPPFLAGS: -DA\n// #cgo CFLAGS: -Iinclude -I${SRCDIR}/own -isystem sys -DB -include c.h -include found.h\n// #cgo CXXFLAGS: -Icxx\n// #cgo pkg-config: lib --static\nimport \"C\"\n",
		"b.go": "package a\n\n// #cgo CFLAGS: -DNO\nimport \"C\"\n",
		"c.h":  "",
		"pkg":  "#!/bin/sh\necho \"-DP=$#,$1,$2,$3,$4\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PKG_CONFIG", program)
	t.Setenv("CGO_CPPFLAGS", "-DENV")
	t.Setenv("CGO_CFLAGS", "'-DC=a b'")
	t.Setenv("CGO_CXXFLAGS", "-DXX")
	leave := func(name string) bool { return name == "b.go" }
	got, err := Read(context.Background(), dir, "", leave)
	want := []string{"-DA", "-I" + filepath.Join(dir, "include"), "-I" + filepath.Join(dir, "own"), "-isystem", filepath.Join(dir, "sys"), "-DB", "-include", filepath.Join(dir, "c.h"), "-include", "found.h", "-DP=4,--cflags,--static,--,lib", "-DENV", "-DC=a b"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	got, err = ReadCXX(context.Background(), dir, "", leave)
	if err != nil || !slices.Contains(got, "-I"+filepath.Join(dir, "cxx")) || !slices.Contains(got, "-DXX") || slices.Contains(got, "-DB") {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv("CGO_CFLAGS", "'-DC")
	if _, err := Read(context.Background(), dir, "", leave); err == nil || !strings.Contains(err.Error(), "CGO_CFLAGS: ") {
		t.Error(err)
	}
}
