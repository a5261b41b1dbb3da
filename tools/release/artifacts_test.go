package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// small returns files of a package.
func small() []file {
	return []file{{"usr/bin/tare", 0o755, []byte("#!/bin/sh\necho tare\n")}, {"usr/share/doc/tare/LICENSE", 0o644, []byte("odd")}}
}

// TestDeb has dpkg-deb read and unpack a package.
func TestDeb(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb")
	}
	when := time.Unix(1_700_000_000, 0)
	deb, err := packDeb("0.1.0", "amd64", small(), when)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := packDeb("0.1.0", "amd64", small(), when); err != nil || !bytes.Equal(again, deb) {
		t.Errorf("the same files make another package: %v", err)
	}
	dir := t.TempDir()
	path, into := filepath.Join(dir, "tare.deb"), filepath.Join(dir, "root")
	if err := os.WriteFile(path, deb, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"0.1.0", []string{"--field", path, "Version"}},
		{"./usr/share/doc/tare/LICENSE", []string{"--contents", path}},
		{"drwxr-xr-x root/root", []string{"--contents", path}},
		{"", []string{"--extract", path, into}},
	} {
		if out, err := exec.Command("dpkg-deb", c.args...).CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("dpkg-deb %v: %v, %s", c.args, err, out)
		}
	}
	if out, err := exec.Command(filepath.Join(into, "usr", "bin", "tare")).Output(); err != nil || string(out) != "tare\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestImage reads an image back, by its digests, and refuses one that was changed.
func TestImage(t *testing.T) {
	dir, tare := t.TempDir(), filepath.Join(t.TempDir(), "tare")
	if err := writeImage(dir, "v0.1.0", "amd64", small(), time.Unix(1_700_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	layer, err := readImage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := extractFile(layer, "usr/bin/tare", tare); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(tare); err != nil || !bytes.Equal(text, small()[0].text) {
		t.Errorf("%q, %v", text, err)
	}
	if err := extractFile(layer, "usr/bin/other", tare); err == nil {
		t.Error("a file that is not there was found")
	}
	blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
	if err != nil || len(blobs) != 3 {
		t.Fatalf("%d blobs, %v", len(blobs), err)
	}
	for _, blob := range blobs {
		text, err := os.ReadFile(blob)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("diff_ids")) {
			continue // the configuration is not read
		}
		if err := os.WriteFile(blob, append(text, ' '), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readImage(dir); err == nil || !strings.Contains(err.Error(), "has another digest") {
			t.Errorf("a changed blob was read: %v", err)
		}
		if err := os.WriteFile(blob, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSums has sha256sum check the checksums.
func TestSums(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("no sha256sum")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.deb": "a", "image/index.json": "{}"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time the file is there
		if err := writeSums(dir); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sha256sum", "--check", "checksums.txt")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "OK") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}
