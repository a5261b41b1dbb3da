package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// NOTICE names what is linked today.
func TestNoticeIsUpToDate(t *testing.T) {
	got, err := buildNotice("../../cmd/tare")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	// The standard library's licence is that of the Go at hand.
	if g, w := modules(got), modules(want); g != w {
		t.Errorf("NOTICE is not what is linked; make notice writes it.\nis:\n%s\nwould be:\n%s", w, g)
	}
	if !bytes.Contains(got, []byte("The Go standard library: LICENSE")) {
		t.Error("the standard library is missing")
	}
}

// modules are the lines that name a module and a file.
func modules(text []byte) string {
	var names []string
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if i > 0 && lines[i-1] == strings.Repeat("=", 80) {
			names = append(names, line)
		}
	}
	return strings.Join(names, "\n")
}

func TestAModuleWithoutALicenceIsRefused(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := addLicence(&b, "example.com/m v1.0.0", dir); err == nil {
		t.Error("no file at all was accepted")
	}
	if err := os.WriteFile(filepath.Join(dir, "license.go"), []byte("package m"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "NOTICE"), []byte("by us"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := addLicence(&b, "example.com/m v1.0.0", dir); err == nil {
		t.Error("a NOTICE and a source alone were accepted")
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE.md"), []byte("MIT\r\nfree"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := addLicence(&b, "example.com/m v1.0.0", dir); err != nil || !strings.Contains(b.String(), "example.com/m v1.0.0: LICENSE.md\n\nMIT\nfree\n") {
		t.Errorf("%v: %q", err, b.String())
	}
}
